package io.sluice.server.config;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says why the server does not start, and what to do. */
class StartFailures extends AbstractFailureAnalyzer<BadSetting> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, BadSetting cause) {
        return new FailureAnalysis(cause.getMessage(), cause.remedy(), cause);
    }
}
