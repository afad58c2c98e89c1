package io.sluice.testbed.emulator;

/** Text of the right length for what a model would say. */
final class Filler {
    private static final String TEXT = "emulated text is four characters a token, more or less. ".repeat(64);

    private Filler() {}

    static String text(long tokens) {
        int characters = Math.toIntExact(tokens * TextSize.CHARACTERS_A_TOKEN);
        if (characters <= TEXT.length()) {
            return TEXT.substring(0, characters);
        }
        return TEXT.repeat(characters / TEXT.length()) + TEXT.substring(0, characters % TEXT.length());
    }
}
