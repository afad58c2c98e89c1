package io.sluice.testbed.bench;

import io.sluice.testbed.fleet.Statistics;
import java.util.List;

/**
 * One team's calls of one priority, from every host.
 *
 * @param weight how many times another's share it is due
 * @param input tokens of each call
 * @param floods one a host
 */
record Flow(String name, int weight, long input, List<Flood> floods) {

    /** Who gets more needs more calls in line to have always one there. */
    void start(int depth) {
        floods.forEach(flood -> flood.start(depth * weight));
    }

    /** One more call, from each host in turn. */
    void ask(int number) {
        floods.get(number % floods.size()).ask();
    }

    void count() {
        floods.forEach(Flood::count);
    }

    void stop() {
        floods.forEach(Flood::stop);
    }

    void check() {
        floods.forEach(Flood::check);
    }

    int granted() {
        return floods.stream().mapToInt(Flood::granted).sum();
    }

    int outages() {
        return floods.stream().mapToInt(Flood::outages).sum();
    }

    long tokens() {
        return granted() * input;
    }

    /** The wait of the call in that place among those granted. */
    double waitMs(double percent) {
        List<Long> micros = floods.stream()
                .flatMap(flood -> flood.waits().stream())
                .map(wait -> wait.toNanos() / 1_000)
                .sorted()
                .toList();
        return Statistics.percentile(micros, percent) / 1e3;
    }
}
