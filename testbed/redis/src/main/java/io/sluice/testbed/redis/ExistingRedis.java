package io.sluice.testbed.redis;

import io.lettuce.core.RedisURI;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server that was here before us and has other users: talked to, never stopped, paused or emptied. */
final class ExistingRedis implements RedisServer {
    private static final Pattern VERSION = Pattern.compile("(?:valkey|redis)_version:([0-9.]+)");

    private final String uri;
    private final String version;

    /** Asks it for its version, so that a wrong address is found here. */
    ExistingRedis(String uri) {
        this.uri = uri;
        this.version = version(uri);
    }

    static String version(String uri) {
        Matcher found = VERSION.matcher(Commands.run(uri, "INFO", "server"));
        return found.find() ? found.group(1) : "unknown";
    }

    @Override
    public String uri() {
        return uri;
    }

    @Override
    public String address() {
        return RedisURI.create(uri).getHost();
    }

    @Override
    public int port() {
        return RedisURI.create(uri).getPort();
    }

    @Override
    public OptionalInt tlsPort() {
        return OptionalInt.empty();
    }

    /** Whatever it is, it is in the address. */
    @Override
    public Optional<String> password() {
        return Optional.empty();
    }

    @Override
    public OptionalLong pid() {
        return OptionalLong.empty();
    }

    @Override
    public Backend backend() {
        return Backend.EXISTING;
    }

    @Override
    public String version() {
        return version;
    }

    @Override
    public boolean running() {
        return true;
    }

    @Override
    public void pause() {
        throw notOurs("pause");
    }

    @Override
    public void resume() {
        throw notOurs("resume");
    }

    @Override
    public void kill() {
        throw notOurs("kill");
    }

    @Override
    public void restart() {
        throw notOurs("restart");
    }

    @Override
    public void restartEmpty() {
        throw notOurs("restart");
    }

    @Override
    public void close() {
        // Not ours to end, and no connection is kept.
    }

    private static UnsupportedOperationException notOurs(String what) {
        return new UnsupportedOperationException(
                "SLUICE_REDIS names a server that others use: there is no " + what + " for it");
    }
}
