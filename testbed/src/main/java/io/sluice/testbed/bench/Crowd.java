package io.sluice.testbed.bench;

import io.sluice.testbed.bench.ScriptedProject.Asker;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/** Whose calls stand in a line. */
enum Crowd {
    FORTY_AGENTS("of 40 agents"),
    DISTINCT("each of another agent"),
    CAPPED("9,900 of a capped agent first");

    static final int HOSTS = 4;

    /** Of {@link #CAPPED}, who others are: the last part of a hundred. */
    static final int OTHERS_PERCENT = 1;

    private static final List<String> TEAMS = List.of("research", "product");
    private static final List<String> LETTERS = List.of("i", "n", "b");
    private static final List<Integer> WEIGHTS = List.of(16, 4, 1);
    private static final String CAPPED_AGENT = "host-0/capped";

    final String label;

    Crowd(String label) {
        this.label = label;
    }

    /**
     * The next call to stand in line, of one of six flows.
     *
     * @param number counts the calls of a line
     */
    Asker next(int number, Random random) {
        int agent = this == FORTY_AGENTS ? random.nextInt(40) : number;
        return call(number, "host-" + agent % HOSTS + "/agent-" + agent, agent % HOSTS, random);
    }

    /** A call of the one agent whose cap is reached, wherever it runs and whatever flow it is of. */
    static Asker ofCapped(int number, Random random) {
        return call(number, CAPPED_AGENT, number % HOSTS, random);
    }

    static String host(int number) {
        return "bench-host-" + number;
    }

    private static Asker call(int number, String agent, int host, Random random) {
        String team = TEAMS.get(random.nextInt(TEAMS.size()));
        int priority = random.nextInt(LETTERS.size());
        return new Asker(
                id(number, random),
                host(host),
                agent,
                team + "|" + LETTERS.get(priority),
                WEIGHTS.get(priority),
                List.of("p", "c:" + StandingLine.CLASS, "t:" + team, "a:" + agent));
    }

    /** 32 characters. */
    static String id(int number, Random random) {
        return String.format(Locale.ROOT, "%08x%016x%08x", random.nextInt(), random.nextLong(), number);
    }
}
