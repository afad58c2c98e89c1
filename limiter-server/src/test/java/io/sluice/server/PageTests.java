package io.sluice.server;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** What tests of the page share: one browser a class, and the server that everybody shares. */
abstract class PageTests {
    static Browser browser;

    final Started server = Started.shared();
    final Http http = server.http;

    @BeforeAll
    static void start() {
        browser = Browser.start();
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
    }

    @BeforeEach
    void fresh() {
        browser.size(1440, 1000, false);
        browser.complaints();
        browser.requests();
    }

    /** A project of the test's own, looked at live. */
    String looksAt(String limits) {
        String project = Policies.installed(http, limits);
        browser.open(server, "#/" + project + "/live");
        browser.sees("#connection", "Live");
        return project;
    }
}
