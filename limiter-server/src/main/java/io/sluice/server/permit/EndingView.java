package io.sluice.server.permit;

import io.sluice.Desk.Advice;
import io.sluice.Permit.Ending;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How a permit ended. */
record EndingView(String ended, boolean already, PermitView.Quantities charged) {

    static EndingView of(Ending ending) {
        return new EndingView(
                ending.ended().name().toLowerCase(Locale.ROOT),
                ending.already(),
                PermitView.Quantities.of(ending.charged()));
    }

    /** The same with what to do now. */
    record Settled(String ended, boolean already, PermitView.Quantities charged, Next advice) {
        static Settled of(Ending ending, Advice advice) {
            EndingView view = EndingView.of(ending);
            return new Settled(view.ended, view.already, view.charged, Next.of(advice));
        }
    }

    /** {@code action} is done, retry (wait {@code wait_ms}, then ask for a new permit) or stop. */
    record Next(
            String action,
            @Nullable Long waitMs,
            @Nullable String kind,
            @Nullable String scope) {
        static Next of(Advice advice) {
            return new Next(
                    advice.action().name().toLowerCase(Locale.ROOT),
                    advice.pause() == null ? null : advice.pause().toMillis(),
                    advice.kind() == null ? null : advice.kind().label(),
                    advice.scope() == null ? null : advice.scope().label());
        }
    }
}
