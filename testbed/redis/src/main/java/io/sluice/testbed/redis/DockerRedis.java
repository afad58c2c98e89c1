package io.sluice.testbed.redis;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse.ContainerState;
import io.lettuce.core.RedisException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.dockerclient.DockerClientConfigUtils;
import org.testcontainers.images.PullPolicy;
import org.testcontainers.utility.DockerImageName;
import org.testcontainers.utility.MountableFile;

/**
 * A Redis in a container, by Testcontainers. The ports are chosen here, because Docker gives a container others each time
 * it starts; they are open to this host only.
 */
final class DockerRedis implements RedisServer {
    static final String DEFAULT_IMAGE = "redis:7-bookworm";

    private static final int READABLE = 0755;

    private static final Duration START = Duration.ofSeconds(30);
    private static final Duration RESTART = Duration.ofSeconds(30);
    private static final int REDIS_PORT = 6379;
    private static final int TLS_PORT = 6380;
    private static final String TLS_DIRECTORY = "/tls";
    private static final String HOST = "127.0.0.1";

    /**
     * Whether containers share this host's network, which Linux alone has: {@code SLUICE_REDIS_NETWORK=host}. Nothing stands
     * between a test and its Redis then; Docker's own proxy of ports loses a connection now and then.
     */
    private static final boolean HOST_NETWORK = "host".equals(System.getenv("SLUICE_REDIS_NETWORK"));

    /** Why this JVM tries no more containers; each that does not come up costs half a minute. */
    private static volatile @Nullable String givenUp;

    private final GenericContainer<?> container;
    private final int port;
    private final OptionalInt tlsPort;
    private final Optional<String> password;
    private final String version;

    private DockerRedis(GenericContainer<?> container, int port, OptionalInt tlsPort, Optional<String> password) {
        this.container = container;
        this.port = port;
        this.tlsPort = tlsPort;
        this.password = password;
        awaitAnswer();
        this.version = ExistingRedis.version(uri());
    }

    /**
     * Why there will be no container; empty where there is one. What is sure to fail is seen before Testcontainers is
     * asked: without an engine it fills the log, and an image that cannot be pulled costs it minutes.
     *
     * @param pull whether an image that is not here may be pulled
     */
    static Optional<String> missing(String image, boolean pull) {
        if (givenUp != null) {
            return Optional.ofNullable(givenUp);
        }
        Map<String, String> environment = System.getenv();
        if (!isNamed(environment)) {
            return Optional.of("no Docker engine");
        }
        if (!pull && !Boolean.parseBoolean(environment.get("TESTCONTAINERS_RYUK_DISABLED"))) {
            return Optional.of(
                    "TESTCONTAINERS_RYUK_DISABLED is not true, so Testcontainers would pull an image of its own");
        }
        if (DockerClientConfigUtils.IN_A_CONTAINER && !environment.containsKey("TESTCONTAINERS_HOST_OVERRIDE")) {
            return Optional.of(
                    "TESTCONTAINERS_HOST_OVERRIDE is not set, as to 127.0.0.1, which is needed in a container");
        }
        DockerClientFactory testcontainers = DockerClientFactory.instance();
        if (!testcontainers.isDockerAvailable()) {
            return Optional.of("no Docker engine answers");
        }
        boolean here = !testcontainers
                .client()
                .listImagesCmd()
                .withReferenceFilter(image)
                .exec()
                .isEmpty();
        return here || pull ? Optional.empty() : Optional.of("the Docker engine has no image " + image);
    }

    /** There will be no more containers in this JVM. */
    static void giveUp(String reason) {
        givenUp = reason;
    }

    private static boolean isNamed(Map<String, String> environment) {
        String runtime = environment.getOrDefault("XDG_RUNTIME_DIR", "/var/run");
        String home = System.getProperty("user.home");
        return environment.containsKey("DOCKER_HOST")
                || Stream.of("/var/run", runtime, home + "/.docker/run")
                        .anyMatch(directory -> Files.exists(Path.of(directory, "docker.sock")));
    }

