package io.sluice;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/** A provider that answers what it is told to: the answers in turn, the last one for ever. */
final class ProviderStub implements AutoCloseable {
    static final String SERVED = """
            {"type":"message","model":"m-1","stop_reason":"end_turn","content":[],
             "usage":{"input_tokens":7,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":3}}""";

    /** What goes into a stream that the real one sends so. */
    static final String START = """
            event: message_start
            data: {"type":"message_start","message":{"usage":{"input_tokens":25,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}

            """;

    static final String TEXT = """
            event: content_block_delta
            data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"twenty letters long!"}}

            """;

    static final String END = """
            event: message_delta
            data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":15}}

            event: message_stop
            data: {"type":"message_stop"}

            """;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Told> told = new CopyOnWriteArrayList<>();

    private volatile Supplier<Told> chosen = Told::served;

    /** When each request came, and its headers. */
    final List<Request> requests = new CopyOnWriteArrayList<>();

    record Request(long atNs, Map<String, List<String>> headers) {}

    /** One answer. */
    record Told(int status, Map<String, String> headers, String body, boolean cut, CountDownLatch gate, String rest) {
        static Told of(int status, String body, String... headers) {
            Map<String, String> named = new LinkedHashMap<>();
            for (int i = 0; i < headers.length; i += 2) {
                named.put(headers[i], headers[i + 1]);
            }
            return new Told(status, named, body, false, new CountDownLatch(0), "");
        }

        static Told served() {
            return of(200, SERVED, "content-type", "application/json");
        }

        static Told stream(String... events) {
            return of(200, String.join("", events), "content-type", "text/event-stream");
        }

        static Told refused(int status, String type, String... headers) {
            return of(status, error(type), headers);
        }

        static String error(String type) {
            return "{\"type\":\"error\",\"error\":{\"type\":\"" + type + "\",\"message\":\"synthetic\"}}";
        }

        /** The connection breaks after the body. */
        Told broken() {
            return new Told(status, headers, body, true, gate, rest);
        }

        /** Nothing more comes until the gate opens, then the rest. */
        Told andThen(CountDownLatch gate, String rest) {
            return new Told(status, headers, body, cut, gate, rest);
        }
    }

    ProviderStub() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    void answers(Told... answers) {
        told.clear();
        told.addAll(List.of(answers));
    }

    /** The one until that instant, the other after it. */
    void answersUntil(long instantNs, Told before, Told after) {
        told.clear();
        chosen = () -> System.nanoTime() - instantNs < 0 ? before : after;
    }

    private Told next() {
        return told.isEmpty() ? chosen.get() : told.get(Math.min(requests.size(), told.size() - 1));
    }

    private void answer(HttpExchange exchange) throws IOException {
        Told answer;
        synchronized (this) {
            answer = next();
            requests.add(new Request(System.nanoTime(), Map.copyOf(exchange.getRequestHeaders())));
        }
        exchange.getRequestBody().readAllBytes();
        answer.headers.forEach(exchange.getResponseHeaders()::set);
        byte[] body = answer.body.getBytes(StandardCharsets.UTF_8);
        // More is promised than comes, or as much as comes.
        exchange.sendResponseHeaders(answer.status, answer.cut ? body.length + 1_000 : 0);
        OutputStream out = exchange.getResponseBody();
        write(out, body);
        try {
            answer.gate.await();
        } catch (InterruptedException e) {
            exchange.close();
            return;
        }
        write(out, answer.rest.getBytes(StandardCharsets.UTF_8));
        exchange.close();
    }

    private static void write(OutputStream out, byte[] bytes) throws IOException {
        out.write(bytes);
        out.flush();
    }

    /** A request to it. */
    HttpRequest request() {
        return HttpRequest.newBuilder(uri())
                .timeout(Duration.ofSeconds(30))
                .POST(BodyPublishers.ofString("{}"))
                .build();
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/v1/messages");
    }

    static HttpClient client() {
        return HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(Duration.ofSeconds(10))
                .build();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
