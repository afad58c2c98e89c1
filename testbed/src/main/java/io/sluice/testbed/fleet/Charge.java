package io.sluice.testbed.fleet;

import io.sluice.Permit;

/** What a call was charged in the end, in requests and LLM tokens, over all its tries. */
public record Charge(long requests, long input, long cacheRead, long cacheWrite, long output) {
    static final Charge NOTHING = new Charge(0, 0, 0, 0, 0);

    static Charge of(Permit.Reserved charged) {
        return new Charge(
                charged.requests(), charged.input(), charged.cacheRead(), charged.cacheWrite(), charged.output());
    }

    Charge plus(Charge other) {
        return new Charge(
                requests + other.requests,
                input + other.input,
                cacheRead + other.cacheRead,
                cacheWrite + other.cacheWrite,
                output + other.output);
    }
}
