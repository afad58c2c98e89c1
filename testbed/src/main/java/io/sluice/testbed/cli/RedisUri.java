package io.sluice.testbed.cli;

import io.sluice.Sluice;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** A Redis named on the command line. */
final class RedisUri {
    private RedisUri() {}

    /** Connects; an address that is none is a usage error. */
    static Sluice connect(CommandLine line, String uri) {
        try {
            return Sluice.connect(uri);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(line, "--redis: " + e.getMessage(), e);
        }
    }
}