    /**
     * A new container.
     *
     * @throws IllegalStateException it did not come up
     */
    // Closing the container is up to whoever closes this.
    @SuppressWarnings("resource")
    static DockerRedis start(String image, RedisOptions options, boolean pull) {
        int port = Ports.free();
        List<String> bindings = new ArrayList<>(List.of(binding(port, REDIS_PORT)));
        List<String> command = new ArrayList<>(
                HOST_NETWORK
                        ? List.of("redis-server", "--port", Integer.toString(port), "--bind", HOST)
                        // From inside the container we are no local client.
                        : List.of("redis-server", "--protected-mode", "no"));
        command.addAll(options.commandLine("yes"));
        GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(image))
                .withImagePullPolicy(pull ? PullPolicy.defaultPolicy() : name -> false)
                .waitingFor(Wait.forLogMessage(".*Ready to accept connections.*", 1))
                .withStartupTimeout(START);
        OptionalInt tlsPort = OptionalInt.empty();
        Certificates certificates = options.certificates();
        if (certificates != null) {
            tlsPort = OptionalInt.of(Ports.free());
            bindings.add(binding(tlsPort.getAsInt(), TLS_PORT));
            command.addAll(Certificates.arguments(HOST_NETWORK ? tlsPort.getAsInt() : TLS_PORT, TLS_DIRECTORY));
            container.withCopyFileToContainer(
                    MountableFile.forHostPath(certificates.directory(), READABLE), TLS_DIRECTORY);
        }
        container.withCommand(command.toArray(String[]::new));
        if (HOST_NETWORK) {
            container.withNetworkMode("host");
        } else {
            container.setPortBindings(bindings);
        }
        try {
            container.start();
            return new DockerRedis(container, port, tlsPort, options.password());
        } catch (RuntimeException e) {
            container.stop();
            throw new IllegalStateException("Redis from Docker image " + image + " did not start", e);
        }
    }

    private static String binding(int port, int inside) {
        return HOST + ":" + port + ":" + inside;
    }

    @Override
    public String address() {
        return HOST;
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public OptionalInt tlsPort() {
        return tlsPort;
    }

    @Override
    public Optional<String> password() {
        return password;
    }

    @Override
    public OptionalLong pid() {
        return OptionalLong.empty();
    }

    @Override
    public Backend backend() {
        return Backend.DOCKER;
    }

    @Override
    public String version() {
        return version;
    }

    @Override
    public boolean running() {
        return Boolean.TRUE.equals(state().getRunning());
    }

    @Override
    public void pause() {
        client().pauseContainerCmd(container.getContainerId()).exec();
    }

    @Override
    public void resume() {
        if (Boolean.TRUE.equals(state().getPaused())) {
            client().unpauseContainerCmd(container.getContainerId()).exec();
        }
    }

    @Override
    public void kill() {
        if (running()) {
            client().killContainerCmd(container.getContainerId()).exec();
        }
    }

    @Override
    public void restart() {
        resume();
        client().restartContainerCmd(container.getContainerId()).exec();
        awaitAnswer();
    }

    @Override
    public void restartEmpty() {
        container.stop();
        container.start(); // another container, from the same image and with the same ports
        awaitAnswer();
    }

    @Override
    public void close() {
        container.stop();
    }

    private DockerClient client() {
        return container.getDockerClient();
    }

    private ContainerState state() {
        return client().inspectContainerCmd(container.getContainerId()).exec().getState();
    }

    private void awaitAnswer() {
        Await.until(
                RESTART,
                this::answers,
                () -> "an answer from Docker's Redis on port " + port + "; its log is\n" + container.getLogs());
    }

    private boolean answers() {
        try {
            return command("PING").equals("PONG");
        } catch (RedisException notYet) {
            return false;
        }
    }
}
