package io.sluice.server.permit;

import io.sluice.Call;
import io.sluice.server.problem.Problem;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A call as it is put together; the client's own checks, told with the member they are about. */
final class Building {
    private Call call;

    Building(Call call) {
        this.call = call;
    }

    <T> void with(String path, @Nullable T value, BiFunction<Call, T, Call> change) {
        if (value != null) {
            call = checked(path, value, given -> change.apply(call, given));
        }
    }

    Call done() {
        return call;
    }

    static <T, R> R checked(String path, T value, Function<T, R> reading) {
        try {
            return reading.apply(value);
        } catch (IllegalArgumentException e) {
            // The path names the member; what Java calls it is not what its caller does.
            throw Problem.invalid(
                    path, String.valueOf(e.getMessage()).replaceFirst("^[a-z]+[A-Z][A-Za-z]* (?=must )", ""));
        }
    }
}
