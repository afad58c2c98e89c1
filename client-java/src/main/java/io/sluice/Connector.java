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
                return new SluiceClient(opened(provider, uri, options), options);
            }
        }
        throw new IllegalArgumentException("no store for the scheme '" + scheme + "': use redis://host:port");
    }

    private static Store opened(Store.Provider provider, String uri, Sluice.Options options) {
        try {
            Store store = provider.open(uri, options);
            Meters.storeWasUp(options.meters());
            return store;
        } catch (OutageException e) {
            Meters.storeNeverUp(options.meters());
            throw e;
        }
    }
}
