package io.sluice;

import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One request an agent wants to send, with its estimate. Immutable: each method returns a changed copy.
 *
 * <pre>{@code
 * Call call = Call.of("claude-sonnet-5-5").inputTokens(2_000).cacheReadTokens(10_000).maxOutputTokens(4_096)
 *         .agent("host-3/agent-17").team("research").priority(Priority.INTERACTIVE);
 * }</pre>
 *
 * <p>Names (id, agent, team, workspace, run) are 1 to 128 characters of {@code [A-Za-z0-9._:/@-]}. Every method throws
 * {@link IllegalArgumentException} for a value out of its range, naming the value.
 */
public final class Call {
    /** No call is larger than this, whatever a caller says: 10^9 tokens of one kind. */
    public static final long MAX_TOKENS = 1_000_000_000;

    /** In characters. */
    static final int MAX_MODEL = 256;

    // Written only by copy() before the copy is handed out.
    final String model;
    long inputTokens;
    long cacheReadTokens;
    long cacheWriteTokens;
    long attachedTokens;
    int choices = 1;
    Priority priority = Priority.NORMAL;

    /** Whether the caller said how much of the input is cached. */
    boolean namesCache;

    @Nullable
    Long inputBytes;

    @Nullable
    Long maxOutputTokens;

    @Nullable
    String id;

    @Nullable
    String agent;

    @Nullable
    String team;

    @Nullable
    String workspace;

    @Nullable
    String run;

    @Nullable
    String serviceTier;

    @Nullable
    String speed;

    @Nullable
    String endpoint;

    private Call(String model) {
        this.model = model;
    }

    /**
     * A call of a model, as the provider spells it.
     *
     * @throws IllegalArgumentException if the model is blank or longer than 256 characters
     */
    public static Call of(String model) {
        if (model.isBlank() || model.length() > MAX_MODEL) {
            throw new IllegalArgumentException(
                    "model must have 1 to " + MAX_MODEL + " characters, got '" + model + "'");
        }
        return new Call(model);
    }

    /**
     * The call that a request is, as {@link Profile#asks} read it: model, size, output cap, tier, speed and endpoint.
     *
     * @throws IllegalArgumentException if it is no call, or names no model
     */
    public static Call of(Asked asked) {
        if (asked.kind() != Asked.Kind.CALL) {
            throw new IllegalArgumentException("the request is no call: " + asked.why());
        }
        if (asked.model() == null) {
            throw new IllegalArgumentException("the request names no model");
        }
        return of(asked.model()).copy(c -> {
            c.inputBytes = asked.inputBytes();
            c.attachedTokens = asked.attachedTokens();
            c.maxOutputTokens = asked.maxOutputTokens();
            c.choices = asked.choices();
            c.serviceTier = asked.serviceTier();
            c.speed = asked.speed();
            c.endpoint = asked.endpoint();
        });
    }

    /** Expected fresh input: 0 to {@link #MAX_TOKENS}. */
    public Call inputTokens(long tokens) {
        return copy(c -> c.inputTokens = Names.tokens("inputTokens", tokens));
    }

    /**
     * The size of all of the text in bytes, where nobody counted its tokens; then {@link #inputTokens} does not matter. They are
     * estimated from what calls of its class had a byte (a third of a token where that is not known yet), and what part of them
     * is cached too, unless {@link #cacheReadTokens} or {@link #cacheWriteTokens} says so. 0 to {@link #MAX_TOKENS}.
     */
    public Call inputBytes(long bytes) {
        return copy(c -> c.inputBytes = Names.tokens("inputBytes", bytes));
    }

    /**
     * Expected input read from the provider's cache, on top of the fresh input: 0 to {@link #MAX_TOKENS}. Of a call that names
     * its {@link #inputBytes} a part of those.
     */
    public Call cacheReadTokens(long tokens) {
        return copy(c -> {
            c.cacheReadTokens = Names.tokens("cacheReadTokens", tokens);
            c.namesCache = true;
        });
    }

