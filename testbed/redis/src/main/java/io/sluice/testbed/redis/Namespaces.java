package io.sluice.testbed.redis;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Hosts of our own on this machine: Linux network namespaces with an address each, on one switch (a bridge in a namespace
 * more), to which this JVM is connected as well. Any of them can be cut off from the rest: its packets are lost, and
 * nobody is told.
 *
 * <p>Needs root, Linux and {@code ip}. Nothing of it is left once closed, also when this JVM is killed. The addresses are
 * of 198.18.0.0/15, which is reserved for such tests.
 */
public final class Namespaces implements AutoCloseable {
    private static final long TIMEOUT_S = 10;
    private static final int MOST = 100;

    private final Path directory;
    private final String name;
    private final String net;
    private final List<Host> hosts;

    private Namespaces(int count) {
        if (count < 1 || count > MOST) {
            throw new IllegalArgumentException("hosts must be 1 to " + MOST + ", got " + count);
        }
        directory = Scratch.directory("hosts-");
        int random = ThreadLocalRandom.current().nextInt(1 << 16);
        // Names of network devices have 15 characters at most.
        name = "sl" + Integer.toHexString(0x10000 | random).substring(1);
        net = "198." + (18 + (random >> 15)) + "." + (random >> 7 & 0xff) + ".";
        hosts = IntStream.rangeClosed(1, count).mapToObj(Host::new).toList();
    }

    /**
     * So many hosts, connected.
     *
     * @throws IllegalStateException there can be none here, or it failed; the message says why
     */
    public static Namespaces start(int count) {
        missing().ifPresent(reason -> {
            throw new IllegalStateException("no hosts of our own: " + reason);
        });
        Namespaces made = new Namespaces(count);
        try {
            made.connect();
            return made;
        } catch (RuntimeException e) {
            made.close();
            throw e;
        }
    }

    /** Why there can be no such hosts here; empty where there can. It tries, once a JVM. */
    public static Optional<String> missing() {
        return Tried.MISSING;
    }

    /** At first use. */
    private static final class Tried {
        static final Optional<String> MISSING = tried();
    }

    private static Optional<String> tried() {
        if (!new File("/proc/self/ns/net").exists()) {
            return Optional.of("this is no Linux");
        }
        String probe = "slprobe" + ProcessHandle.current().pid();
        try {
            // A veth pair too: some machines give a namespace and nothing to put into it.
            sh("ip netns add " + probe + " && ip link add name eth0 netns " + probe
                    + " type veth peer name eth1 netns " + probe + " && nsenter --net=/run/netns/" + probe
                    + " true; r=$?; ip netns del "
                    + probe + "; exit $r");
            return Optional.empty();
        } catch (IllegalStateException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    private void connect() {
        List<String> undo = new ArrayList<>();
        Stream.concat(hosts.stream().map(host -> host.namespace), Stream.of(name))
                .forEach(namespace -> undo.add("ip netns del " + namespace + " 2>/dev/null"));
        undo.add("ip link del " + name + " 2>/dev/null");
        undo.add("true");
        try {
            Files.write(directory.resolve(Scratch.UNDO_FILE), undo);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        List<String> commands = new ArrayList<>(List.of(
                "set -e",
                "ip netns add " + name,
                "ip -n " + name + " link add name br0 type bridge",
                "ip -n " + name + " link set br0 up",
                // Our own end, with the address that the hosts see us at.
                "ip link add name " + name + " type veth peer name p0 netns " + name,
                "ip -n " + name + " link set p0 master br0",
                "ip -n " + name + " link set p0 up",
                "ip addr add " + net + "254/24 dev " + name,
                "ip link set " + name + " up"));
        for (Host host : hosts) {
            commands.addAll(List.of(
                    "ip netns add " + host.namespace,
                    "ip -n " + host.namespace + " link add name eth0 type veth peer name " + host.port + " netns "
                            + name,
                    "ip -n " + name + " link set " + host.port + " master br0",
                    "ip -n " + name + " link set " + host.port + " up",
                    "ip -n " + host.namespace + " addr add " + host.address() + "/24 dev eth0",
                    "ip -n " + host.namespace + " link set eth0 up",
                    "ip -n " + host.namespace + " link set lo up"));
        }
        sh(String.join("\n", commands));
    }

    /** The hosts, in the order of their addresses. */
    public List<Host> hosts() {
        return hosts;
    }

    /** Ends every process and host. May be called more than once. */
    @Override
    public void close() {
        hosts.forEach(Host::end);
        if (Files.exists(directory)) {
            sh("sh " + directory.resolve(Scratch.UNDO_FILE));
            Scratch.delete(directory);
        }
    }

    /** One of them. */
    public final class Host {
        private final String address;
        private final String namespace;
        private final String port;
        private final List<Process> processes = new ArrayList<>();
        private final List<RedisServer> servers = new ArrayList<>();

        private Host(int number) {
            address = net + number;
            namespace = name + "h" + number;
            port = "p" + number;
        }

        /** Where the others find it. */
        public String address() {
            return address;
        }

        /** A command that runs on this host what is given. */
        public List<String> command(List<String> words) {
            return place().command(words);
        }

        /** Runs a process on this host, which ends with it at the latest. */
        public synchronized Process start(ProcessBuilder builder) throws IOException {
            Process process = builder.command(command(builder.command())).start();
            Files.writeString(directory.resolve(Scratch.PID_FILE + "-" + process.pid()), String.valueOf(process.pid()));
            processes.add(process);
            return process;
        }

        /** Runs a Redis on this host, which others and this JVM reach at its address. */
        public synchronized RedisServer redis(RedisOptions options) {
            RedisServer server =
                    RedisProcess.start(RedisSource.fromEnvironment().binary(), place(), options);
            servers.add(server);
            return server;
        }

        Place place() {
            return new Place(address, List.of("nsenter", "--net=/run/netns/" + namespace));
        }

        /** Cuts it off from all others, both ways. What is sent is lost; connections stand until somebody gives up. */
        public void cutOff() {
            sh("ip -n " + name + " link set " + port + " nomaster");
        }

        /** Connects it again. */
        public void heal() {
            sh("ip -n " + name + " link set " + port + " master br0");
        }

        private synchronized void end() {
            servers.forEach(RedisServer::close);
            processes.forEach(Namespaces::end);
        }
    }

    private static void end(Process process) {
        process.destroyForcibly();
        try {
            process.waitFor(TIMEOUT_S, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void sh(String script) {
        try {
            Process shell = new ProcessBuilder("sh", "-c", script)
                    .redirectErrorStream(true)
                    .start();
            String said = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            if (!shell.waitFor(TIMEOUT_S, TimeUnit.SECONDS) || shell.exitValue() != 0) {
                throw new IllegalStateException(said.isEmpty() ? "exit status " + shell.exitValue() : said);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }
}
