package io.sluice.testbed.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class StatusTableTest {
    private static final JsonNode STATUS = JsonMapper.shared().readTree("""
            {"version": 7, "mode": "enforce", "degraded": false,
             "limits": [
               {"scope": "p", "limit": "concurrency", "amount": 200, "level": 124, "capacity": 200, "in_flight": 76, "reset_ms": 0},
               {"scope": "c:sonnet", "limit": "itpm", "amount": 2000000, "level": -15000, "capacity": 150000, "in_flight": 58, "reset_ms": 4400},
               {"scope": "t:research|sonnet", "limit": "rpm", "amount": 0, "level": 0, "capacity": 0, "in_flight": 0, "reset_ms": 0}],
             "waiting": [
               {"id": "1", "agent": "host-1/agent-\\u001b[31m7", "team": "research", "priority": "batch", "class": "sonnet",
                "scope": "c:sonnet", "limit": "itpm", "position": 3, "waited_ms": 4480, "wait_ms": 12300},
               {"id": "2", "agent": "a", "team": "other", "priority": "normal", "class": "sonnet",
                "scope": "c:sonnet", "limit": "line", "position": 4, "waited_ms": 100, "wait_ms": 62000},
               {"id": "3", "agent": "b", "team": "other", "priority": "normal", "class": "sonnet",
                "scope": "c:sonnet", "limit": "itpm", "position": 5, "waited_ms": 100, "wait_ms": 3725000}],
             "waiters": 2003,
             "agents": [{"agent": "a", "team": "other", "state": "calling", "since_ms": 1}], "agents_in_all": 64,
             "holds": [
               {"scope": "c:haiku", "kind": "plan_window", "left_ms": 287000, "retryable": true, "reason": "deploy\\nnow"},
               {"scope": "c:opus", "kind": "operator", "left_ms": null, "retryable": true, "reason": ""},
               {"scope": "c:fable", "kind": "input", "left_ms": 0, "retryable": true, "reason": ""}],
             "rejections": {"overload": 31, "input": 12}, "hosts": 8, "in_flight": {"p": 76, "c:sonnet": 58}}
            """);

    @Test
    void tellsTheWholeProjectOnOnePage() {
        assertThat(StatusTable.page("acme-prod", STATUS))
                .containsExactly("""
                acme-prod  v7  enforce
                2,003 calls wait, most for itpm of class sonnet

                in flight 76   waiting 2,003   agents 64 (1 calling)   hosts 8   rejected in all 43
                ON HOLD class haiku, plan window, for another 4 min 47 s: deploy now
                ON HOLD class opus, operator, until it is released
                ON HOLD class fable, input, opening again

                SCOPE                        LIMIT        TAKEN                                      LEFT  FULL IN
                project                      concurrency  ████████░░░░░░░░░░░░   38 %          124 of 200
                class sonnet                 itpm         ████████████████████  110 %  -15,000 of 150,000    4.4 s
                team research, class sonnet  rpm          ████████████████████  100 %              0 of 0

                PLACE  AGENT                TEAM      PRIORITY  WAITS FOR             WAITED   STARTS IN
                    3  host-1/agent- [31m7  research  batch     itpm of class sonnet   4.5 s       ~12 s
                    4  a                    other     normal    its turn               0.1 s  ~1 min 2 s
                    5  b                    other     normal    itpm of class sonnet   0.1 s  ~1 h 2 min
                and 1,988 more
                """.stripTrailing().split("\n"));
    }

    @Test
    void tellsManyProjectsALineEach() {
        assertThat(StatusTable.line("acme-prod", STATUS))
                .isEqualTo(List.of("acme-prod", "v7", "76", "2,003", "3", "110 % of itpm, class sonnet"));
    }

    @Test
    void theVerdictNamesWhatStopsTheFleet() {
        assertThat(verdict("{\"waiters\": 0}")).isEqualTo("nobody waits");
        assertThat(verdict("{\"waiters\": 1, \"degraded\": true}"))
                .isEqualTo("Redis does not answer: calls go by the policy's outage rule");
        assertThat(verdict("{\"waiters\": 1, \"holds\": [{\"scope\": \"p\", \"left_ms\": null}]}"))
                .isEqualTo("the whole project is on hold; 1 call waits");
    }

    @Test
    void timesRoundUpIntoTheNextUnit() {
        assertThat(List.of(400L, 9_949L, 9_950L, 59_400L, 59_600L, 3_599_600L, 7_500_000L, 273_600_000L).stream()
                        .map(Shown::time))
                .containsExactly("0.4 s", "9.9 s", "10 s", "59 s", "1 min", "1 h", "2 h 5 min", "3 d 4 h");
    }

    private static String verdict(String status) {
        return StatusTable.verdict(JsonMapper.shared().readTree(status));
    }
}
