package io.sluice;

/**
 * What is asked of one provider, and what its answers mean: whether it refused and for how long, what was used, what is left. Pure
 * functions of the request or the answer: no clock, no network, no state. Profiles are in {@code io.sluice.provider}, such as
 * {@code Anthropic.PROFILE}.
 *
 * <p>No request and no answer makes a profile throw: what cannot be read counts as not said.
 */
public interface Profile {

    /** Whose answers it reads. */
    Provider provider();

    /**
     * Reads a request before it is sent: which model, how large, how much it may answer. A body that is no JSON, or larger than
     * {@link Attempt#MAX_BODY_BYTES}, counts by its size.
     */
    Asked asks(Request request);

    /** Reads a whole answer. Of a refusal's body the first 64 KiB count, of any other the first MiB. */
    Reading read(Answer answer);

    /**
     * Reads a streamed answer as it comes.
     *
     * @param head the status and headers that came before the stream; its body is ignored
     */
    AnswerStream stream(Answer head);
}
