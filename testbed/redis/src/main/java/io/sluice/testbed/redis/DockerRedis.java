package io.sluice.testbed.redis;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse.ContainerState;
import io.lettuce.core.RedisException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.dockerclient.DockerClientConfigUtils;
import org.testcontainers.images.PullPolicy;
import org.testcontainers.utility.DockerImageName;

/**
 * A Redis in a container. The host's port is chosen here, because Docker gives a container another one each time it
 * starts.
 */
final class DockerRedis implements RedisServer {
    static final String DEFAULT_IMAGE = "redis:7-bookworm";

    private static final Duration START = Duration.ofSeconds(30);
    private static final Duration RESTART = Duration.ofSeconds(10);
    private static final int REDIS_PORT = 6379;

    private final GenericContainer<?> container;
    private final int port;
    private final String host;
    private final String version;

    private DockerRedis(GenericContainer<?> container, int port) {
        this.container = container;
        this.port = port;
        this.host = awaitAnswer(List.of("127.0.0.1", container.getHost()));
        this.version = ExistingRedis.version(uri());
    }

    /**
     * Why there will be no container; empty where there is one.
     *
     * @param pull whether an image that is not here may be pulled, which takes minutes where it fails
     */
    static Optional<String> missing(String image, boolean pull) {
        Map<String, String> environment = System.getenv();
        Optional<DockerEngine> engine = DockerEngine.find(environment);
        if (engine.isEmpty()) {
            return Optional.of("no Docker engine answers");
        }
        if (pull) {
            return Optional.empty();
        }
        return needed(image, environment).entrySet().stream()
                .filter(needed -> !engine.get().has(needed.getKey()))
                .map(needed -> "the Docker engine has no image " + needed.getKey() + needed.getValue())
                .findFirst();
    }

    /**
     * The images and why they are needed. Besides ours, Testcontainers starts one that cleans up, and inside a container
     * one that finds out the engine's address. It reads from the environment only that it should not.
     */
    private static Map<String, String> needed(String image, Map<String, String> environment) {
        Map<String, String> needed = new LinkedHashMap<>();
        needed.put(image, "");
        if (!Boolean.parseBoolean(environment.get("TESTCONTAINERS_RYUK_DISABLED"))) {
            needed.put("testcontainers/ryuk", ", which is needed unless TESTCONTAINERS_RYUK_DISABLED=true");
        }
        if (DockerClientConfigUtils.IN_A_CONTAINER && !environment.containsKey("TESTCONTAINERS_HOST_OVERRIDE")) {
            needed.put("alpine", ", which is needed unless TESTCONTAINERS_HOST_OVERRIDE is set, as to 127.0.0.1");
        }
        return needed;
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
        List<String> command = new ArrayList<>(List.of("redis-server", "--protected-mode", "no"));
        command.addAll(options.commandLine());
        GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(image))
                .withImagePullPolicy(pull ? PullPolicy.defaultPolicy() : name -> false)
                .withCommand(command.toArray(String[]::new))
                .withExposedPorts(REDIS_PORT)
                .waitingFor(Wait.forLogMessage(".*Ready to accept connections.*", 1))
                .withStartupTimeout(START);
        container.setPortBindings(List.of("127.0.0.1:" + port + ":" + REDIS_PORT));
        try {
            container.start();
            return new DockerRedis(container, port);
        } catch (RuntimeException e) {
            container.stop();
            throw new IllegalStateException("Redis from Docker image " + image + " did not start", e);
        }
    }

    @Override
    public String uri() {
        return uri(host);
    }

    private String uri(String at) {
        return "redis://" + at + ":" + port;
    }

    @Override
    public int port() {
        return port;
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
        awaitAnswer(List.of(host));
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

    /** The first of the hosts at which it answers: inside a container 127.0.0.1 is not the engine's host. */
    private String awaitAnswer(List<String> hosts) {
        Await.until(
                RESTART,
                () -> hosts.stream().anyMatch(this::answers),
                () -> "an answer from Docker's Redis on port " + port + "; its log is\n" + container.getLogs());
        return hosts.stream().filter(this::answers).findFirst().orElseThrow();
    }

    private boolean answers(String at) {
        try {
            return Commands.run(uri(at), "PING").equals("PONG");
        } catch (RedisException notYet) {
            return false;
        }
    }
}
