package io.sluice.server.security;

import io.sluice.server.config.Settings;
import io.sluice.server.problem.Problem;
import io.sluice.server.problem.Problems;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.ReactiveAuthenticationManager;
import org.springframework.security.authorization.AuthorizationDecision;
import org.springframework.security.authorization.AuthorizationResult;
import org.springframework.security.config.annotation.web.reactive.EnableWebFluxSecurity;
import org.springframework.security.config.observation.SecurityObservationSettings;
import org.springframework.security.config.web.server.SecurityWebFiltersOrder;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity.AuthorizeExchangeSpec;
import org.springframework.security.core.Authentication;
import org.springframework.security.oauth2.jwt.JwtException;
import org.springframework.security.oauth2.jwt.ReactiveJwtDecoder;
import org.springframework.security.oauth2.server.resource.authentication.BearerTokenAuthenticationToken;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.security.web.server.authentication.AuthenticationWebFilter;
import org.springframework.security.web.server.authorization.AuthorizationContext;
import org.springframework.security.web.server.header.ReferrerPolicyServerHttpHeadersWriter.ReferrerPolicy;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/** Which requests come in. */
@Configuration(proxyBeanMethods = false)
@EnableWebFluxSecurity
@EnableScheduling
class Doors {
    /** Nothing stands in the page itself, nothing comes from elsewhere. */
    private static final String CONTENT = "default-src 'none'; script-src 'self'; style-src 'self'; "
            + "img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
            + "frame-ancestors 'none'";

    private final Settings settings;
    private final Tokens tokens;
    private final FailedLogins failures;
    private final Problems problems;
    private final @Nullable ReactiveJwtDecoder decoder;

    Doors(
            Settings settings,
            Tokens tokens,
            FailedLogins failures,
            Problems problems,
            ObjectProvider<ReactiveJwtDecoder> decoder) {
        this.settings = settings;
        this.tokens = tokens;
        this.failures = failures;
        this.problems = problems;
        this.decoder = decoder.getIfAvailable();
    }

    /** Whether no token is asked for. */
    boolean open() {
        return !tokens.configured() && decoder == null;
    }

    /** Spring would time each of its filters in each request: a fifth of what a permit takes, and nobody asked for it. */
    @Bean
    SecurityObservationSettings untimed() {
        return SecurityObservationSettings.noObservations();
    }

    @Bean
    SecurityWebFilterChain chain(ServerHttpSecurity http) {
        AuthenticationWebFilter ours = new AuthenticationWebFilter((ReactiveAuthenticationManager) Mono::just);
        ours.setServerAuthenticationConverter(this::authentication);
        ours.setAuthenticationFailureHandler((at, e) -> failed(at.getExchange()));
        if (decoder != null) {
            ReactiveJwtDecoder decodes = token ->
                    decoder.decode(token).onErrorMap(e -> e instanceof JwtException ? e : new JwtException("", e));
            http.oauth2ResourceServer(oidc -> oidc.bearerTokenConverter(Doors::foreignToken)
                    .authenticationFailureHandler((at, e) -> e instanceof AuthenticationServiceException
                            ? problems.write(at.getExchange(), unreachable())
                            : failed(at.getExchange()))
                    .jwt(jwt -> jwt.jwtDecoder(decodes)
                            .jwtAuthenticationConverter(token -> Mono.fromCallable(
                                    () -> new CallerAuthentication(Oidc.caller(token, settings.oidcPrefix()))))));
        }
        return http.csrf(ServerHttpSecurity.CsrfSpec::disable) // SameSite does that
                .httpBasic(ServerHttpSecurity.HttpBasicSpec::disable)
                .formLogin(ServerHttpSecurity.FormLoginSpec::disable)
                .logout(ServerHttpSecurity.LogoutSpec::disable)
                .requestCache(ServerHttpSecurity.RequestCacheSpec::disable)
                .headers(headers -> headers.contentSecurityPolicy(csp -> csp.policyDirectives(CONTENT))
                        .referrerPolicy(referrer -> referrer.policy(ReferrerPolicy.NO_REFERRER)))
                .addFilterBefore(sameSite(), SecurityWebFiltersOrder.AUTHENTICATION)
                .addFilterAt(ours, SecurityWebFiltersOrder.AUTHENTICATION)
                .authorizeExchange(this::rules)
                .exceptionHandling(no -> no.authenticationEntryPoint((exchange, e) -> problems.write(exchange, who()))
                        .accessDeniedHandler((exchange, e) ->
                                problems.write(exchange, Problem.forbidden("this token may not do that here"))))
                .build();
    }

