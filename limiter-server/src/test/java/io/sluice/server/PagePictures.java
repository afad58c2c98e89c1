package io.sluice.server;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * The pictures of the page in docs/, taken of a small fleet at work on a real budget. No part of the tests: run it by name
 * ({@code -Dit.test=PagePictures}, as docs/server.md says), look at what it drew, and commit that.
 */
class PagePictures {
    private static final Path DOCS = Path.of(System.getProperty("sluice.pictures", "../docs/pictures"));
    private static final Duration WARM = Duration.ofSeconds(75);
    private static final String[] TEAMS = {"research", "platform", "evals"};
    private static final String[] PRIORITIES = {"interactive", "normal", "batch"};
    private static final int AGENTS = 42;

    private final Random random = new Random(7);

    @Test
    void areTaken() throws Exception {
        try (RedisServer redis = RedisServers.start();
                Started server = Started.on(redis.uri());
                Browser browser = Browser.start()) {
            install(server.http);
            ExecutorService agents = Executors.newFixedThreadPool(AGENTS);
            for (int i = 0; i < AGENTS; i++) {
                int number = i;
                agents.execute(() -> agent(server.http, number));
            }
            browser.open(server, "#/acme-prod/live");
            browser.sees("#connection", "Live");
            TimeUnit.MILLISECONDS.sleep(WARM.toMillis());
            server.http.post(
                    "/v1/projects/acme-prod/hold",
                    "{\"class\": \"haiku\", \"for_ms\": 300000, \"reason\": \"evaluation harness is being redeployed\"}");
            browser.sees("#holds", "redeployed");
            browser.sees("#verdict", "haiku");
            for (boolean dark : List.of(false, true)) {
                String theme = dark ? "dark" : "light";
                browser.dark(dark);
                browser.size(1440, 1500, false);
                browser.until("it is drawn", () -> browser.all("#limits canvas").size() > 3);
                TimeUnit.SECONDS.sleep(2);
                browser.picture(DOCS.resolve("live-" + theme + ".png"));
                browser.size(390, 1400, true);
                TimeUnit.SECONDS.sleep(2);
                browser.picture(DOCS.resolve("phone-" + theme + ".png"));
            }
            browser.dark(false);
            browser.size(1280, 860, false);
            browser.open(server, "#/acme-prod/policy");
            browser.until(
                    "the policy is there",
                    () -> browser.find("#document").getDomProperty("value").contains("concurrency: 16"));
            browser.run("const t = document.getElementById('document');"
                    + "t.value = t.value.replace('concurrency: 16', 'concurency: 16').replace('weight: 2', 'weight: 0');"
                    + "t.dispatchEvent(new Event('input', {bubbles: true}))");
            browser.sees("#problems", "concurency");
            browser.picture(DOCS.resolve("policy-light.png"));
            agents.shutdownNow();
            agents.awaitTermination(30, TimeUnit.SECONDS);
        }
    }

    private static void install(Http http) {
        http.put("/v1/projects/acme-prod", """
                project: acme-prod
                provider: anthropic
                classes:
                  - {name: sonnet, models: ["claude-sonnet-*"], max_output: 1000,
                     limits: {rpm: 600, itpm: 400000, otpm: 80000, concurrency: 16}}
                  - {name: haiku, models: ["claude-haiku-*"], max_output: 500,
                     limits: {rpm: 1200, itpm: 800000, concurrency: 24}}
                teams:
                  - {name: research, weight: 2, limits: {concurrency: 8}}
                  - {name: platform}
                  - {name: evals}
                limits: {concurrency: 40, usd: {amount: 500, per: month}}
                prices:
                  "claude-sonnet-*": {input: 3, cache_read: 0.3, cache_write: 3.75, output: 15}
                  "claude-haiku-*": {input: 1, output: 5}
                """, "Content-Type", "application/yaml");
    }

    /** Calls one after the other, each some seconds long; now and then the provider says no. */
    private void agent(Http http, int number) {
        String permits = "/v1/projects/acme-prod/permits";
        String model = number % 4 == 3 ? "claude-haiku-5" : "claude-sonnet-5-5";
        try {
            while (!Thread.interrupted()) {
                Http.Reply reply = http.post(permits, """
                        {"model": "%s", "input_tokens": %d, "cache_read_tokens": 9000, "max_output_tokens": 400,
                         "agent": "host-%d/agent-%d", "team": "%s", "priority": "%s", "max_wait_ms": 25000}""".formatted(
                        model, 1_500 + 40 * number, number % 6, number, TEAMS[number % 3], PRIORITIES[number % 3]));
                if (reply.status() != 201) {
                    continue;
                }
                TimeUnit.MILLISECONDS.sleep(800 + random.nextInt(2_500));
                http.post(
                        permits + "/" + reply.json().get("permit").asString() + "/settle",
                        random.nextInt(60) == 0 ? OVERLOADED : USED.formatted(600 + 20 * number, 200 + number));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static final String OVERLOADED = """
            {"status": 529, "headers": {},
             "body": "{\\"type\\":\\"error\\",\\"error\\":{\\"type\\":\\"overloaded_error\\",\\"message\\":\\"Overloaded\\"}}"}""";
    private static final String USED = """
            {"status": 200, "usage": {"input_tokens": %d, "cache_read_tokens": 9000, "output_tokens": %d},
             "headers": {"anthropic-ratelimit-requests-limit": "500", "anthropic-ratelimit-requests-remaining": "431"}}""";
}
