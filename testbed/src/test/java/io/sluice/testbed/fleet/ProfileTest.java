package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProfileTest {
    @TempDir
    private Path directory;

    @Test
    void readsWhatTheJavadocSays() throws IOException {
        Profile profile = load("""
                model: claude-haiku-4-5
                think_ms: 50
                sizes:
                  - {name: one, share: 1, input: 10, cache_read: 20, output: 30, max_output: 40, duration_ms: 50}
                priorities: {interactive: 1, batch: 3}
                teams: {core: 1}
                """);

        assertThat(profile.model()).isEqualTo("claude-haiku-4-5");
        assertThat(profile.sizes()).containsExactly(new Profile.Size("one", 1, 10, 20, 30, 40, 50));
        assertThat(profile.priorities()).containsEntry("batch", 3);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {}                                                                   | at least one size
            {sizes: [{name: a, share: 0, max_output: 1}]}                        | share of size a
            {sizes: [{name: a, share: 1}]}                                       | max_output below 1
            {sizes: [{name: a, share: 1, max_output: 1}], spread: 2}             | spread must be 0 to 0.9
            {sizes: [{name: a, share: 1, max_output: 1}], priorities: {fast: 1}} | got 'fast'
            {size: []}                                                           | size
            {sizes: [}                                                           | profile
            """)
    void saysWhatIsWrongInOneLine(String text, String words) {
        assertThatThrownBy(() -> load(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(words);
    }

    @Test
    void readsGroupsBurstsAndStagger() throws IOException {
        Profile profile = load("""
                sizes: [{name: one, share: 1, max_output: 40}]
                groups:
                  - {name: fan, agents: 2, team: core, priority: batch, workspace: lab, think_ms: 9, bursts: {calls: 47, every: 3}}
                  - {share: 1, sizes: [{name: two, share: 1, max_output: 80}]}
                bursts: {calls: 5, every: 1}
                stagger: {process_ms: 250, agent_ms: 40}
                starved_after_ms: 2000
                """);

        assertThat(profile.groups().get(0))
                .isEqualTo(new Group("fan", 2, null, "core", "batch", "lab", List.of(), 9, new Bursts(47, 3)));
        assertThat(profile.groups().get(1).name()).isEqualTo("#2");
        assertThat(profile.groups().get(1).sizes()).containsExactly(new Profile.Size("two", 1, 0, 0, 0, 80, 0));
        assertThat(profile.bursts()).isEqualTo(new Bursts(5, 1));
        assertThat(profile.stagger().startMs(2, 3)).isEqualTo(620);
        assertThat(profile.starvedMs()).isEqualTo(2_000);
    }

    @Test
    void whoSaysNothingNewGetsWhatThereWas() throws IOException {
        Profile profile = load("sizes: [{name: one, share: 1, max_output: 40}]");

        assertThat(profile.groups()).isEmpty();
        assertThat(profile.bursts()).isNull();
        assertThat(profile.stagger()).isEqualTo(Stagger.NONE);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            size: []                                   | unknown key size ([]), known are bursts, groups, model,
            bursts: {call: 47}                         | unknown key bursts.call (47), known are calls, every
            groups: [{share: 1}, {share: 1, teem: a}]  | unknown key groups[1].teem ("a"), known are agents,
            groups: [{share: 1, sizes: [{nam: x}]}]    | unknown key groups[0].sizes[0].nam ("x"), known are cache_read,
            groups: [{share: 1, agents: 2}]            | groups[0]: a group has either agents or share, got agents 2 and share 1
            groups: [{team: a}]                        | groups[0]: a group has either agents or share, got agents null and share null
            groups: [{share: 0}]                       | groups[0]: share of a group must be 1 or more, got 0
            groups: [{agents: -1}]                     | groups[0]: agents of a group must be 1 or more, got -1
            groups: [{share: 1.5}]                     | groups[0].share is 1.5, not a whole number
            groups: [{share: 1, priority: fast}]       | groups[0]: priority must be interactive, normal or batch, got 'fast'
            groups: [{share: 1, team: a b}]            | groups[0]: team must be 1 to 128 characters of [A-Za-z0-9._:/@-], got 'a b'
            groups: [{share: 1, workspace: a b}]       | groups[0]: workspace must be 1 to 128 characters
            groups: [{share: 1}]                       | group #1 needs at least one size, and so does the profile
            groups: [4]                                | groups[0] is 4, not keys with values
            groups: {share: 1}                         | groups is {"share":1}, not a list
            bursts: 47                                 | bursts is 47, not keys with values
            bursts: {calls: 1, every: 2}               | bursts: calls must be 2 to 1000, got 1
            bursts: {calls: 47}                        | bursts: every must be 1 to 1000000, got 0
            stagger: {agent_ms: -4}                    | stagger: agent_ms must be 0 to 600000, got -4
            stagger: {process_ms: 1, process_ms: 2}    | Duplicate Object property "process_ms" (line 1)
            think_ms: soon                             | think_ms is "soon", not a whole number
            spread: wide                               | spread is "wide", not a number
            priorities: {batch: much}                  | priorities.batch is "much", not a whole number
            {sizes: [{name: a, share: 1, max_output: 1}], teams: {a b: 1}} | team must be 1 to 128 characters
            3                                          | a profile is 3, not keys with values
            sizes: [}                                  | (line 1)
            """)
    void namesKeyAndValueOfWhatIsWrong(String text, String words) {
        assertThatThrownBy(() -> load(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("profile " + directory)
                .hasMessageContaining(words)
                .message()
                .hasLineCount(1);
    }

    @Test
    void aBoundForStarvationIsNotZero() {
        assertThatThrownBy(() -> load("{sizes: [{name: a, share: 1, max_output: 1}], starved_after_ms: 0}"))
                .hasMessageContaining("starved_after_ms must be 1 or more, got 0");
    }

    @Test
    void readyProfilesAreFoundByName() {
        Profile mixed = Profile.load("mixed");

        assertThat(mixed.groups()).extracting(Group::team).containsOnly("product", "research");
        assertThat(mixed.groups()).extracting(Group::priority).containsOnly("interactive", "normal", "batch");
        // Output within 10 s, whatever the spread.
        assertThat(mixed.sizes())
                .allSatisfy(size ->
                        assertThat(size.durationMs() * (1 + mixed.spread())).isLessThanOrEqualTo(10_000));
        assertThat(Profile.load("bursts").groups().get(0).bursts()).isEqualTo(new Bursts(47, 2));
    }

    @Test
    void aFileThatIsNotThereIsSaidWithTheNamesThereAre() {
        assertThatThrownBy(() -> Profile.load("mixd"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("cannot read profile mixd; ready ones are mixed, bursts");
    }

    private Profile load(String text) throws IOException {
        Path file = directory.resolve("profile.yaml");
        Files.writeString(file, text);
        return Profile.load(file.toString());
    }
}
