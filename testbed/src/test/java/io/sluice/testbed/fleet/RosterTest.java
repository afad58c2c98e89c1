package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RosterTest {
    @Test
    void groupsAreDealtOutEvenly() {
        assertThat(names(List.of(group("A", 4, null), group("B", 2, null)), 6)).isEqualTo("ABAABA");
    }

    @Test
    void sharesDivideWhatNumbersLeave() {
        // 10 of 12 are left: 7.5 and 2.5, and the half goes to the earlier.
        assertThat(Roster.counts(List.of(group("A", 2, null), group("B", null, 3), group("C", null, 1)), 12))
                .containsExactly(2, 8, 2);
    }

    @Test
    void everyProcessGetsAboutTheSameMix() {
        String fleet = names(List.of(group("A", null, 1), group("B", null, 2), group("C", null, 2)), 200);

        for (int process = 0; process < 8; process++) {
            String its = fleet.substring(process * 25, process * 25 + 25);
            assertThat(its.chars().filter(c -> c == 'A').count()).isEqualTo(5);
            assertThat(its.chars().filter(c -> c == 'B').count()).isEqualTo(10);
        }
    }

    @Test
    void withoutGroupsEverybodyIsAlike() {
        assertThat(Roster.of(List.of(), 3)).containsOnly(Group.EVERYBODY).hasSize(3);
    }

    @Test
    void groupsThatDoNotFitTheFleetAreSaid() {
        assertThatThrownBy(() -> Roster.of(List.of(group("A", 7, null)), 6))
                .hasMessage("groups: their agents add up to 7, the fleet has 6 (processes x agents)");
        assertThatThrownBy(() -> Roster.of(List.of(group("A", 5, null)), 6)).hasMessageContaining("add up to 5");
        assertThatThrownBy(() -> Roster.of(List.of(group("A", 6, null), group("B", null, 1)), 6))
                .hasMessageContaining("add up to 6");
        assertThatThrownBy(() -> Roster.of(List.of(group("A", null, 9), group("B", null, 1)), 3))
                .hasMessage("groups: B gets none of 3 agents");
    }

    private static String names(List<Group> groups, int agents) {
        return Roster.of(groups, agents).stream().map(Group::name).collect(Collectors.joining());
    }

    private static Group group(String name, @Nullable Integer agents, @Nullable Integer share) {
        return new Group(name, agents, share, null, null, null, List.of(), null, null);
    }
}
