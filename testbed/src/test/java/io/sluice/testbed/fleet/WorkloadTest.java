package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sluice.Priority;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class WorkloadTest {
    @Test
    void theSameSeedMakesTheSameAgentWantTheSameCalls() {
        assertThat(calls(7, 1, 2, 50)).isEqualTo(calls(7, 1, 2, 50));
        assertThat(calls(7, 1, 2, 50)).isNotEqualTo(calls(8, 1, 2, 50));
    }

    @Test
    void agentsDifferFromEachOther() {
        List<Long> first = calls(7, 0, 0, 20).stream().map(Work::input).toList();

        assertThat(calls(7, 0, 1, 20).stream().map(Work::input).toList()).isNotEqualTo(first);
        assertThat(calls(7, 1, 0, 20).stream().map(Work::input).toList()).isNotEqualTo(first);
    }

    @Test
    void sizesComeByTheirShares() {
        List<Work> calls = calls(1, 0, 0, 10_000);

        assertThat(calls.stream().filter(c -> c.size().equals("small")).count() / 10_000.0)
                .isCloseTo(0.6, within(0.02));
        assertThat(calls.stream().filter(c -> c.size().equals("large")).count() / 10_000.0)
                .isCloseTo(0.1, within(0.02));
    }

    @Test
    void numbersStrayByTheSpreadAndOutputNeverPassesItsCap() {
        assertThat(calls(1, 0, 0, 5_000)).allSatisfy(call -> {
            Profile.Size size = Profile.DEFAULT.sizes().stream()
                    .filter(s -> s.name().equals(call.size()))
                    .findFirst()
                    .orElseThrow();
            assertThat(call.input()).isBetween(Math.round(size.input() * 0.7), Math.round(size.input() * 1.3));
            assertThat(call.output()).isLessThanOrEqualTo(call.maxOutput());
            assertThat(call.thinkMs()).isBetween(0L, (long) Profile.DEFAULT.thinkMs());
        });
    }

    @Test
    void anAgentStaysInItsTeam() {
        Profile profile = new Profile("m", 0, 0, Profile.DEFAULT.sizes(), Map.of(), Map.of("a", 1, "b", 1));
        Workload workload = new Workload(profile, 1, 0, 0);

        assertThat(Stream.generate(workload::next).limit(50).map(Work::team).distinct())
                .hasSize(1);
    }

    /** Numbers of the same seed before there were groups and bursts: a run of then can be compared with one of now. */
    @Test
    void anAgentWithoutAGroupWantsWhatItAlwaysWanted() {
        List<Work> calls = calls(7, 1, 2, 3);

        assertThat(calls).extracting(Work::input).containsExactly(7_010L, 1_244L, 1_734L);
        assertThat(calls)
                .extracting(Work::priority)
                .containsExactly(Priority.BATCH, Priority.NORMAL, Priority.INTERACTIVE);
        assertThat(calls).extracting(Work::thinkMs).containsExactly(93L, 66L, 41L);
    }

    @Test
    void aGroupSaysWhatTheProfileWouldElse() {
        Profile.Size own = new Profile.Size("own", 1, 10, 0, 5, 8, 3);
        Group group = new Group("g", null, 1, "core", "batch", "lab", List.of(own), 0, null);
        Workload workload = new Workload(Profile.DEFAULT, group, 1, 0, 0);

        assertThat(Stream.generate(workload::next).limit(20)).allSatisfy(work -> {
            assertThat(work.team()).isEqualTo("core");
            assertThat(work.priority()).isEqualTo(Priority.BATCH);
            assertThat(work.workspace()).isEqualTo("lab");
            assertThat(work.size()).isEqualTo("own");
            assertThat(work.thinkMs()).isZero();
        });
    }

    @Test
    void aBurstIsOneStepOfOneAgent() {
        Group group = new Group("g", 1, null, null, null, null, List.of(), null, new Bursts(47, 3));
        Workload workload = new Workload(Profile.DEFAULT, group, 1, 0, 0);

        assertThat(Stream.generate(workload::step).limit(7).map(List::size)).containsExactly(1, 1, 47, 1, 1, 47, 1);
    }

    private static List<Work> calls(long seed, int process, int agent, int count) {
        Workload workload = new Workload(Profile.DEFAULT, seed, process, agent);
        return Stream.generate(workload::next).limit(count).toList();
    }
}
