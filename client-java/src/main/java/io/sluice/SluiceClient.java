package io.sluice;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One process's client: the store, the threads and the projects it works on. */
final class SluiceClient implements Sluice {
    private static final Logger log = LoggerFactory.getLogger(SluiceClient.class);
    final Store store;
    final String host;
    final WaitListener listener;
    final Meters meters;

    /** Questions under way, and what is given back in the background: a few ms of Redis's time each. */
    final Window questions = new Window(32);

    final Window returns = new Window(32);

    /** Fires timers. Nothing that can block runs here: a user's slow callback must not cost anybody a lease. */
    final ScheduledExecutorService timer;

    /** Runs what users hand in. After close there is no thread left for it: better on this one than never. */
    final ExecutorService callbacks = new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            10,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            task -> thread("sluice-callback", task),
            (task, pool) -> task.run());

    /** Runs what callers of desks chain to their results: thousands of waits may end at once, and must not take a thread each. */
    final ExecutorService desk = deskThreads();

    private final Map<String, ProjectClient> projects = new ConcurrentHashMap<>();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final Admin admin = new AdminClient(this);

    SluiceClient(Store store, Options options) {
        this.store = store;
        // Short: it stands twice in what each waiting call takes of Redis's memory. 59 random bits.
        this.host = options.host() == null ? "h-" + RandomIds.next().substring(0, 10) : options.host();
        this.listener = options.listener() == null ? new WaitListener() {} : options.listener();
        this.meters = new Meters(options.meters());
        meters.storeUp(() -> store.answers() ? 1 : 0);
        store.timed(meters::script);
        ScheduledThreadPoolExecutor scheduler =
                new ScheduledThreadPoolExecutor(1, task -> thread("sluice-timer", task));
        scheduler.setRemoveOnCancelPolicy(true);
        this.timer = scheduler;
    }

    private static ExecutorService deskThreads() {
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                2,
                2,
                10,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                task -> thread("sluice-desk", task),
                (task, pool) -> task.run());
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    private static Thread thread(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public long install(Policy policy) {
        mayBlock();
        return Store.version(Blocking.get(client(policy.project()).install(policy)));
    }

    @Override
    public Installed installed(String project) {
        mayBlock();
        PolicyView view = Blocking.get(client(project).policy());
        return new Installed(Store.version(view.stamp), view.policy);
    }

    @Override
    public Project project(String id) {
        return client(id).listening();
    }

    @Override
    public Admin admin() {
        return admin;
    }

    @Override
    public Desk desk(String project, Function<Provider, Profile> profiles) {
        return new DeskClient(client(project).listening(), profiles);
    }

    ProjectClient client(String id) {
        ProjectClient project = projects.computeIfAbsent(Names.project(id), name -> new ProjectClient(this, name));
        if (closed.get()) {
            project.close();
        }
        return project;
    }

    /**
     * Its client, if there is such a project; else an outage of that reason. Of a name that is nobody's nothing is kept, neither
     * here nor as a label or a channel: callers make names up.
     */
    CompletionStage<ProjectClient> known(String id) {
        ProjectClient made = projects.get(Names.project(id));
        if (made != null) {
            return CompletableFuture.completedStage(made);
        }
        return store.policy(id).thenApply(stored -> {
            if (stored == null) {
                throw new OutageException("no_project", PolicyCache.noProject(id), null);
            }
            return client(id);
        });
    }

    /**
     * Which projects there are, by id the version in force. One that is known here in another version is read again, and put back if the
     * store has lost it: so who asks now and then keeps what it knows up to date, and the store whole.
     */
    CompletionStage<Map<String, Long>> listed() {
        return store.records().projects().thenCompose(listed -> {
            CompletableFuture<?>[] read = projects.values().stream()
                    .filter(project -> project.isNews(listed.get(project.id())))
                    .map(project -> returns.run(project::policy)
                            .handle((view, e) -> view)
                            .toCompletableFuture())
                    .toArray(CompletableFuture[]::new);
            return read.length == 0
                    ? CompletableFuture.completedStage(listed)
                    : CompletableFuture.allOf(read)
                            .thenCompose(all -> store.records().projects());
        });
    }

    /** How many projects something is kept of here. */
    int known() {
        return projects.size();
    }

    /** Tells Redis all that was counted here so far. */
    CompletableFuture<Void> flush() {
        return CompletableFuture.allOf(projects.values().stream()
                .map(project -> project.counting.flush().toCompletableFuture())
                .toArray(CompletableFuture[]::new));
    }

    /** A result for users: what they chain to it runs on our callback threads, never on the store's. */
    <T> CompletableFuture<T> handOver(CompletionStage<T> ours) {
        return handOver(ours, callbacks);
    }

    static <T> CompletableFuture<T> handOver(CompletionStage<T> ours, Executor executor) {
        CompletableFuture<T> theirs = new CompletableFuture<>();
        ours.whenCompleteAsync(
                (result, e) -> {
                    if (e == null) {
                        theirs.complete(result);
                    } else {
                        theirs.completeExceptionally(Blocking.cause(e));
                    }
                },
                executor);
        return theirs;
    }

    /** Tells a listener; what it throws is logged and goes no further. */
    void tell(Runnable news) {
        try {
            news.run();
        } catch (RuntimeException e) {
            log.warn("a listener threw", e);
        }
    }

    /** The same on a thread of its own, where a listener may block. */
    void tellLater(Runnable news) {
        callbacks.execute(() -> tell(news));
    }

    /** Blocking on a thread that delivers replies would wait for itself until the time-out (redis/lettuce#1402). */
    void mayBlock() {
        if (store.mustNotBlock()) {
            throw new IllegalStateException(
                    "this thread (" + Thread.currentThread().getName()
                            + ") delivers replies and must not block: use the ...Async form");
        }
    }

    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        projects.values().forEach(ProjectClient::close);
        CompletableFuture.allOf(
                        projects.values().stream().map(ProjectClient::lastWords).toArray(CompletableFuture[]::new))
                .completeOnTimeout(null, 2, TimeUnit.SECONDS)
                .exceptionally(e -> null)
                .join();
        timer.shutdownNow();
        callbacks.shutdown();
        desk.shutdown();
        store.close();
        meters.close();
    }
}
