package io.sluice.testbed.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class CommandStatsTest {
    private static final CommandStats STATS = CommandStats.parse("""
            # Commandstats\r
            cmdstat_get:calls=30,usec=60,usec_per_call=2.00,rejected_calls=0,failed_calls=0\r
            cmdstat_eval:calls=10,usec=100,usec_per_call=10.00,rejected_calls=0,failed_calls=0\r
            cmdstat_evalsha:calls=2,usec=7,usec_per_call=3.50,rejected_calls=0,failed_calls=0\r
            cmdstat_config|resetstat:calls=1,usec=50,usec_per_call=50.00,rejected_calls=0,failed_calls=0\r
            """);

    @Test
    void readsCallsAndTime() {
        assertThat(STATS.command("get")).isEqualTo(new CommandStats.Command(30, 60));
        assertThat(STATS.command("config|resetstat").micros()).isEqualTo(50);
        assertThat(STATS.command("set").calls()).isZero();
    }

    @Test
    void scriptsAreRunByTextOrByHash() {
        assertThat(STATS.scriptCalls()).isEqualTo(12);
        assertThat(STATS.scriptMicros()).isEqualTo(107);
    }

    /** 30 GET of 2 µs, 12 of them made by the scripts and counted with these. */
    @Test
    void whatAScriptCalledIsNotCountedAgain() {
        assertThat(STATS.microsOutsideScripts("get")).isEqualTo(36);
        assertThat(STATS.microsOutsideScripts("set")).isZero();
        assertThat(STATS.microsOutsideScripts("config|resetstat")).isZero();
    }

    /** A script of 5 µs made two GET and a ZADD; the first INFO is counted once it has answered. */
    @Test
    void whatOneScriptCostIsTheDifference() {
        CommandStats before = CommandStats.parse("""
                cmdstat_evalsha:calls=7,usec=70,usec_per_call=10.00\r
                cmdstat_get:calls=30,usec=60,usec_per_call=2.00\r
                """);
        CommandStats after = CommandStats.parse("""
                cmdstat_evalsha:calls=8,usec=75,usec_per_call=9.37\r
                cmdstat_get:calls=32,usec=62,usec_per_call=1.93\r
                cmdstat_zadd:calls=1,usec=1,usec_per_call=1.00\r
                cmdstat_info:calls=1,usec=40,usec_per_call=40.00\r
                """);

        assertThat(after.since(before)).isEqualTo(new ScriptCost(5, 3));
        assertThatThrownBy(() -> after.since(after)).hasMessage("one script was to be measured, 0 ran");
    }

    @Test
    void theMainThreadWorksInUserAndInSystemTime() {
        assertThat(RedisUnderTest.mainThreadMicros("""
                        # CPU\r
                        used_cpu_sys:9.000000\r
                        used_cpu_user:9.000000\r
                        used_cpu_sys_main_thread:0.250000\r
                        used_cpu_user_main_thread:1.500000\r
                        """)).isEqualTo(1_750_000);
    }
}
