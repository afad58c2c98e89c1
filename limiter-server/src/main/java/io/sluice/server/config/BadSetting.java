package io.sluice.server.config;

/** A setting with which this server does not start; {@link StartFailures} says so, without a stack trace. */
public final class BadSetting extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final String remedy;

    /**
     * @param what is wrong, by the setting's name; never a secret
     * @param remedy what to do
     */
    public BadSetting(String what, String remedy) {
        super(what);
        this.remedy = remedy;
    }

    String remedy() {
        return remedy;
    }
}
