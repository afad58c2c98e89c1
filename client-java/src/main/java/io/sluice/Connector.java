package io.sluice;

import java.util.ServiceLoader;

/** Finds the store for a URI. */
final class Connector {
    private Connector() {}

    static Sluice connect(String uri, Sluice.Options options) {
        int end = uri.indexOf("://");
        String scheme = end < 0 ? "" : uri.substring(0, end);
        for (Store.Provider provider : ServiceLoader.load(Store.Provider.class)) {
            if (provider.accepts(scheme)) {
                return new SluiceClient(provider.open(uri, options), options);
            }
        }
        throw new IllegalArgumentException("no store for the scheme '" + scheme + "': use redis://host:port");
    }
}
