package io.sluice.testbed.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A certificate authority of our own and the certificate it gave to the server at 127.0.0.1 and {@code localhost}, made by
 * the JDK's {@code keytool} in about a second and gone with this JVM.
 *
 * @param directory holds {@link #CA}, {@link #SERVER} and {@link #KEY} for Redis, and the trust store for Java
 */
public record Certificates(Path directory) {
    static final String CA = "ca.pem";
    static final String SERVER = "server.pem";
    static final String KEY = "server.key";

    /** The password of the trust store. */
    public static final String PASSWORD = "changeit";

    private static final String TRUST = "trust.p12";
    private static final long TIMEOUT_S = 20;
    private static @Nullable Certificates shared;

    /** Those that everything in this JVM shares. */
    public static synchronized Certificates shared() {
        if (shared == null) {
            shared = make();
        }
        return shared;
    }

    private static Certificates make() {
        Path directory = Scratch.directory("tls-");
        try {
            Path keys = directory.resolve("keys.p12");
            List<String> store =
                    List.of("-keystore", keys.toString(), "-storepass", PASSWORD, "-keyalg", "EC", "-validity", "2");
            keytool(store, "-genkeypair", "-alias", "ca", "-dname", "CN=Sluice test CA", "-ext", "bc:c");
            String names = "san=ip:127.0.0.1,dns:localhost";
            keytool(store, "-genkeypair", "-alias", "server", "-dname", "CN=redis", "-signer", "ca", "-ext", names);
            KeyStore made = KeyStore.getInstance("PKCS12");
            try (InputStream in = Files.newInputStream(keys)) {
                made.load(in, PASSWORD.toCharArray());
            }
            write(
                    directory.resolve(CA),
                    "CERTIFICATE",
                    made.getCertificate("ca").getEncoded());
            write(
                    directory.resolve(SERVER),
                    "CERTIFICATE",
                    made.getCertificate("server").getEncoded());
            Key key = made.getKey("server", PASSWORD.toCharArray());
            write(directory.resolve(KEY), "PRIVATE KEY", key.getEncoded());
            keytool(
                    List.of("-keystore", directory.resolve(TRUST).toString(), "-storepass", PASSWORD),
                    "-importcert",
                    "-noprompt",
                    "-alias",
                    "ca",
                    "-file",
                    directory.resolve(CA).toString());
            return new Certificates(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("cannot make certificates", e);
        }
    }

    /** The authority's certificate (PEM), for whoever is to trust the server. */
    public Path authority() {
        return directory.resolve(CA);
    }

    /** The same as a PKCS12 store, for {@code javax.net.ssl.trustStore}. */
    public Path trustStore() {
        return directory.resolve(TRUST);
    }

    /** What a server is told, with its files in a directory of its own. */
    static List<String> arguments(int port, String directory) {
        return List.of(
                "--tls-port", String.valueOf(port),
                "--tls-ca-cert-file", directory + "/" + CA,
                "--tls-cert-file", directory + "/" + SERVER,
                "--tls-key-file", directory + "/" + KEY,
                "--tls-auth-clients", "no");
    }

    private static void write(Path file, String kind, byte[] content) throws IOException {
        String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
        Files.writeString(file, "-----BEGIN " + kind + "-----\n" + base64 + "\n-----END " + kind + "-----\n");
    }

    private static void keytool(List<String> store, String... words) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString()));
        command.addAll(List.of(words));
        command.addAll(store);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(TIMEOUT_S, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IllegalStateException("keytool " + String.join(" ", words) + ": " + said);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while making certificates", e);
        }
    }
}
