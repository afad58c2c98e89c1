package io.sluice;

import io.sluice.Estimates.Usual;
import io.sluice.Store.Effect;
import io.sluice.Store.Learned;
import io.sluice.Store.Observation.Learn;
import io.sluice.Store.Observation.Outputs;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * What calls of one project use, learned by the whole fleet: what is known of it here, and what this process saw and has not
 * told yet. Told is what was used, added up by class and agent; the answer is what all hosts together know, so whoever uses a
 * class hears of it. Before anything is known calls reserve what they always did.
 */
final class Learning {
    /** Below that the class says more than its agent. */
    static final long SURE = 20;

    private static final int KNOWN = 4_000;
    private static final int UNTOLD = 2_000;

    private final Store store;
    private final String project;

    /** There is something to tell, or to ask. */
    private final Runnable news;

    private final Map<Key, Learned> known = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Learned> eldest) {
            return size() > KNOWN;
        }
    };

    private final Map<Key, Used> untold = new LinkedHashMap<>();
    private @Nullable CompletableFuture<Void> ready;

    /** More is known now. */
    private volatile Runnable listener = () -> {};

    private record Key(String modelClass, String agent) {}

    Learning(Store store, String project, Runnable news) {
        this.store = store;
        this.project = project;
        this.news = news;
    }

    void listener(Runnable more) {
        listener = more;
    }

    /** Completes once what was learned of the classes is known here, or cannot be read now. */
    CompletionStage<Void> ready() {
        CompletableFuture<Void> mine;
        synchronized (this) {
            if (ready != null) {
                return ready;
            }
            mine = new CompletableFuture<>();
            ready = mine;
        }
        read().whenComplete((all, e) -> {
            if (e == null) {
                knows(all);
            }
            mine.complete(null);
        });
        return mine;
    }

    private CompletionStage<List<Learned>> read() {
        try {
            return store.learned(project);
        } catch (RuntimeException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    /** What calls of this class and agent use. What is not known yet of an agent is asked for: the next of its calls has it. */
    Usual usual(String modelClass, @Nullable String agent) {
        Key ofAgent = new Key(modelClass, agent == null ? Policy.NO_NAME : agent);
        Learned one;
        Learned all;
        boolean asks;
        synchronized (this) {
            all = known.get(new Key(modelClass, Policy.NO_NAME));
            one = known.get(ofAgent);
            asks = one == null && !untold.containsKey(ofAgent) && untold.size() < UNTOLD;
            if (asks) {
                untold.put(ofAgent, new Used());
            }
        }
        if (asks) {
            news.run();
        }
        if (all == null) {
            return Usual.UNKNOWN;
        }
        long output = one != null && one.samples() >= SURE ? one.output() : all.output();
        return new Usual(output, all.tokensPerByte(), all.cachedShare());
    }

    /** A call used that much; what the provider did not tell teaches nothing. */
    void used(String modelClass, Call call, Usage usage) {
        Long output = usage.outputTokens();
        Long fresh = usage.inputTokens();
        if (output == null && fresh == null) {
            return;
        }
        synchronized (this) {
            Used used = of(modelClass, call.agent == null ? Policy.NO_NAME : call.agent);
            if (output != null) {
                used.output(output);
            }
            if (fresh != null) {
                long cached = orNone(usage.cacheReadTokens());
                long input = fresh + cached + orNone(usage.cacheWriteTokens());
                used.cached += cached;
                used.input += input;
                // What pictures took of it nobody tells.
                if (call.inputBytes != null && call.inputBytes > 0 && call.attachedTokens == 0) {
                    used.bytes += call.inputBytes;
                    used.bytesTokens += input;
                }
            }
        }
        news.run();
    }

    private static long orNone(@Nullable Long tokens) {
        return tokens == null ? 0 : tokens;
    }

    /** Where too many agents come at once their calls teach what their class uses. */
    private Used of(String modelClass, String agent) {
        Key key = new Key(modelClass, agent);
        boolean room = untold.size() < UNTOLD || untold.containsKey(key);
        return untold.computeIfAbsent(room ? key : new Key(modelClass, Policy.NO_NAME), any -> new Used());
    }

    synchronized boolean hasNews() {
        return !untold.isEmpty();
    }

    /** The first of what is not told yet. From now on it counts as told. */
    synchronized List<Learn> take(int most) {
        List<Learn> taken = new ArrayList<>(Math.min(most, untold.size()));
        Iterator<Map.Entry<Key, Used>> all = untold.entrySet().iterator();
        while (taken.size() < most && all.hasNext()) {
            Map.Entry<Key, Used> one = all.next();
            taken.add(one.getValue().told(one.getKey()));
            all.remove();
        }
        return taken;
    }

    void knows(Effect.Knows told) {
        knows(List.of(told.ofClass(), told.ofAgent()));
        listener.run();
    }

    private synchronized void knows(Collection<Learned> all) {
        all.forEach(one -> known.put(new Key(one.modelClass(), one.agent()), one));
    }

    /** What calls of one class and agent used since it was last told. */
    private static final class Used {
        /** The edges of the scripts' buckets: quarters of octaves up to 2^20. What is between two of them need not be told apart. */
        private static final double[] STEPS = {1, 1.189207115002721, 1.4142135623730951, 1.681792830507429};

        private static final TreeMap<Long, Integer> BUCKETS = new TreeMap<>();

        static {
            for (int k = 0; k <= 80; k++) {
                BUCKETS.putIfAbsent((long) Math.floor(STEPS[k % 4] * (1 << (k / 4))), k);
            }
        }

        private final Map<Integer, Outputs> outputs = new TreeMap<>();
        private long bytes;
        private long bytesTokens;
        private long cached;
        private long input;

        void output(long tokens) {
            Map.Entry<Long, Integer> bucket = BUCKETS.ceilingEntry(tokens);
            outputs.merge(
                    bucket == null ? BUCKETS.size() : bucket.getValue(),
                    new Outputs(tokens, 1),
                    (a, b) -> new Outputs(Math.max(a.tokens(), b.tokens()), a.answers() + b.answers()));
        }

        Learn told(Key key) {
            return new Learn(
                    key.modelClass, key.agent, bytes, bytesTokens, cached, input, List.copyOf(outputs.values()));
        }
    }
}
