package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.redis.WithRedis;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.By;

/** The page, in a real browser, against the server that was started and a real Redis. */
@WithRedis
class PageIT extends PageTests {
    /** The browser keeps pages that were left for the way back: with their streams open they were all it has of connections. */
    @Test
    void pagesThatWereLeftKeepNoConnections() {
        for (int left = 0; left < 5; left++) {
            looksAt("{rpm: 600}");
        }
        browser.sees("#rejections", "None, ever.");

        browser.back();
        browser.sees("#connection", "Live");
    }

    @Test
    void itLoadsAndTellsHowAProjectStandsWithoutAskingAnotherHost() {
        looksAt("{rpm: 600, itpm: 100000, concurrency: 2}");

        browser.sees("#connection", "Live");
        browser.sees("#verdict", "Nobody waits");
        assertThat(browser.all(".gauge")).hasSize(3);
        assertThat(browser.text("#limits"))
                .contains("class sonnet", "600 requests / min", "100K input tokens / min", "free");
        assertThat(browser.text("#line")).contains("Nobody waits: calls start at once.");
        browser.sees("#plan", "no agent was seen");
        browser.sees("#usage", "Nothing used in 24 hours");

        assertThat(browser.requests())
                .isNotEmpty()
                .filteredOn(url -> url.startsWith("http"))
                .allSatisfy(url -> assertThat(URI.create(url).getAuthority()).isEqualTo("127.0.0.1:" + server.port));
        assertThat(browser.complaints()).isEmpty();
    }

    @Test
    void itIsServedUnderAPolicyThatRunsNothingInlineAndNothingOfOthers() {
        assertThat(http.get("/").header("content-security-policy"))
                .contains("default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'")
                .doesNotContain("unsafe-inline", "unsafe-eval", "*");
    }

    @Test
    void itUpdatesByItselfAsCallsRunWaitAndEnd() {
        String project = looksAt("{rpm: 600, concurrency: 1}");
        browser.sees("[data-fact=in-flight]", "0");

        String permit = granted(project, "host-1/agent-1");
        browser.sees("[data-fact=in-flight]", "1");
        browser.sees(".gauge[data-limit=concurrency]", "1 of 1");
        assertThat(browser.text(".gauge[data-limit=concurrency]")).contains("full");
        browser.sees("#agents", "host-1/agent-1");

        CompletableFuture<Http.Reply> waiting = http.later(permits(project), """
                {"model": "claude-sonnet-5-5", "input_tokens": 10, "agent": "host-2/agent-9", "team": "research",
                 "priority": "batch", "max_wait_ms": 60000}""");
        browser.sees("#line", "host-2/agent-9");
        assertThat(browser.text("#line")).contains("research · batch", "calls in flight, class sonnet");
        browser.sees("#verdict", "1 call waits for calls in flight, class sonnet");

        settle(project, permit, 1_234);
        assertThat(waiting.join().status()).isEqualTo(201);
        browser.sees("#line", "Nobody waits");
        browser.run("document.getElementById('usage-by').dispatchEvent(new Event('change'))");
        browser.sees("#usage", "1,234 tokens in 1 request");
        settle(project, waiting.join().json().get("permit").asString(), 10);
    }

    @Test
    void itShowsAHoldItsReasonAsTextAndItsEnd() {
        String project = looksAt("{rpm: 600}");
        browser.sees("#holds", "Nothing is on hold");

        String reason = "<img src=x onerror=document.title='pwned'> a deploy";
        hold(project, "{\"for_ms\": 8000, \"class\": \"sonnet\", \"reason\": \"" + reason + "\"}");
        browser.sees("#holds", reason);
        browser.sees("#verdict", "On hold: class sonnet");
        assertThat(browser.text(".hold-left")).matches("0:0\\d");
        browser.sees("#events", reason);
        assertThat(browser.all("#holds img, #events img")).isEmpty();
        assertThat(browser.find("#news").getDomProperty("textContent")).contains("class sonnet is on hold");

        browser.sees("#verdict", "Nobody waits");
        browser.until(
                "the hold is over",
                () -> browser.all("#holds [data-closed=true]").isEmpty());
        assertThat(browser.find("#news").getDomProperty("textContent")).isEqualTo("The hold of class sonnet is over");
        assertThat(browser.run("return document.title")).isEqualTo(project + " · Sluice");
    }

