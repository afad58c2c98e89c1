package io.sluice.redis;

import io.sluice.Store.Beat;
import io.sluice.Store.BeatAsk;
import io.sluice.Store.News;
import io.sluice.Store.OnHold;
import io.sluice.Store.Place;
import io.sluice.Store.Renewal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What {@code beat} answers, as a record: as strict as {@link Replies}. */
final class BeatReply {
    private static final int HEAD = 6;

    private BeatReply() {}

    static Beat read(@Nullable List<Object> reply, BeatAsk ask) {
        Replies r = new Replies(Script.BEAT, reply);
        if (r.code().equals("lost")) {
            return r.sized(2, new Beat.Lost(r.text(1)));
        }
        if (!r.code().equals("beat")) {
            throw r.bad();
        }
        return r.sized(
                HEAD + 6,
                new Beat.Alive(
                        r.stamp(1),
                        r.positive(2),
                        r.number(3),
                        r.flag(4),
                        r.orUnknown(5),
                        renewed(r.list(HEAD).sized(ask.renew().size())),
                        places(r.list(HEAD + 1).sized(ask.claims().size()), BeatReply::claim),
                        news(r.list(HEAD + 2)),
                        places(r.list(HEAD + 3).sized(ask.looks().size()), BeatReply::look),
                        holds(r.list(HEAD + 4)),
                        flags(r.list(HEAD + 5).sized(ask.asserts().size()))));
    }

    private static List<Renewal> renewed(Replies list) {
        List<Renewal> renewed = new ArrayList<>(list.size());
        for (int i = 0; i < list.size(); i++) {
            renewed.add(list.number(i) == 2 ? Renewal.UNKNOWN : list.flag(i) ? Renewal.RENEWED : Renewal.LOST);
        }
        return renewed;
    }

    private static List<Boolean> flags(Replies list) {
        List<Boolean> flags = new ArrayList<>(list.size());
        for (int i = 0; i < list.size(); i++) {
            flags.add(list.flag(i));
        }
        return flags;
    }

    private static List<Place> places(Replies list, Function<Replies, Place> read) {
        List<Place> places = new ArrayList<>(list.size());
        for (int i = 0; i < list.size(); i++) {
            places.add(read.apply(list.list(i)));
        }
        return places;
    }

    private static List<OnHold> holds(Replies list) {
        List<OnHold> holds = new ArrayList<>(list.size());
        for (int i = 0; i < list.size(); i++) {
            Replies r = list.list(i).sized(5);
            holds.add(r.onHold(r.text(0), 1, 2));
        }
        return holds;
    }

    private static Place claim(Replies r) {
        return switch (r.code()) {
            case "granted" -> r.sized(5, new Place.Running(r.text(1), r.lease(2), r.positive(3), r.text(4)));
            case "waiting" -> r.sized(1, new Place.InLine(null));
            case "gone" -> r.sized(1, new Place.ToSubmit());
            default -> throw r.bad();
        };
    }

    private static Place look(Replies r) {
        return switch (r.code()) {
            case "waiting" -> r.sized(6, new Place.InLine(r.inLine(1)));
            case "granted" -> r.sized(1, new Place.ToClaim());
            case "again", "gone" -> r.sized(1, new Place.ToSubmit());
            default -> throw r.bad();
        };
    }

    private static List<News> news(Replies r) {
        if (r.size() % 2 != 0) {
            throw r.bad();
        }
        List<News> news = new ArrayList<>(r.size() / 2);
        for (int i = 0; i < r.size(); i += 2) {
            Place place = switch (r.text(i)) {
                case "g" -> new Place.ToClaim();
                case "s" -> new Place.ToSubmit();
                default -> throw r.bad();
            };
            news.add(new News(r.text(i + 1), place));
        }
        return news;
    }
}
