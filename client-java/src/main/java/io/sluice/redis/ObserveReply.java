package io.sluice.redis;

import io.sluice.Store.Effect;
import io.sluice.Store.Learned;
import io.sluice.Store.Observation;
import io.sluice.Store.Observed;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What {@code observe} answers, and what {@code inspect} tells of what was learned: as strict as {@link Replies}. */
final class ObserveReply {
    private static final long WHOLE = 1_000_000;

    private ObserveReply() {}

    static Observed read(@Nullable List<Object> reply, List<Observation> told) {
        Replies r = new Replies(Script.OBSERVE, reply);
        if (r.code().equals("lost")) {
            return r.sized(2, new Observed.Lost(r.text(1)));
        }
        if (!r.code().equals("observed")) {
            throw r.bad();
        }
        Replies list = r.list(3).sized(told.size());
        List<Effect> effects = new ArrayList<>(told.size());
        for (int i = 0; i < told.size(); i++) {
            effects.add(effect(told.get(i), list.list(i)));
        }
        return r.sized(4, new Observed.Done(r.positive(1), r.stamp(2), effects));
    }

    private static Effect effect(Observation told, Replies r) {
        if (told instanceof Observation.Hold) {
            return r.sized(1, new Effect.Holding(r.orUnknown(0)));
        }
        if (told instanceof Observation.Left) {
            return r.sized(3, new Effect.Tightened(r.flag(0), r.flag(1), r.flag(2)));
        }
        if (told instanceof Observation.Level) {
            return r.sized(2, new Effect.Corrected(r.flag(0), r.whole(1)));
        }
        if (told instanceof Observation.Learn learn) {
            Learned ofClass = known(learn.modelClass(), "-", r, 0);
            return r.sized(8, new Effect.Knows(ofClass, known(learn.modelClass(), learn.agent(), r, 4)));
        }
        return r.sized(1, new Effect.Changed(r.flag(0)));
    }

    /** The classes, or the one class and agent, that {@code inspect learned} was asked for; none of a project without state. */
    static List<Learned> learned(@Nullable List<Object> reply) {
        Replies r = new Replies(Script.INSPECT, reply);
        if (r.code().equals("lost")) {
            return List.of();
        }
        if (!r.code().equals("learned")) {
            throw r.bad();
        }
        Replies list = r.sized(2).list(1);
        List<Learned> all = new ArrayList<>(list.size());
        for (int i = 0; i < list.size(); i++) {
            Replies one = list.list(i).sized(6);
            all.add(known(one.text(0), one.text(1), one, 2));
        }
        return all;
    }

    private static Learned known(String modelClass, String agent, Replies r, int at) {
        Learned known =
                new Learned(modelClass, agent, r.number(at), r.number(at + 1), r.number(at + 2), r.number(at + 3));
        if (known.cachedShare() > WHOLE || (known.output() == 0) != (known.samples() == 0)) {
            throw r.bad();
        }
        return known;
    }
}
