package io.sluice.server.security;

import io.sluice.server.config.Settings;
import io.sluice.server.problem.Bodies;
import io.sluice.server.problem.Problem;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.tags.Tag;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseCookie;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** The page's way in. */
@RestController
@Tag(name = "login")
class LoginController {
    private static final Duration COOKIE_LIVES = Duration.ofHours(12);

    private final Settings settings;
    private final Tokens tokens;
    private final FailedLogins failures;
    private final Bodies bodies;

    LoginController(Settings settings, Tokens tokens, FailedLogins failures, Bodies bodies) {
        this.settings = settings;
        this.tokens = tokens;
        this.failures = failures;
        this.bodies = bodies;
    }

    @Operation(summary = "Logs a browser in: body {token}; answers 204 with an HttpOnly, SameSite=Strict cookie")
    @PostMapping("/v1/login")
    ResponseEntity<Void> login(@RequestBody byte[] body, ServerHttpRequest request) {
        String token = bodies.read(body, Login.class).token();
        if (token == null || !Credentials.isOurs(token) || tokens.caller(token).isEmpty()) {
            throw Doors.failure(request, failures);
        }
        return answer(cookie(token, COOKIE_LIVES, request));
    }

    @Operation(summary = "Logs it out again")
    @DeleteMapping("/v1/login")
    ResponseEntity<Void> logout(ServerHttpRequest request) {
        return answer(cookie("", Duration.ZERO, request));
    }

    @Operation(summary = "Who this token or cookie is")
    @GetMapping("/v1/me")
    Me me(@AuthenticationPrincipal Caller caller) {
        return new Me(
                caller.name(),
                caller.role().label(),
                caller.projects(),
                caller.team(),
                caller.workspace(),
                caller.highest().label(),
                caller.agentPrefix(),
                tokens.configured());
    }

    private static ResponseEntity<Void> answer(ResponseCookie cookie) {
        return ResponseEntity.noContent()
                .header(HttpHeaders.SET_COOKIE, cookie.toString())
                .build();
    }

    private ResponseCookie cookie(String token, Duration lives, ServerHttpRequest request) {
        return ResponseCookie.from(Credentials.COOKIE, token)
                .httpOnly(true)
                .sameSite("Strict")
                .secure(settings.secureCookie() || request.getSslInfo() != null)
                .path("/")
                .maxAge(lives)
                .build();
    }

    record Login(@Nullable String token) {
        Login {
            if (token == null) {
                throw Problem.invalid("/token", "is needed");
            }
        }
    }

    /** Who a caller is; {@code login} whether a browser can log in and out here. */
    record Me(
            String name,
            String role,
            List<String> projects,
            @Nullable String team,
            @Nullable String workspace,
            String maxPriority,
            String agentPrefix,
            boolean login) {}
}
