package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.redis.WithRedis;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Thousands of calls wait at one server on a small heap, without a thread each, and leave nothing when they go. */
@WithRedis
class ManyWaitIT {
    private static final int CALLS = 5_000;

    @Test
    void fiveThousandCallsWaitAtOnceOnASmallHeap() throws IOException {
        try (Forked server = Forked.on(RedisServers.shared().uri(), "256m")) {
            String project = Policies.installed(server.http, "{concurrency: 1}");
            String at = "/v1/projects/" + project;
            // For the whole test: else its lease ends, and one waiter after the other starts.
            assertThat(server.http
                            .post(
                                    at + "/permits",
                                    "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1,\"lease_ms\":900000}")
                            .status())
                    .isEqualTo(201);
            List<SocketChannel> waiting = new ArrayList<>();
            try {
                for (int i = 0; i < CALLS; i++) {
                    SocketChannel channel = SocketChannel.open();
                    waiting.add(channel);
                    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                    channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port));
                    channel.write(ByteBuffer.wrap(request(at, "a" + i % 100)));
                }
                await().atMost(120, TimeUnit.SECONDS)
                        .pollInterval(1, TimeUnit.SECONDS)
                        .until(() -> server.http
                                        .get(at + "/status")
                                        .json()
                                        .get("waiters")
                                        .asInt()
                                == CALLS);
                assertThat(server.threads()).isBetween(1L, 150L);
                assertThat(server.process.isAlive()).isTrue();
            } finally {
                for (SocketChannel channel : waiting) {
                    channel.close();
                }
            }
            await().atMost(120, TimeUnit.SECONDS)
                    .pollInterval(1, TimeUnit.SECONDS)
                    .until(() -> server.http
                                    .get(at + "/status")
                                    .json()
                                    .get("waiters")
                                    .asInt()
                            == 0);
        }
    }

    private static byte[] request(String at, String agent) {
        String call = "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1,\"max_wait_ms\":600000,\"agent\":\"" + agent
                + "\"}";
        return ("POST " + at
                        + "/permits HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
                        + call.length() + "\r\n\r\n" + call)
                .getBytes(StandardCharsets.US_ASCII);
    }
}
