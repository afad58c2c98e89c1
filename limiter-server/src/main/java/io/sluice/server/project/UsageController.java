package io.sluice.server.project;

import io.sluice.Admin.By;
import io.sluice.Admin.Step;
import io.sluice.Admin.Used;
import io.sluice.server.problem.Problem;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.tags.Tag;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** Who spent the budget. */
@RestController
@RequestMapping("/v1/projects/{project}/usage")
@Tag(name = "status")
class UsageController {
    private static final MediaType CSV = new MediaType("text", "csv", StandardCharsets.UTF_8);

    private final Questions questions;

    UsageController(Questions questions) {
        this.questions = questions;
    }

    @Operation(
            summary =
                    "Requests, tokens, money, waits and rejections by team, agent, model or run, or rejections by kind, an hour or "
                            + "a day a row",
            description = "Hours are kept 35 days, days 13 months. JSON, or format=csv.")
    @GetMapping
    Mono<? extends ResponseEntity<?>> usage(
            @PathVariable String project,
            @RequestParam(required = false) @Nullable String from,
            @RequestParam(required = false) @Nullable String to,
            @RequestParam(required = false) @Nullable String step,
            @RequestParam(required = false) @Nullable String by,
            @RequestParam(defaultValue = "json") String format) {
        Questions.project(project);
        if (!format.equals("json") && !format.equals("csv")) {
            throw Problem.invalid("/format", "must be json or csv");
        }
        Instant now = Instant.now();
        Span span =
                Span.of(Questions.given(from), Questions.given(to), Questions.given(step), Questions.given(by), now);
        Mono<List<Used>> rows =
                questions.ask(admin -> admin.usage(project, span.from(), span.to(), span.step(), span.by()));
        if (format.equals("csv")) {
            return rows.map(all -> ResponseEntity.ok()
                    .contentType(CSV)
                    .header(HttpHeaders.CONTENT_DISPOSITION, "attachment; filename=\"" + project + "-usage.csv\"")
                    .body(UsageView.of(span, all, List.of()).csv()));
        }
        // One after the other: of two that fail at once Reactor logs the second as nobody's.
        return rows.flatMap(all -> forecast(project, now)
                .map(outlook -> ResponseEntity.ok()
                        .contentType(MediaType.APPLICATION_JSON)
                        .body(UsageView.of(span, all, outlook))));
    }

    private Mono<List<Forecast.Outlook>> forecast(String project, Instant now) {
        return questions.ask(admin -> admin.status(project)).flatMap(status -> {
            if (status.limits().stream().noneMatch(limit -> limit.limit().equals("usd"))) {
                return Mono.just(List.of());
            }
            return questions
                    .ask(admin -> admin.usage(
                            project, now.minus(Forecast.LOOKS_BACK), now.plusSeconds(1), Step.HOUR, By.TEAM))
                    .map(rows -> Forecast.of(status.limits(), rows, now));
        });
    }
}