    @Test
    void itEditsAPolicyAfterTellingWhatThatChanges() {
        String project = Policies.installed(http, "{rpm: 600}");
        edit(project, "rpm: 600", "rpm: 750");

        browser.sees("#check-said", "Valid. Saving makes 1 change");
        assertThat(browser.text("#changes")).contains("/classes/sonnet/limits/rpm", "class sonnet", "600", "750");
        assertThat(http.get("/v1/projects/" + project).header("etag")).isEqualTo("\"1\"");
        assertThat(browser.text("#save")).isEqualTo("Save as version 2");

        browser.find("#save").click();
        browser.sees("#policy-version", "version 2 is in force");
        browser.sees("#versions", "v2");
        assertThat(http.get("/v1/projects/" + project).body()).contains("\"rpm\":750");

        browser.find("#versions li:nth-child(2) button").click();
        browser.sees("#versions li:nth-child(2) button", "Sure?");
        browser.find("#versions li:nth-child(2) button").click();
        browser.sees("#policy-version", "version 3 is in force");
        assertThat(http.get("/v1/projects/" + project).body()).contains("\"rpm\":600");
    }

    @Test
    void itRefusesABadPolicyNamingThePathAndTheLineOfEachFault() {
        String project = Policies.installed(http, "{rpm: 600}");
        edit(project, "rpm: 600", "rmp: 600");

        browser.sees("#problems", "/classes/0/limits/rmp");
        assertThat(browser.text("#check-said")).contains("Not valid").contains("Nothing is saved");
        assertThat(browser.find("#save").isEnabled()).isFalse();
        String line = browser.text("#problems .hint");
        assertThat(line).matches("line \\d+");
        assertThat(browser.text("#lines .faulty")).isEqualTo(line.substring(5));

        browser.find("#problems button").click();
        assertThat((String) browser.run("const t = document.getElementById('document');"
                        + "return t.value.slice(t.selectionStart, t.selectionEnd)"))
                .contains("rmp: 600");
        assertThat(http.get("/v1/projects/" + project).header("etag")).isEqualTo("\"1\"");
    }

    @Test
    void itSavesOverNothingThatSomebodyElseSavedMeanwhileUnlessToldTo() {
        String project = Policies.installed(http, "{rpm: 600}");
        edit(project, "rpm: 600", "rpm: 750");
        browser.until("it may be saved", () -> browser.find("#save").isEnabled());
        put(project, "{rpm: 500}");

        browser.find("#save").click();
        browser.sees("#policy-note", "Version 2 was saved since you began");
        assertThat(http.get("/v1/projects/" + project).body()).contains("\"rpm\":500");

        browser.find("#policy-note")
                .findElement(By.xpath(".//button[text()='Save mine over it']"))
                .click();
        browser.sees("#policy-version", "version 3 is in force");
        assertThat(http.get("/v1/projects/" + project).body()).contains("\"rpm\":750");
    }

    /** The connection, and the server's own word that it cannot answer, are told in words, and both end by themselves. */
    @Test
    void itSaysThatTheConnectionIsLostAndComesBackByItself() {
        String redis = RedisServers.shared().uri();
        String project = Policies.installed(http, "{rpm: 600}");
        int port;
        try (Started first = Started.on(redis)) {
            port = first.port;
            browser.open(first, "#/" + project + "/live");
            browser.sees("#connection", "Live");
        }
        browser.sees("#connection", "Connection lost");
        browser.sees("#lost", "The figures are");
        browser.sees("#lost", "Trying again");

        put(project, "{rpm: 700}");
        try (Started again = Started.on(redis, "--server.port=" + port)) {
            browser.sees("#connection", "Live");
            browser.sees("#limits", "700 requests / min");
            assertThat(browser.find("#lost").isDisplayed()).isFalse();
            assertThat(again.port).isEqualTo(port);
            browser.run("location.href = 'about:blank'");
        }
    }

