package io.sluice.server.config;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * What can be configured under {@code sluice.*}; each also as an environment variable, such as {@code SLUICE_REDIS}.
 *
 * @param redis where the budgets are: {@code redis://}, {@code rediss://} or {@code redis-sentinel://}; a cluster is recognised
 * @param redisUser of Redis's ACL; default the one in the URI
 * @param redisPassword of that user; default the one in the URI
 * @param redisAuthority certificates (PEM) that vouch for a {@code rediss://} server
 * @param redisTimeout how long Redis may take to answer a command: 10 ms to 10 s
 * @param ioThreads that serve connections; the ones to Redis run on the first of them: 1 to 64
 * @param workers threads for policies, reports and large bodies: 1 to 64
 * @param host the name of this process in the fleet; default a fresh one
 * @param policies a directory of policy files, installed and watched; default none
 * @param tokens the file of who may call; default none, and then this server listens on loopback only
 * @param openMetrics whether metrics may be read without a token
 * @param upstreams hosts that a policy may name as its upstream
 * @param failuresPerMinute failed authentications from one address a minute before they are answered 429: 1 to 10,000
 * @param secureCookie whether the page's cookie goes over TLS only: set where a proxy ends TLS
 * @param oidcPrefix of the claims that say who a caller is, such as {@code sluice_role}
 */
@Validated
@ConfigurationProperties("sluice")
public record Settings(
        @DefaultValue("redis://localhost:6379") @NotBlank String redis,
        @Nullable String redisUser,
        @Nullable String redisPassword,
        @Nullable Path redisAuthority,
        @DefaultValue("250ms") Duration redisTimeout,
        @DefaultValue("1") @Min(1) @Max(64) int ioThreads,
        @DefaultValue("4") @Min(1) @Max(64) int workers,
        @Nullable String host,
        @Nullable Path policies,
        @Nullable Path tokens,
        @DefaultValue("false") boolean openMetrics,

        @DefaultValue({"api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com", "openrouter.ai"})
        List<String> upstreams,

        @DefaultValue("10") @Min(1) @Max(10_000) int failuresPerMinute,
        @DefaultValue("false") boolean secureCookie,
        @DefaultValue("sluice_") String oidcPrefix) {

    /** Without what is secret. */
    @Override
    public String toString() {
        return "Settings[policies=" + policies + ", tokens=" + tokens + ", upstreams=" + upstreams + "]";
    }
}