    private void rules(AuthorizeExchangeSpec rules) {
        rules.pathMatchers("/v1/login").permitAll();
        rules.pathMatchers("/v1/**").access(this::mayCall);
        rules.pathMatchers("/actuator/health/**", "/actuator/health").permitAll();
        rules.pathMatchers("/actuator/**").access(this::mayMeasure);
        // The page, its scripts and the description of this API: nothing of anybody's stands in them.
        rules.anyExchange().permitAll();
    }

    private Mono<AuthorizationResult> mayCall(Mono<Authentication> who, AuthorizationContext at) {
        ServerHttpRequest request = at.getExchange().getRequest();
        return decided(who.map(known -> known.getPrincipal() instanceof Caller caller
                && Access.allows(
                        caller,
                        request.getMethod(),
                        request.getPath().pathWithinApplication().value())));
    }

    private Mono<AuthorizationResult> mayMeasure(Mono<Authentication> who, AuthorizationContext at) {
        if (settings.openMetrics()) {
            return Mono.just(new AuthorizationDecision(true));
        }
        return decided(who.map(known -> known.getPrincipal() instanceof Caller caller
                && caller.role() != Role.AGENT
                && caller.projects().contains("*")));
    }

    /** Of nobody: no. An answer that stays out would leave it to the rules that follow, and the last of them lets everybody in. */
    private static Mono<AuthorizationResult> decided(Mono<Boolean> allowed) {
        return allowed.defaultIfEmpty(false).map(AuthorizationDecision::new);
    }

    private WebFilter sameSite() {
        return (exchange, chain) -> {
            String fault = SameSite.fault(exchange.getRequest(), open());
            return fault == null ? chain.filter(exchange) : problems.write(exchange, Problem.forbidden(fault));
        };
    }

    /** Who a request comes from; empty where it does not say. */
    private Mono<Authentication> authentication(ServerWebExchange exchange) {
        if (open()) {
            return Mono.just(new CallerAuthentication(Caller.LOCAL));
        }
        ServerHttpRequest request = exchange.getRequest();
        String bearer = Credentials.bearer(request);
        if (Credentials.hasAuthorization(request) && (bearer == null || !isForUs(bearer))) {
            return decoder == null || bearer == null
                    ? Mono.error(new BadCredentialsException("unknown"))
                    : Mono.empty();
        }
        String token = bearer != null ? bearer : Credentials.cookie(request);
        if (token == null) {
            return Mono.empty();
        }
        return tokens.caller(token)
                .<Mono<Authentication>>map(caller -> Mono.just(new CallerAuthentication(caller)))
                .orElseGet(() -> Mono.error(new BadCredentialsException("unknown")));
    }

    private static boolean isForUs(String bearer) {
        return bearer.startsWith("slc_");
    }

    private static Mono<Authentication> foreignToken(ServerWebExchange exchange) {
        String bearer = Credentials.bearer(exchange.getRequest());
        return bearer == null || isForUs(bearer) ? Mono.empty() : Mono.just(new BearerTokenAuthenticationToken(bearer));
    }

    /** An unknown token: 401, and where that happens too often 429. A page may be looked at with a cookie that is no more. */
    private Mono<Void> failed(ServerWebExchange exchange) {
        return problems.write(exchange, failure(exchange.getRequest(), failures));
    }

    static Problem failure(ServerHttpRequest request, FailedLogins failures) {
        InetSocketAddress from = request.getRemoteAddress();
        String address = from == null || from.getAddress() == null
                ? "-"
                : from.getAddress().getHostAddress();
        Optional<Duration> wait = failures.failed(address);
        return wait.isEmpty()
                ? who()
                : new Problem(429, "too_many_failures", "too many failed authentications from " + address)
                        .retryAfter(wait.get());
    }

    /** Nobody can say whether the token is good: not the fault of who came with it. */
    private static Problem unreachable() {
        return new Problem(503, "outage", "the identity provider does not answer")
                .retryAfter(Duration.ofSeconds(1))
                .with("reason", "identity_provider");
    }

    private static Problem who() {
        return new Problem(401, "unauthenticated", "a known token is needed: Authorization: Bearer slc_…")
                .header("WWW-Authenticate", "Bearer");
    }
}