    @Test
    void itAsksForATokenWhereTheServerDoesAndNoScriptCanReadIt(@TempDir Path directory) throws Exception {
        String project = Policies.installed(http, "{rpm: 600}");
        String token = "slc_" + "d".repeat(64);
        Path tokens = Files.writeString(directory.resolve("tokens.yaml"), """
                tokens: [{name: looker, sha256: %s, role: viewer, projects: ["%s"]}]
                """.formatted(sha256(token), project));
        try (Started locked = Started.on(RedisServers.shared().uri(), "--sluice.tokens=" + tokens)) {
            browser.open(locked, "");
            browser.sees("#login", "Log in");
            browser.find("#token").sendKeys("slc_" + "e".repeat(64));
            browser.find("#login-form button").click();
            browser.sees("#login-fault", "does not know this token");

            browser.find("#token").clear();
            browser.find("#token").sendKeys(token);
            browser.find("#login-form button").click();
            browser.sees("#connection", "Live");
            browser.sees("#limits", "600 requests / min");
            assertThat(browser.run("return document.cookie")).isEqualTo("");
            assertThat(browser.find("#hold-open").isDisplayed()).isFalse();

            browser.open(locked, "#/" + project + "/policy");
            browser.sees("#policy-note", "You may read this policy, not change it.");
            assertThat(browser.find("#save").isEnabled()).isFalse();
            browser.find("#logout").click();
            browser.sees("#login", "Log in");
        }
    }

    /** Whoever opens the page later, or again, sees what was refused. */
    @Test
    void itShowsWhatTheProviderRefusedByKindAlsoAfterAReload() {
        String project = looksAt("{rpm: 600}");
        browser.sees("#rejections", "None, ever.");
        for (int i = 0; i < 3; i++) {
            String permit = granted(project, "host-1/agent-1");
            String settled = permits(project) + "/" + permit + "/settle";
            assertThat(http.post(settled, OVERLOADED).status()).isEqualTo(200);
            http.delete("/v1/projects/" + project + "/hold");
        }
        browser.sees("#rejections .legend", "overload\n3");
        browser.sees("[data-fact=rejections]", "3");

        browser.run("sessionStorage.clear()");
        browser.open(server, "#/" + project + "/live");
        browser.sees("#rejections .legend", "overload\n3");
        browser.sees("[data-fact=rejections]", "in the last 24 hours");
        assertThat(browser.text("#rejections")).contains("3 rejections since the project was installed: 3 overload.");
    }

    private static final String OVERLOADED = """
            {"status": 529, "body": "{\\"type\\":\\"error\\",\\"error\\":{\\"type\\":\\"overloaded_error\\",\\"message\\":\\"no\\"}}"}""";

    /** A debt is forgiven only by somebody who says so twice and why; everybody may read it. */
    @Test
    void itCorrectsALevelAfterAskingAgain() {
        looksAt("{rpm: 600, itpm: 600000, concurrency: 1}");
        browser.until("levels may be set", () -> browser.find("#level-open").isDisplayed());
        assertThat(browser.text("#limits")).contains("1 call in flight").doesNotContain("1 calls");
        browser.find("#level-open").click();
        assertThat(browser.all("#level-which option"))
                .extracting(option -> option.getDomAttribute("value"))
                .containsExactlyInAnyOrder("c:sonnet rpm", "c:sonnet itpm");
        browser.run("document.getElementById('level-which').value = 'c:sonnet itpm'");
        browser.find("#level-to").sendKeys("-500000");
        browser.find("#level-reason").sendKeys("the invoice says so");
        browser.find("#level-do").click();
        browser.sees("#level-do", "Sure? Set it");
        assertThat(browser.text("#limits")).doesNotContain("in debt");
        browser.find("#level-do").click();
        browser.sees(".gauge[data-limit=itpm]", "in debt");
        browser.sees("#events", "the invoice says so");
        browser.until(
                "the dialog is closed", () -> !browser.find("#level-dialog").isDisplayed());
    }

    @Test
    void itRemovesAProjectOnceItsNameAndAReasonAreTyped() {
        String project = looksAt("{rpm: 600}");
        browser.find("#views a[data-view=policy]").click();
        browser.sees("#policy-version", "version 1 is in force");
        browser.find("#remove-open").click();
        browser.find("#remove-name").sendKeys("another");
        browser.find("#remove-reason").sendKeys("an experiment that is over");
        browser.find("#remove-form button[type=submit]").click();
        browser.sees("#remove-fault", "That is not its name");
        assertThat(http.get("/v1/projects/" + project).status()).isEqualTo(200);

        browser.find("#remove-name").clear();
        browser.find("#remove-name").sendKeys(project);
        browser.find("#remove-form button[type=submit]").click();
        browser.until("it is gone", () -> http.get("/v1/projects/" + project).status() == 404);
        browser.until(
                "nobody is offered it",
                () -> browser.all("#project option").stream()
                        .noneMatch(option -> project.equals(option.getDomAttribute("value"))));
    }

