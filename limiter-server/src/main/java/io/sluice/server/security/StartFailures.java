package io.sluice.server.security;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says why the server does not start, and what to do. */
class StartFailures extends AbstractFailureAnalyzer<LoopbackRule.UnsafeAddressException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, LoopbackRule.UnsafeAddressException cause) {
        return new FailureAnalysis(
                cause.getMessage(),
                "Name a tokens file (sluice.tokens, SLUICE_TOKENS), or leave server.address out to listen on loopback only.",
                cause);
    }
}
