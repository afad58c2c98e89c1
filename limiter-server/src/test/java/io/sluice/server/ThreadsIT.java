package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springdoc.api.AbstractOpenApiResource;
import org.springframework.context.annotation.Bean;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/**
 * Permits are read, asked for and answered on the thread that serves connections. What takes long is not: it would keep everybody
 * waiting.
 */
@WithRedis
class ThreadsIT {
    private static final String CALL = "\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1";

    /** JSON as well, but not as nearly everybody spells it. */
    private static final String[] OTHERWISE = {"Content-Type", "application/vnd.agent+json"};

    private static final String[] STREAM = {"Accept", "text/event-stream"};
    private static final String LARGE = " ".repeat(100_000);

    private final Http free = Started.shared().http;
    private final String project = Policies.installed(free, "{rpm: 100000, itpm: 1000000, concurrency: 1000}");
    private final String at = "/v1/projects/" + project;

    /** All its workers are busy, and their queue is full. */
    @Test
    void whatTakesLongIsLeftToTheWorkersAndPermitsAreNot() {
        CountDownLatch busy = new CountDownLatch(1);
        try (Started server =
                Started.with(AnsweringThread.class, RedisServers.shared().uri())) {
            ThreadPoolExecutor workers = workers(server);
            assertThat(workers.getMaximumPoolSize()).isBetween(1, 16);
            assertThat(workers.getQueue().remainingCapacity()).isBetween(100, 10_000);
            for (int i = workers.getMaximumPoolSize() + workers.getQueue().remainingCapacity(); i > 0; i--) {
                workers.execute(() -> uninterrupted(busy));
            }
            try {
                Http http = server.http;
                for (String report : List.of(
                        "/v3/api-docs",
                        "/v1/projects",
                        at,
                        at + "/versions",
                        at + "/status",
                        at + "/usage",
                        at + "/plan")) {
                    isBusy(report, http.get(report));
                }
                isBusy("a stream", http.get(at + "/status", STREAM));
                isBusy("events", http.get(at + "/events"));
                isBusy("a policy", http.put(at, Policies.of(project, "{rpm: 1}"), "Content-Type", "application/yaml"));
                isBusy("a hold", http.post(at + "/hold", "{\"reason\":\"x\"}"));
                isBusy("a login", http.post("/v1/login", "{\"token\":\"x\"}"));

                String permits = at + "/permits";
                Reply granted = http.post(permits, "{" + CALL + ",\"max_wait_ms\":10000}");
                isServed(201, granted);
                String permit = permits + "/" + granted.json().get("permit").asString();
                isServed(200, http.post(permit + "/renew", ""));
                isServed(200, http.post(permit + "/settle", "{}"));
                isServed(201, http.post(permits, "{" + CALL + "}", OTHERWISE));
                assertThat(http.get("/actuator/health/liveness").status()).isEqualTo(200);
                assertThat(http.get("/v1/me").status()).isEqualTo(200);

                isBusy("a large question", http.post(permits, LARGE + "{" + CALL + "}"));
                isBusy("a large question", http.post(permits, LARGE + "{" + CALL + "}", OTHERWISE));
                isBusy("a large question", http.post(permits, LARGE + "{" + CALL + "}", STREAM));
                isBusy("a large ending", http.post(permit + "/settle", LARGE + "{}"));
                isBusy("a large ending", http.post(permit + "/settle", LARGE + "{}", OTHERWISE));
            } finally {
                busy.countDown();
            }
            await().atMost(10, TimeUnit.SECONDS)
                    .until(() -> server.http
                                    .post(at + "/permits", LARGE + "{" + CALL + "}")
                                    .status()
                            == 201);
        }
    }

    @Test
    void streamsAndCallsThatWaitKeepNoWorker() {
        String full = Policies.installed(free, "{concurrency: 1}");
        String waits = "/v1/projects/" + full + "/permits";
        free.post(waits, "{" + CALL + "}");
        ThreadPoolExecutor workers = workers(Started.shared());
        List<Http.Events> streams = new ArrayList<>();
        try {
            for (int i = 0; i < 3 * workers.getCorePoolSize(); i++) {
                streams.add(free.events("GET", at + "/status", null, STREAM));
                streams.add(free.events("GET", at + "/events", null));
                streams.add(free.events("POST", waits, "{" + CALL + ",\"max_wait_ms\":25000}", STREAM));
                streams.add(free.events("POST", waits, LARGE + "{" + CALL + ",\"max_wait_ms\":25000}"));
            }
            await().atMost(20, TimeUnit.SECONDS)
                    .until(() -> free.get("/v1/projects/" + full + "/status")
                                    .json()
                                    .get("waiters")
                                    .asInt()
                            == streams.size() / 2);
            await().atMost(20, TimeUnit.SECONDS).until(() -> workers.getActiveCount() == 0);
            assertThat(workers.getQueue()).isEmpty();
            assertThat(free.get(at + "/usage").status()).isEqualTo(200);
        } finally {
            streams.forEach(Http.Events::close);
        }
    }

    /** Anybody may read it: in each language that was named it was made anew, where permits are served, and kept for ever. */
    @Test
    void theDescriptionOfTheApiIsMadeOnceWhateverLanguagesAreNamed() {
        Logger logger = (Logger) LoggerFactory.getLogger(AbstractOpenApiResource.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        try (Started server = Started.on(RedisServers.shared().uri())) {
            logger.addAppender(log); // a server that starts takes it away
            for (String language :
                    List.of("de", "fr-CH, fr;q=0.9", "zz", "en-GB", "x-klingon", "de-DE-1996", "*", "und")) {
                assertThat(server.http
                                .get("/v3/api-docs", "Accept-Language", language)
                                .status())
                        .as(language)
                        .isEqualTo(200);
            }
        } finally {
            logger.detachAppender(log);
        }
        assertThat(log.list)
                .filteredOn(line -> line.getMessage().startsWith("Init duration"))
                .singleElement()
                .satisfies(line -> assertThat(line.getThreadName()).startsWith("sluice-work-"));
    }

    private static void isBusy(String what, Reply reply) {
        assertThat(reply.status()).as("%s: %s", what, reply.body()).isEqualTo(503);
        assertThat(reply.kind()).isEqualTo("busy");
        assertThat(reply.header("retry-after")).isEqualTo("1");
    }

    private static void isServed(int status, Reply reply) {
        assertThat(reply.status()).as(reply.body()).isEqualTo(status);
        assertThat(reply.header(AnsweringThread.HEADER)).startsWith("sluice-io");
    }

    private static ThreadPoolExecutor workers(Started server) {
        return server.context.getBean(ThreadPoolExecutor.class);
    }

    private static void uninterrupted(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Each answer names the thread that wrote it. */
    static final class AnsweringThread {
        static final String HEADER = "X-Thread";

        @Bean
        WebFilter thread() {
            return (exchange, chain) -> {
                exchange.getResponse().beforeCommit(() -> {
                    exchange.getResponse()
                            .getHeaders()
                            .set(HEADER, Thread.currentThread().getName());
                    return Mono.empty();
                });
                return chain.filter(exchange);
            };
        }
    }
}
