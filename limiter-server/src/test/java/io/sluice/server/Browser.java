package io.sluice.server;

import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.openqa.selenium.By;
import org.openqa.selenium.JavascriptExecutor;
import org.openqa.selenium.Keys;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;
import tools.jackson.databind.JsonNode;

/** A headless Chromium that looks at the page of a server. */
final class Browser implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(40);
    private static final List<String> QUIET = List.of(
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--hide-scrollbars",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync");

    private final ChromeDriver driver;

    private Browser(ChromeDriver driver) {
        this.driver = driver;
    }

    /** Starts one; where there is none the test is skipped, and says why. */
    static Browser start() {
        Optional<File> chromium = onPath("chromium", "chromium-browser", "google-chrome");
        Optional<File> steering = onPath("chromedriver");
        if (chromium.isEmpty() || steering.isEmpty()) {
            String reason = "no Chromium with its chromedriver on PATH (Debian: chromium, chromium-driver)";
            System.out.println("skipped: " + reason);
            Assumptions.abort(reason);
        }
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        logs.enable(LogType.PERFORMANCE, Level.ALL);
        ChromeOptions options = new ChromeOptions().addArguments(QUIET).setBinary(chromium.orElseThrow());
        options.setCapability("goog:loggingPrefs", logs);
        Browser browser = new Browser(new ChromeDriver(
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(steering.orElseThrow())
                        .usingAnyFreePort()
                        .build(),
                options));
        browser.size(1440, 1000, false);
        return browser;
    }

    private static Optional<File> onPath(String... names) {
        return Stream.of(names)
                .flatMap(name -> Stream.of(System.getenv("PATH").split(File.pathSeparator))
                        .map(directory -> new File(directory, name)))
                .filter(File::canExecute)
                .findFirst();
    }

    /** Opens the page anew, as in a new tab. */
    void open(Started server, String route) {
        driver.get("about:blank");
        driver.get("http://127.0.0.1:" + server.port + "/" + route);
    }

    /** To the page before, past the blank one between. */
    void back() {
        driver.navigate().back();
        driver.navigate().back();
    }

    WebElement find(String css) {
        return driver.findElement(By.cssSelector(css));
    }

    List<WebElement> all(String css) {
        return driver.findElements(By.cssSelector(css));
    }

    /** What is shown there now; empty where nothing is. */
    String text(String css) {
        try {
            return all(css).stream().findFirst().map(WebElement::getText).orElse("");
        } catch (StaleElementReferenceException e) {
            return ""; // gone between the two looks
        }
    }

    /** Waits until it says so. */
    void sees(String css, String text) {
        until(css + " says " + text, () -> text(css).contains(text));
    }

    void until(String what, Callable<Boolean> condition) {
        try {
            await(what).atMost(PATIENCE).pollInterval(Duration.ofMillis(100)).until(condition);
        } catch (org.awaitility.core.ConditionTimeoutException e) {
            throw new AssertionError(what + "; the page says: " + text("body") + "; it complains: " + complaints(), e);
        }
    }

    /** Presses keys, one after the other, wherever the focus is. */
    void press(CharSequence... keys) {
        Actions actions = new Actions(driver);
        for (CharSequence key : keys) {
            actions.sendKeys(key);
        }
        actions.perform();
    }

    /** Presses Tab until the element has the focus; what came before, in that order. */
    List<String> tabTo(String css) {
        List<String> passed = new ArrayList<>();
        WebElement wanted = find(css);
        for (int i = 0; i < 80; i++) {
            if (driver.switchTo().activeElement().equals(wanted)) {
                return passed;
            }
            press(Keys.TAB);
            passed.add(focused());
        }
        throw new AssertionError("Tab never came to " + css + " but to " + passed);
    }

    /** The id of what has the focus, else its words. */
    String focused() {
        WebElement active = driver.switchTo().activeElement();
        String id = active.getDomAttribute("id");
        return id == null || id.isEmpty() ? active.getText() : id;
    }

    Object run(String script, Object... arguments) {
        return ((JavascriptExecutor) driver).executeScript(script, arguments);
    }

    void size(int width, int height, boolean phone) {
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", phone ? 2 : 1, "mobile", phone));
    }

    void dark(boolean dark) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
    }

    void picture(Path file) throws IOException {
        Files.createDirectories(file.getParent());
        Files.write(file, driver.getScreenshotAs(OutputType.BYTES));
    }

    /** Errors of scripts and of the content policy, since the last call; a request that failed is none. */
    List<String> complaints() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                .map(entry -> entry.getMessage())
                .filter(message -> !message.contains("Failed to load resource") && !message.contains("net::ERR_"))
                .toList();
    }

    /** Everything the browser asked for since the last call. */
    List<String> requests() {
        return driver.manage().logs().get(LogType.PERFORMANCE).getAll().stream()
                .map(entry -> Http.JSON.readTree(entry.getMessage()).path("message"))
                .filter(message -> message.path("method").asString().equals("Network.requestWillBeSent"))
                .map(message -> message.path("params").path("request").path("url"))
                .map(JsonNode::asString)
                .toList();
    }

    @Override
    public void close() {
        driver.quit();
    }
}
