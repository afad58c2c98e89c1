package io.sluice.testbed.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Seen from the client's end of the cable, without a driver's reconnects and time-outs. */
@WithRedis
@Timeout(30)
class FaultyProxyIT {
    private final RedisServer redis;
    private FaultyProxy cable;

    FaultyProxyIT(RedisServer redis) {
        this.redis = redis;
    }

    @BeforeEach
    void lay() {
        cable = FaultyProxy.to(redis);
        redis.command("DEL", "cable");
    }

    @AfterEach
    void take() {
        cable.close();
    }

    @Test
    void everythingPassesAndConnectionsAreCounted() throws IOException {
        try (Line one = line();
                Line other = line()) {
            assertThat(one.ask("PING")).isEqualTo("+PONG");
            assertThat(other.ask("INCR cable")).isEqualTo(":1");
            assertThat(cable.connections()).isEqualTo(2);
            assertThat(cable.standing()).isEqualTo(2);
        }
        Await.until(Duration.ofSeconds(5), () -> cable.standing() == 0, () -> "the end of both");
        assertThat(cable.uri()).isEqualTo("redis://127.0.0.1:" + cable.port());
        assertThat(Commands.run(cable.uri(), "GET", "cable")).isEqualTo("1");
    }

    @Test
    void delaysEachWay() throws IOException {
        try (Line line = line()) {
            line.ask("PING");
            cable.set(new Fault.Delay(Duration.ofMillis(120), Duration.ofMillis(80)));
            long start = System.nanoTime();
            assertThat(line.ask("PING")).isEqualTo("+PONG");
            assertThat(since(start)).isBetween(Duration.ofMillis(200), Duration.ofSeconds(5));

            // What is sent together is late together, not one after the other.
            long together = System.nanoTime();
            for (int i = 0; i < 20; i++) {
                line.send("PING");
            }
            for (int i = 0; i < 20; i++) {
                assertThat(line.reply()).isEqualTo("+PONG");
            }
            assertThat(since(together)).isBetween(Duration.ofMillis(200), Duration.ofSeconds(5));

            cable.heal();
            assertThat(line.ask("PING")).isEqualTo("+PONG");
        }
    }

    @Test
    void aBlackHoleKeepsWhatWasSentUntilItEnds() throws IOException {
        try (Line line = line()) {
            line.ask("PING");
            cable.set(new Fault.Hold(true, true));
            line.send("INCR cable");
            line.hearsNothing();
            assertThat(redis.command("GET", "cable")).isEmpty();
            try (Line late = line()) {
                late.send("PING");
                late.hearsNothing();
            }

            cable.heal();
            assertThat(line.reply()).isEqualTo(":1");
        }
    }

    @Test
    void redisCanHearAndNotBeHeard() throws IOException {
        try (Line line = line()) {
            line.ask("PING");
            cable.set(new Fault.Hold(false, true));
            line.send("INCR cable");
            Await.until(
                    Duration.ofSeconds(5), () -> redis.command("GET", "cable").equals("1"), () -> "the request");
            line.hearsNothing();

            cable.cut();
            cable.heal();
            assertThatThrownBy(line::reply)
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(SocketTimeoutException.class);
        }
        assertThat(redis.command("GET", "cable")).isEqualTo("1");
    }

    @Test
    void refusesNewConnections() throws IOException {
        try (Line standing = line()) {
            standing.ask("PING");
            cable.set(new Fault.Refuse());
            assertThat(standing.ask("PING")).isEqualTo("+PONG");
            assertThatThrownBy(() -> {
                        try (Line refused = line()) {
                            refused.ask("PING");
                        }
                    })
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(SocketTimeoutException.class);
        }
    }

