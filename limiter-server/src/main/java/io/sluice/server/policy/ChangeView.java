package io.sluice.server.policy;

import com.fasterxml.jackson.annotation.JsonRawValue;
import io.sluice.Admin;
import io.sluice.InvalidPolicyException.Problem;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a policy changed, or would change.
 *
 * @param version in force afterwards
 * @param same whether it is the content that was in force
 */
record ChangeView(long version, boolean same, List<Difference> changes, List<Problem> warnings) {

    static ChangeView of(Admin.Change change) {
        return new ChangeView(
                change.version(),
                change.same(),
                change.changes().stream().map(Difference::of).toList(),
                change.warnings());
    }

    /** From and to are the values as they stand in the policy; null where there is none. */
    record Difference(
            String path,
            @JsonRawValue @Nullable String from,
            @JsonRawValue @Nullable String to,
            String about) {
        static Difference of(Admin.Difference difference) {
            return new Difference(difference.path(), difference.from(), difference.to(), difference.about());
        }
    }
}
