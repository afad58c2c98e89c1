package io.sluice.redis;

import io.lettuce.core.ScriptOutputType;
import io.sluice.Store;
import java.util.List;

/** Looks into a project from outside the client. */
public final class Peek {
    private Peek() {}

    /** Of how many projects the store keeps anything. */
    public static int kept(Store store) {
        return ((RedisStore) store).kept();
    }

    /** Units missing from a full bucket, rounded: the refill of a test's few seconds on a bucket of a year is below one. */
    @SuppressWarnings("unchecked")
    public static long charged(String uri, String project, String scope, String limit) {
        Connection connection = Connection.open(uri);
        try {
            // On a cluster this also connects to every node.
            connection
                    .commands()
                    .scriptLoad(Script.INSPECT.text())
                    .toCompletableFuture()
                    .join();
            List<Object> reply = connection
                    .commands()
                    .<List<Object>>eval(
                            Script.INSPECT.text(),
                            ScriptOutputType.MULTI,
                            Keys.of(project).all(),
                            "",
                            "levels")
                    .toCompletableFuture()
                    .join();
            for (Object each : (List<Object>) reply.get(8)) {
                List<Object> one = (List<Object>) each;
                for (Object l : (List<Object>) one.get(4)) {
                    List<Object> it = (List<Object>) l;
                    if (one.get(0).equals(scope) && it.get(0).equals(limit)) {
                        double missing = (Long) it.get(3) - (Long) it.get(2);
                        return (long) Math.ceil(missing / (Long) it.get(4) - 1e-9);
                    }
                }
            }
            throw new AssertionError("no " + limit + " in " + reply);
        } finally {
            connection.close();
        }
    }
}
