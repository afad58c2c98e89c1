package io.sluice.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The scripts, each with its text and the name (SHA-1) Redis caches it under. */
enum Script {
    ACQUIRE,
    SETTLE,
    BEAT,
    OBSERVE,
    POLICY,
    INSPECT,
    RIGHTS,
    STATUS,
    TALLY,
    TOLD,
    REMOVE,
    INDEX;

    private final String text = expand(label(), Script::read);
    private final String sha = sha(text);

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    String text() {
        return text;
    }

    String sha() {
        return sha;
    }

    /**
     * A script with its includes in place. An include stands alone on a line, {@code --#include lib/bucket}, names a
     * file without its ending, stands once in a script, and the file includes nothing itself.
     *
     * @throws IllegalStateException if one of that is not so, naming the script and the include
     */
    static String expand(String name, UnaryOperator<String> read) {
        String text = read.apply(name);
        if (!text.startsWith("#!lua")) {
            throw new IllegalStateException(name + ": the first line of a script must be #!lua");
        }
        // Not a static field: an enum's constants are made before its fields.
        Pattern line = Pattern.compile("^--#include (\\S+)$", Pattern.MULTILINE);
        Set<String> seen = new HashSet<>();
        return line.matcher(text).replaceAll(include -> {
            String part = read.apply(include.group(1));
            if (!seen.add(include.group(1))) {
                throw new IllegalStateException(name + " includes " + include.group(1) + " twice");
            }
            if (line.matcher(part).find()) {
                throw new IllegalStateException(name + ": " + include.group(1) + " must not include anything itself");
            }
            return Matcher.quoteReplacement(part);
        });
    }

    private static String read(String name) {
        String resource = "/io/sluice/lua/" + name + ".lua";
        try (InputStream in = Script.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("no such script: " + resource);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String sha(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
