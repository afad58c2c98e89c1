package io.sluice.testbed.cli;

import io.sluice.AdminException;
import io.sluice.OutageException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Says what went wrong in one line; the stack trace only with {@code SLUICE_DEBUG=1}. */
final class OneLine {

    int parameters(ParameterException e, String[] args) {
        CommandLine line = e.getCommandLine();
        say(line, message(e) + " (see ./" + line.getCommandSpec().qualifiedName() + " --help)", e);
        return ExitCode.USAGE;
    }

    /** What no command expects, such as a class that is missing: an error, not an exception. */
    int error(Error e, CommandLine line) {
        say(line, e.toString(), e);
        return ExitCode.ENVIRONMENT;
    }

    int execution(Exception e, CommandLine line, ParseResult parsed) {
        if (e instanceof Main.NoCommand) {
            return ExitCode.USAGE;
        }
        if (e instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        say(
                line,
                expected(e) ? String.valueOf(e.getMessage()) : e.getClass().getSimpleName() + ": " + e.getMessage(),
                e);
        return cannotBe(e) ? ExitCode.USAGE : ExitCode.ENVIRONMENT;
    }

    /** Whether what was asked for is at fault, not the machine, the server or Redis. */
    static boolean cannotBe(Exception e) {
        return e instanceof WrongQuestion
                || e instanceof AdminException
                || (e instanceof OutageException outage && outage.reason().equals("no_project"));
    }

    /** Failures whose message was written for people. */
    private static boolean expected(Exception e) {
        return cannotBe(e)
                || e instanceof OutageException
                || e instanceof IOException
                || e instanceof UncheckedIOException
                || e instanceof IllegalStateException;
    }

    private static String message(ParameterException e) {
        CommandLine line = e.getCommandLine();
        // Also when something is missing besides: the mistyped option is what is missing, then.
        List<String> unmatched = line.getUnmatchedArguments();
        if (!unmatched.isEmpty()) {
            return unmatched(new UnmatchedArgumentException(line, unmatched));
        }
        String text = String.valueOf(e.getMessage());
        // Picocli's own begin with a capital; a file's name must stay as it is.
        return text.matches("(?s)(Missing|Invalid|Expected|Could) .*")
                ? Character.toLowerCase(text.charAt(0)) + text.substring(1)
                : text;
    }

    private static String unmatched(UnmatchedArgumentException e) {
        String first = e.getUnmatched().get(0);
        boolean option = first.startsWith("-");
        boolean command = !option && !e.getCommandLine().getSubcommands().isEmpty();
        String what = option ? "unknown option " : command ? "unknown command " : "unexpected argument ";
        List<String> like = e.getSuggestions();
        return what + "'" + first + "'" + (like.isEmpty() ? "" : ", did you mean '" + like.get(0) + "'?");
    }

    private static void say(CommandLine line, String message, Throwable e) {
        PrintWriter err = line.getErr();
        err.println(
                line.getCommandSpec().qualifiedName() + ": " + message.strip().replaceAll("\\s*\\R\\s*", "; "));
        if ("1".equals(System.getenv("SLUICE_DEBUG"))) {
            e.printStackTrace(err);
        }
        err.flush();
    }
}