    @Test
    void itSaysBeforeSavingThatCommentsAreNotKept() {
        String project = Policies.installed(http, "{rpm: 600}");
        edit(project, "rpm: 600", "rpm: 750");
        browser.sees("#check-said", "Valid. Saving makes 1 change");
        assertThat(browser.find("#comments").isDisplayed()).isFalse();
        browser.run("const t = document.getElementById('document'); t.value = '# why\\n' + t.value;"
                + "t.dispatchEvent(new Event('input', {bubbles: true}))");
        browser.sees("#comments", "Comments are not kept");
        browser.until(
                "it may be saved all the same", () -> browser.find("#save").isEnabled());
    }

    @Test
    void onAPhoneNothingScrollsSidewaysHoweverLongItsNames() {
        String project = Policies.installed(http, "{rpm: 600, itpm: 100000, otpm: 50000, concurrency: 1}");
        String permit = granted(project, "a".repeat(128));
        CompletableFuture<Http.Reply> waiting = http.later(permits(project), """
                {"model": "claude-sonnet-5-5", "input_tokens": 10, "agent": "%s", "max_wait_ms": 60000}""".formatted("b".repeat(128)));
        await("it waits")
                .until(() ->
                        http.get("/v1/projects/" + project + "/status").body().contains("bbbbbb"));
        // It ends before the wait does: else nobody would wait.
        hold(project, "{\"class\": \"sonnet\", \"for_ms\": 30000, \"reason\": \"" + "w".repeat(200) + "\"}");
        browser.size(360, 740, true);
        for (String view : List.of("live", "policy")) {
            browser.open(server, "#/" + project + "/" + view);
            browser.sees("#connection", "Live");
            browser.sees(view.equals("live") ? "#line" : "#versions", view.equals("live") ? "bbbbbb" : "v1");
            assertThat(browser.run("return document.documentElement.scrollWidth - innerWidth"))
                    .as(
                            () -> "pixels too wide, " + view + ": "
                                    + browser.run(
                                            "return [...document.querySelectorAll('*')].filter(e => e.getBoundingClientRect()"
                                                    + ".right > innerWidth + 1).map(e => e.tagName + '#' + e.id + '.' + e.className).join(' ')"))
                    .isEqualTo(0L);
        }
        http.delete("/v1/projects/" + project + "/hold");
        settle(project, permit, 10);
        settle(project, waiting.join().json().get("permit").asString(), 10);
    }

    private static String sha256(String token) throws java.security.NoSuchAlgorithmException {
        byte[] digest = java.security.MessageDigest.getInstance("SHA-256")
                .digest(token.getBytes(java.nio.charset.StandardCharsets.UTF_8));
        return java.util.HexFormat.of().formatHex(digest);
    }

    /** Opens the editor and types. */
    private void edit(String project, String from, String to) {
        browser.open(server, "#/" + project + "/policy");
        browser.until(
                "the policy is there",
                () -> browser.find("#document").getDomProperty("value").contains(from));
        browser.run(
                "const t = document.getElementById('document'); t.value = t.value.replace(arguments[0], arguments[1]);"
                        + "t.dispatchEvent(new Event('input', {bubbles: true}))",
                from,
                to);
    }

    private void put(String project, String limits) {
        assertThat(http.put("/v1/projects/" + project, Policies.of(project, limits), "Content-Type", "application/yaml")
                        .status())
                .isEqualTo(200);
    }

    private void hold(String project, String order) {
        assertThat(http.post("/v1/projects/" + project + "/hold", order).status())
                .isEqualTo(200);
    }

    private String granted(String project, String agent) {
        Http.Reply reply = http.post(permits(project), """
                {"model": "claude-sonnet-5-5", "input_tokens": 10, "agent": "%s", "lease_ms": 60000}""".formatted(agent));
        assertThat(reply.status()).as(reply.body()).isEqualTo(201);
        return reply.json().get("permit").asString();
    }

    private void settle(String project, String permit, int tokens) {
        assertThat(http.post(
                                permits(project) + "/" + permit + "/settle",
                                "{\"usage\": {\"input_tokens\": " + tokens + ", \"output_tokens\": 0}}")
                        .status())
                .isEqualTo(200);
    }

    private static String permits(String project) {
        return "/v1/projects/" + project + "/permits";
    }
}
