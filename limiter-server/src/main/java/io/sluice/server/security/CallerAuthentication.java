package io.sluice.server.security;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.AbstractAuthenticationToken;

/** A caller that is known. */
final class CallerAuthentication extends AbstractAuthenticationToken {
    private static final long serialVersionUID = 1;

    private final transient Caller caller;

    CallerAuthentication(Caller caller) {
        super(List.of());
        this.caller = caller;
        setAuthenticated(true);
    }

    @Override
    public Object getCredentials() {
        return "";
    }

    @Override
    public Caller getPrincipal() {
        return caller;
    }

    @Override
    public String getName() {
        return caller.name();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CallerAuthentication that && that.caller.equals(caller);
    }

    @Override
    public int hashCode() {
        return caller.hashCode();
    }
}
