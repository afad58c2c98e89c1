package io.sluice.redis;

import io.lettuce.core.RedisURI;
import java.net.URISyntaxException;

/** Where a Redis is, as people write it. */
final class Address {
    private Address() {}

    /**
     * What it says. Lettuce's own errors repeat the whole text, password included; neither their messages nor they themselves are
     * handed on.
     *
     * @throws IllegalArgumentException if it is none, without a word of it
     */
    static RedisURI of(String text) {
        String why = "";
        try {
            RedisURI uri = RedisURI.create(text);
            // "user:password" without a host is taken for one, and shown as one; an IPv6 address has more colons than
            // that.
            String host = uri.getHost();
            if (host == null || host.indexOf(':') < 0 || host.indexOf(':') != host.lastIndexOf(':')) {
                return uri;
            }
        } catch (RuntimeException e) {
            why = e.getCause() instanceof URISyntaxException syntax
                    ? " (" + syntax.getReason() + " at character " + (syntax.getIndex() + 1) + ")"
                    : "";
        }
        throw new IllegalArgumentException("not the address of a Redis" + why
                + ": use redis://user:password@host:port/database, special characters as %40");
    }
}
