package io.sluice.provider;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BytesTest {

    @Test
    void holdsUpToItsBoundAndThenNothing() {
        Bytes bytes = new Bytes(10_000);
        byte[] chunk = new byte[2_500];

        for (int i = 0; i < 4; i++) {
            bytes.add(chunk, 0, chunk.length);
        }
        assertThat(bytes.toArray()).hasSize(10_000);
        assertThat(bytes.isGivenUp()).isFalse();

        bytes.add(chunk, 0, 1);
        bytes.add(chunk, 0, 1);
        assertThat(bytes.isGivenUp()).isTrue();
        assertThat(bytes.isEmpty()).isFalse();
        assertThat(bytes.toArray()).isEmpty();
    }

    @Test
    void startsAfreshOnceEmptied() {
        Bytes bytes = new Bytes(3);
        bytes.add(new byte[] {1, 2, 3, 4}, 0, 4);

        bytes.clear();
        bytes.add(new byte[] {1, 2, 3, 4}, 1, 3);

        assertThat(bytes.toArray()).containsExactly(2, 3);
    }
}
