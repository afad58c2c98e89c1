package io.sluice.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import java.net.ConnectException;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The driver's answers to a connect are those that it was seen to give. */
class ConnectionTest {
    private final Exception closed = new RedisConnectionException("Connection closed prematurely");
    private final Exception gone = new IllegalStateException("RedisHandshakeHandler not registered");
    private final Exception refused = new RedisCommandExecutionException("WRONGPASS invalid username-password pair");

    private final Deque<Exception> answers = new ArrayDeque<>();

    private String connected() {
        if (answers.isEmpty()) {
            return "connected";
        }
        throw new RedisConnectionException("Unable to connect", answers.remove());
    }

    @Test
    void aReasonThatTheDriverLostIsAskedForAgain() {
        answers.addAll(List.of(closed, gone, closed, refused));
        assertThatThrownBy(() -> Connection.connect(this::connected)).hasRootCause(refused);
        assertThat(answers).isEmpty();
    }

    @Test
    void aReasonIsNotAskedForTwice() {
        answers.addAll(List.of(new ConnectException("Connection refused"), refused));
        assertThatThrownBy(() -> Connection.connect(this::connected)).hasRootCauseInstanceOf(ConnectException.class);
        assertThat(answers).containsExactly(refused);
    }

    @Test
    void aPeerThatOnlyClosesIsNotAskedForEver() {
        answers.addAll(Collections.nCopies(100, closed));
        assertThatThrownBy(() -> Connection.connect(this::connected)).hasRootCause(closed);
        assertThat(answers).hasSize(90);
    }

    @Test
    void aConnectionThatWasOnlyCutOnceIsTaken() {
        answers.add(closed);
        assertThat(Connection.connect(this::connected)).isEqualTo("connected");
    }
}
