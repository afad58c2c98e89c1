package io.sluice;

import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An attempt under way: reads its answer, and knows as much of it as came, whatever its sender does. */
final class LiveAttempt implements Attempt {
    private final Permit permit;
    private final Call call;
    private final Profile profile;
    private final int number;
    private final int left;
    private final InstantSource clock;
    private final Sends sends = new Sends();

    private volatile @Nullable Response answer;
    private volatile @Nullable StreamedAnswer stream;

    LiveAttempt(Permit permit, Call call, Profile profile, int number, int left, InstantSource clock) {
        this.permit = permit;
        this.call = call;
        this.profile = profile;
        this.number = number;
        this.left = left;
        this.clock = clock;
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public Permit permit() {
        return permit;
    }

    @Override
    public int left() {
        return left;
    }

    @Override
    public void sent(Map<String, List<String>> headers) {
        sends.told(headers);
        permit.sent(headers);
    }

    /** How many requests it took. */
    int requests() {
        return sends.count();
    }

    @Override
    public Response answered(int status, Map<String, List<String>> headers, String body) {
        Reading reading = profile.read(head(status, headers).body(body));
        Response response = new Response(status, headers, body, reading);
        answer = response;
        return response;
    }

    @Override
    public Stream stream(int status, Map<String, List<String>> headers) {
        return streamed(status, headers, null);
    }

    @Override
    public Stream stream(int status, Map<String, List<String>> headers, Consumer<byte[]> consumer) {
        return streamed(status, headers, consumer);
    }

    private Stream streamed(int status, Map<String, List<String>> headers, @Nullable Consumer<byte[]> consumer) {
        boolean served = status >= 200 && status < 300;
        AnswerStream reader = served ? profile.stream(head(status, headers)) : null;
        StreamedAnswer streamed = new StreamedAnswer(this, status, headers, reader, served ? consumer : null);
        stream = streamed;
        return streamed;
    }

    private Answer head(int status, Map<String, List<String>> headers) {
        Answer head = Answer.of(status, clock.instant()).headers(headers).model(call.model);
        head = call.serviceTier == null ? head : head.serviceTier(call.serviceTier);
        return call.speed == null ? head : head.speed(call.speed);
    }

    /** As much of its answer as came; {@code null} if nothing did. */
    @Nullable
    Response soFar() {
        StreamedAnswer streamed = stream;
        return answer == null && streamed != null ? streamed.end() : answer;
    }

    /** Whether text of the answer went to a consumer. */
    boolean handedOn() {
        StreamedAnswer streamed = stream;
        return streamed != null && streamed.handedOn();
    }
}