    @Test
    void cutsAfterTheRequestWasDoneAndBeforeItsReply() throws IOException {
        cable.set(new Fault.CutBeforeReply("INCR"));
        try (Line line = line();
                Line other = line()) {
            assertThat(line.ask("PING")).isEqualTo("+PONG");
            assertThatThrownBy(() -> line.ask("INCR cable")).isInstanceOf(IOException.class);
            assertThat(redis.command("GET", "cable")).isEqualTo("1");
            assertThat(cable.cuts()).isEqualTo(1);
            assertThat(other.ask("INCR cable")).as("once").isEqualTo(":2");
        }
    }

    /** The reply to an earlier request came first and ended the connection before the one that was meant had arrived. */
    @Test
    void theRequestIsDoneThoughOthersWereUnderWay() throws IOException {
        for (int i = 0; i < 20; i++) {
            redis.command("DEL", "cable");
            cable.set(new Fault.CutBeforeReply("INCR"));
            try (Line line = line()) {
                line.send("PING");
                line.send("PING");
                line.send("INCR cable");
                assertThat(line.rest()).matches("(\\+PONG\r\n){0,2}");
            }
            assertThat(redis.command("GET", "cable")).isEqualTo("1");
        }
    }

    @Test
    void cutsInTheMiddleOfAReply() throws IOException {
        redis.command("SET", "cable", "0123456789");
        cable.set(new Fault.CutInReply("GET", 8));
        try (Line line = line()) {
            line.send("GET cable");
            assertThat(line.rest()).isEqualTo("$10\r\n012");
        }
    }

    @Test
    void throttles() throws IOException {
        redis.command("SET", "cable", "x".repeat(1_000));
        try (Line line = line()) {
            line.ask("PING");
            cable.set(new Fault.Throttle(4_000));
            long start = System.nanoTime();
            line.send("GET cable");
            assertThat(line.reply()).isEqualTo("$1000");
            assertThat(line.reply()).hasSize(1_000);
            assertThat(since(start)).isBetween(Duration.ofMillis(240), Duration.ofSeconds(5));
        }
    }

    @Test
    void whereRedisIsDownTheConnectionIsCut() throws IOException {
        try (RedisServer down = RedisServers.start();
                FaultyProxy toIt = FaultyProxy.to(down)) {
            down.kill();
            assertThatThrownBy(() -> {
                        try (Line line = new Line(toIt.port())) {
                            line.ask("PING");
                        }
                    })
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(SocketTimeoutException.class);
            assertThat(toIt.connections()).isEqualTo(1);
            assertThat(toIt.standing()).isZero();
        }
    }

    private Line line() throws IOException {
        return new Line(cable.port());
    }

    private static Duration since(long startNs) {
        return Duration.ofNanos(System.nanoTime() - startNs);
    }

    /** Redis's inline protocol by hand. */
    private record Line(Socket socket) implements AutoCloseable {
        private static final int PATIENCE_MS = 10_000;
        private static final int SILENCE_MS = 200;

        Line(int port) throws IOException {
            this(new Socket(InetAddress.getLoopbackAddress(), port));
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(PATIENCE_MS);
        }

        String ask(String command) throws IOException {
            send(command);
            return reply();
        }

        void send(String command) throws IOException {
            socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
        }

        /** The next line of what comes. */
        String reply() throws IOException {
            InputStream in = socket.getInputStream();
            StringBuilder line = new StringBuilder();
            for (int c = in.read(); c != '\n'; c = in.read()) {
                if (c < 0) {
                    throw new SocketException("cut after '" + line + "'");
                }
                line.append((char) c);
            }
            return line.toString().strip();
        }

        void hearsNothing() throws IOException {
            socket.setSoTimeout(SILENCE_MS);
            assertThatThrownBy(this::reply).isInstanceOf(SocketTimeoutException.class);
            socket.setSoTimeout(PATIENCE_MS);
        }

        /** All until the cut. */
        String rest() {
            StringBuilder text = new StringBuilder();
            try {
                InputStream in = socket.getInputStream();
                for (int c = in.read(); c >= 0; c = in.read()) {
                    text.append((char) c);
                }
            } catch (IOException reset) {
                return text.toString(); // A cut may be an error or an end.
            }
            return text.toString();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
