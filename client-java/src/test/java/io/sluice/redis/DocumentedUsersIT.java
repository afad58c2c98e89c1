package io.sluice.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random steps of every script by the users that are documented: agents run what agents run, platform installs, viewer
 * inspects. A command that one of them lacks on some path would end the run.
 */
@WithRedis(own = true)
@Timeout(120)
class DocumentedUsersIT {
    private final RedisServer redis;
    private Scripted scripts;

    DocumentedUsersIT(RedisServer redis) {
        this.redis = redis;
    }

    @BeforeEach
    void eachScriptByItsUser() {
        scripts = new Scripted(redis);
        String agents = Documented.user(redis, "agents", scripts.project);
        for (Script script : List.of(Script.ACQUIRE, Script.SETTLE, Script.BEAT, Script.OBSERVE, Script.RIGHTS)) {
            scripts.as(script, agents);
        }
        scripts.as(Script.POLICY, Documented.user(redis, "platform", scripts.project));
        scripts.as(Script.INSPECT, Documented.user(redis, "viewer", scripts.project));
    }

    @AfterEach
    void close() {
        scripts.close();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void withoutALine(long seed) {
        RandomSequencesIT.run(seed, scripts);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void inLine(long seed) {
        LineSequencesIT.run(seed, scripts);
    }

    @Test
    void onHold() {
        HoldSequencesIT.run(1, scripts);
    }

    @ParameterizedTest
    @EnumSource(Rights.Role.class)
    void nothingIsMissing(Rights.Role role) {
        if (role == Rights.Role.INSTALL) {
            scripts.as(Script.RIGHTS, Documented.user(redis, "platform", scripts.project));
        }
        List<Object> reply = scripts.run(Script.RIGHTS, keys(role), List.of(role.label(), scripts.keys.hints("x")));
        assertThat(reply).isEqualTo(List.of("rights", List.of()));
    }

    private Keys keys(Rights.Role role) {
        return role == Rights.Role.TALLY ? scripts.keys.tally(1, 1) : scripts.keys;
    }

    /** Asking changes nothing, whoever asks: not even a key comes into being. */
    @ParameterizedTest
    @EnumSource(Rights.Role.class)
    void askingWritesNothing(Rights.Role role) {
        try (Scripted admin = new Scripted(redis)) {
            Keys keys = role == Rights.Role.TALLY ? admin.keys.tally(1, 1) : admin.keys;
            assertThat(admin.run(Script.RIGHTS, keys, List.of(role.label(), admin.keys.hints("x"))))
                    .isEqualTo(List.of("rights", List.of()));
            assertThat(admin.redis.exists(keys.all())).isZero();
        }
    }
}
