package io.sluice;

/** Makes the {@link Sluice} behind {@link Sluice#connect}. */
final class Connector {
    private Connector() {}

    static Sluice connect(String uri, Sluice.Options options) {
        String scheme = uri.contains("://") ? uri.substring(0, uri.indexOf("://")) : uri;
        if (options.host() != null && options.host().isEmpty()) {
            throw new IllegalArgumentException("host must not be empty");
        }
        throw new OutageException("disconnected", "no store for the scheme '" + scheme + "'", null);
    }
}
