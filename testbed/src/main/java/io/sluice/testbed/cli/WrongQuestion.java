package io.sluice.testbed.cli;

/**
 * A "no" to what was asked, in words for people: there is no such project or class, a file owns the policy, another version is in
 * force. Asked again it is the same; nothing is missing or broken. Exit 2.
 */
final class WrongQuestion extends RuntimeException {
    private static final long serialVersionUID = 1;

    WrongQuestion(String words) {
        super(words);
    }
}
