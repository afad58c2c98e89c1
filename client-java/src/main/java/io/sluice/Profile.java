package io.sluice;

/**
 * What one provider's answers mean: whether it refused and for how long, what was used, what is left. Pure functions of
 * the answer: no clock, no network, no state. Profiles are in {@code io.sluice.provider}, such as
 * {@code Anthropic.PROFILE}.
 *
 * <p>No answer makes a profile throw: what cannot be read counts as not said.
 */
public interface Profile {

    /** Whose answers it reads. */
    Provider provider();

    /** Reads a whole answer. Of a refusal's body the first 64 KiB count, of any other the first MiB. */
    Reading read(Answer answer);

    /**
     * Reads a streamed answer as it comes.
     *
     * @param head the status and headers that came before the stream; its body is ignored
     */
    AnswerStream stream(Answer head);
}