    /** Expected input written to the provider's cache, on top of the fresh input: 0 to {@link #MAX_TOKENS}. */
    public Call cacheWriteTokens(long tokens) {
        return copy(c -> {
            c.cacheWriteTokens = Names.tokens("cacheWriteTokens", tokens);
            c.namesCache = true;
        });
    }

    /**
     * Expected input beside the text (pictures, documents, sounds, films), on top of {@link #inputTokens} or {@link #inputBytes}:
     * 0 to {@link #MAX_TOKENS}.
     */
    public Call attachedTokens(long tokens) {
        return copy(c -> c.attachedTokens = Names.tokens("attachedTokens", tokens));
    }

    /** How many answers the request asks for: 1, the default, or more. Where it names no cap its class's counts so often. */
    public Call choices(int choices) {
        if (choices < 1) {
            throw new IllegalArgumentException("choices must be 1 or more, got " + choices);
        }
        return copy(c -> c.choices = choices);
    }

    /**
     * The output cap the request carries, for all its {@link #choices} together. Without one the class's {@code max_output} is
     * assumed.
     */
    public Call maxOutputTokens(long tokens) {
        return copy(c -> c.maxOutputTokens = Names.tokens("maxOutputTokens", tokens));
    }

    /** Default {@link Priority#NORMAL}. */
    public Call priority(Priority priority) {
        return copy(c -> c.priority = Objects.requireNonNull(priority, "priority"));
    }

    /** The idempotency key: the same caller with the same id and body gets the same permit. Default: a fresh one. */
    public Call id(String id) {
        return copy(c -> c.id = Names.name("id", id));
    }

    /** The worker that sends the call. */
    public Call agent(String agent) {
        return copy(c -> c.agent = Names.name("agent", agent));
    }

    /** The team whose share the call draws on. */
    public Call team(String team) {
        return copy(c -> c.team = Names.name("team", team));
    }

    /** The provider workspace the request goes to. */
    public Call workspace(String workspace) {
        return copy(c -> c.workspace = Names.name("workspace", workspace));
    }

    /** The agent task the call belongs to. */
    public Call run(String run) {
        return copy(c -> c.run = Names.name("run", run));
    }

    /** The service tier the request asks for, in the provider's word, such as {@code flex}. Default: the ordinary one. */
    public Call serviceTier(String tier) {
        return copy(c -> c.serviceTier = Names.name("serviceTier", tier));
    }

    /** The speed the request asks for, in the provider's word, such as {@code fast}. Default: the ordinary one. */
    public Call speed(String speed) {
        return copy(c -> c.speed = Names.name("speed", speed));
    }

    /** The endpoint the request goes to, in the policy's word for it, where one has limits of its own. */
    public Call endpoint(String endpoint) {
        return copy(c -> c.endpoint = Names.name("endpoint", endpoint));
    }

    /** All of its input, cached or not, in tokens; of one in bytes a guess that rests on nothing learned, for that is by class. */
    long context() {
        long text = inputBytes != null
                ? Estimates.tokens(inputBytes, Estimates.USUAL_TOKENS_PER_BYTE)
                : inputTokens + cacheReadTokens + cacheWriteTokens;
        return text + attachedTokens;
    }

    /** The same call under a fresh id: an id belongs to one permit, and what is sent again needs another. */
    Call anew() {
        return copy(c -> c.id = null);
    }

    private Call copy(Consumer<Call> change) {
        Call copy = new Call(model);
        copy.inputTokens = inputTokens;
        copy.cacheReadTokens = cacheReadTokens;
        copy.cacheWriteTokens = cacheWriteTokens;
        copy.attachedTokens = attachedTokens;
        copy.choices = choices;
        copy.namesCache = namesCache;
        copy.inputBytes = inputBytes;
        copy.priority = priority;
        copy.maxOutputTokens = maxOutputTokens;
        copy.id = id;
        copy.agent = agent;
        copy.team = team;
        copy.workspace = workspace;
        copy.run = run;
        copy.serviceTier = serviceTier;
        copy.speed = speed;
        copy.endpoint = endpoint;
        change.accept(copy);
        return copy;
    }
}
