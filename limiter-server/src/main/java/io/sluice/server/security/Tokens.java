package io.sluice.server.security;

import io.sluice.server.config.BadSetting;
import io.sluice.server.config.Settings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * The tokens in force. The file is read again every second: a Secret that is mounted changes by a symbolic link, which file
 * watches miss. One that is wrong changes nothing, but stops a start.
 */
@Component
class Tokens {
    private static final Logger log = LoggerFactory.getLogger(Tokens.class);

    private final @Nullable Path file;
    private volatile byte[] content = {};
    private volatile Map<String, Caller> callers = Map.of();

    Tokens(Settings settings) {
        file = settings.tokens();
        if (file != null) {
            try {
                byte[] read = content(file);
                callers = TokenFile.read(read);
                content = read;
            } catch (UncheckedIOException | IllegalArgumentException e) {
                throw new BadSetting(
                        "sluice.tokens: " + e.getMessage(), "docs/server.md shows what the file looks like.");
            }
        }
    }

    /** Whether anybody needs one. */
    boolean configured() {
        return file != null;
    }

    Optional<Caller> caller(String token) {
        return Optional.ofNullable(callers.get(TokenFile.hash(token)));
    }

    @Scheduled(fixedDelay = 1_000)
    void reread() {
        if (file == null) {
            return;
        }
        try {
            byte[] read = content(file);
            if (!Arrays.equals(read, content)) {
                content = read;
                callers = TokenFile.read(read);
                log.info("{} tokens are in force", callers.size());
            }
        } catch (UncheckedIOException | IllegalArgumentException e) {
            log.error("the tokens stay as they were: {}", e.getMessage());
        }
    }

    private static byte[] content(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "cannot read the tokens file " + file + ": " + e.getClass().getSimpleName(), e);
        }
    }
}
