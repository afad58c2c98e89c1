package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testbed.redis.WithRedis;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

/** The page without a mouse. */
@WithRedis
class PageKeyboardIT extends PageTests {
    @Test
    void holdsAndReleasesAFleet() {
        looksAt("{rpm: 600}");
        browser.until("holds may be made", () -> browser.find("#hold-open").isDisplayed());

        browser.press(Keys.TAB);
        assertThat(browser.focused()).isEqualTo("Skip to the figures");
        assertThat(browser.tabTo("#hold-open")).containsSubsequence("project", "Live", "theme", "hold-open");
        browser.press(Keys.ENTER);
        browser.until("the dialog has the focus", () -> browser.focused().equals("hold-scope"));
        browser.tabTo("#hold-reason");
        browser.press("by hand", Keys.ENTER);
        browser.sees("#holds-list", "by hand");
        assertThat(browser.text("#verdict")).isEqualTo("The whole project is on hold");
        browser.until(
                "the focus is back where it came from", () -> browser.focused().equals("hold-open"));

        browser.tabTo("#holds-list button");
        browser.press(Keys.ENTER);
        browser.until("the hold is over", () -> browser.all("#holds-list li").isEmpty());
    }

    @Test
    void leavesADialogByEscape() {
        looksAt("{rpm: 600}");
        browser.until("holds may be made", () -> browser.find("#hold-open").isDisplayed());
        browser.tabTo("#hold-open");
        browser.press(Keys.ENTER);
        browser.until("the dialog is open", () -> browser.find("#hold-dialog").isDisplayed());
        browser.press(Keys.ESCAPE);
        browser.until(
                "the dialog is closed", () -> !browser.find("#hold-dialog").isDisplayed());
        assertThat(browser.focused()).isEqualTo("hold-open");
    }

    @Test
    void editsAndSavesAPolicyAndIsNeverCaughtInTheEditor() {
        String project = looksAt("{rpm: 600}");
        browser.tabTo("#views a[data-view=policy]");
        browser.press(Keys.ENTER);
        browser.sees("#policy-version", "version 1 is in force");

        browser.tabTo("#document");
        browser.press(Keys.chord(Keys.CONTROL, Keys.END), "mode: shadow");
        browser.sees("#check-said", "Valid. Saving makes 1 change");
        browser.tabTo("#save");
        browser.press(Keys.ENTER);
        browser.sees("#policy-version", "version 2 is in force");
        browser.sees("#mode", "shadow");
        assertThat(http.get("/v1/projects/" + project).body()).contains("\"mode\":\"shadow\"");
    }

    @Test
    void everyFieldAndButtonHasAName() {
        looksAt("{rpm: 600}");
        assertThat((String) browser.run("""
                return [...document.querySelectorAll('button, input, select, textarea, a, [role=meter]')]
                    .filter((e) => !(e.textContent.trim() && e.matches('button, a')) && !e.getAttribute('aria-label')
                        && !(e.labels && [...e.labels].some((l) => l.textContent.trim())))
                    .map((e) => e.outerHTML).join()""")).isEmpty();
        assertThat(browser.find("#connection").getDomAttribute("role")).isEqualTo("status");
    }
}
