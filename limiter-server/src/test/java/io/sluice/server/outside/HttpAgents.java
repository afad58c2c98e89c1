package io.sluice.server.outside;

import io.sluice.server.outside.Api.Answered;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Agents that take permits over HTTP, one after the other, from whichever server is there: what a service of Kubernetes does for
 * them is a list here. Where no answer comes, or 503, they ask the same again at the next.
 */
final class HttpAgents {
    private static final int CALL_MS = 20;
    private static final int PAUSE_MS = 50;

    /** More than any restart takes. */
    private static final int TRIES = 600;

    private final HttpClient http = Api.client();
    private final String project;
    private final AtomicInteger turn = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger retried = new AtomicInteger();
    private final Queue<String> lost = new ConcurrentLinkedQueue<>();
    private volatile List<URI> servers;
    private volatile boolean stopping;

    HttpAgents(String project, List<URI> servers) {
        this.project = project;
        this.servers = List.copyOf(servers);
    }

    void servers(List<URI> there) {
        servers = List.copyOf(there);
    }

    /** Calls that took their permit, renewed it and settled it. */
    int done() {
        return done.get();
    }

    /** Requests that were sent again. */
    int retried() {
        return retried.get();
    }

    /** What became of calls that did not. */
    List<String> lost() {
        return List.copyOf(lost);
    }

    /** Starts them; ends when {@link #stop} was called and each has ended its call. */
    CompletableFuture<Void> start(int agents) {
        return CompletableFuture.allOf(java.util.stream.IntStream.range(0, agents)
                .mapToObj(agent -> life(agent, 0))
                .toArray(CompletableFuture[]::new));
    }

    void stop() {
        stopping = true;
    }

    private CompletableFuture<Void> life(int agent, int call) {
        if (stopping) {
            return CompletableFuture.completedFuture(null);
        }
        return call("agent-" + agent, "call-" + agent + "-" + call)
                .handleAsync((ended, e) -> {
                    if (e == null && ended.equals("settled")) {
                        done.incrementAndGet();
                    } else {
                        lost.add("call-" + agent + "-" + call + ": " + (e == null ? ended : String.valueOf(e)));
                    }
                    return null;
                })
                .thenCompose(next -> life(agent, call + 1));
    }

    private CompletableFuture<String> call(String agent, String id) {
        String ask = """
                {"id": "%s", "agent": "%s", "model": "claude-sonnet-5-5", "input_tokens": 10, "max_wait_ms": 60000}
                """.formatted(id, agent);
        return send("permits", ask, 0)
                .thenCompose(granted -> after(CALL_MS, granted))
                .thenCompose(granted -> {
                    String permit = "permits/" + member(granted, "permit");
                    return send(permit + "/renew", "", 0)
                            .thenCompose(renewed -> send(permit + "/settle", "{\"usage\": {\"input_tokens\": 7}}", 0))
                            .thenApply(settled -> member(settled, "ended"));
                });
    }

    /** The same, until somebody answers. */
    private CompletableFuture<Answered> send(String path, String json, int tries) {
        List<URI> there = servers;
        URI server = there.get(Math.floorMod(turn.getAndIncrement(), there.size()));
        return new Api(http, server, project)
                .posting(path, json)
                .handle((answer, e) -> {
                    boolean again = e == null ? answer.status() == 503 : cause(e) instanceof IOException;
                    if (again && tries < TRIES) {
                        retried.incrementAndGet();
                        return after(PAUSE_MS, "").thenCompose(x -> send(path, json, tries + 1));
                    }
                    if (e != null) {
                        return CompletableFuture.<Answered>failedFuture(e);
                    }
                    return answer.status() / 100 == 2
                            ? CompletableFuture.completedFuture(answer)
                            : CompletableFuture.<Answered>failedFuture(new IllegalStateException(path + ": " + answer));
                })
                .thenCompose(answer -> answer);
    }

    private static <T> CompletableFuture<T> after(int ms, T value) {
        Executor later = CompletableFuture.delayedExecutor(ms, TimeUnit.MILLISECONDS);
        return CompletableFuture.supplyAsync(() -> value, later);
    }

    private static String member(Answered answer, String name) {
        return answer.body().path(name).asString();
    }

    private static Throwable cause(Throwable e) {
        return e instanceof CompletionException && e.getCause() != null ? e.getCause() : e;
    }
}
