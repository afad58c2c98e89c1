package io.sluice.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.sluice.Sluice;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AddressTest {

    /** What a typing error made of the address stood in the error, with the password, in consoles and logs. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://user:secretpw@host:99999999",
                "redis://user:secretpw@ho st",
                "redis://user:secretpw@[::1",
                "redis://user:secretpw",
                "redis://user:secret%zzpw@host",
                "redis://user:secretpw@host/secretpw",
                "redis-sentinel://user:secretpw@",
                "rediss://secretpw@host:secretpw",
            })
    void anAddressThatIsNoneIsRefusedWithoutAWordOfIt(String address) {
        IllegalArgumentException no =
                catchThrowableOfType(IllegalArgumentException.class, () -> Sluice.connect(address));

        assertThat(no).as("refused").isNotNull();
        StringWriter all = new StringWriter();
        no.printStackTrace(new PrintWriter(all));
        assertThat(all.toString()).contains("redis://user:password@host:port").doesNotContain("secret", "zzpw");
    }

    @Test
    void whereItIsWrongIsToldWhereThatIsKnown() {
        IllegalArgumentException no =
                catchThrowableOfType(IllegalArgumentException.class, () -> Address.of("redis://user:pw@ho st"));

        assertThat(no).hasMessageContaining("Illegal character in authority at character");
    }
}
