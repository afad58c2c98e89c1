package io.sluice;

import java.util.List;
import java.util.Map;

/**
 * How many requests left under one permit. The provider counts each, so each is charged: an SDK that repeats a request by
 * itself, or two callers that share a permit, send more than one (HKUDS/nanobot#2760).
 */
final class Sends {
    /** How SDKs that Stainless made say how many requests went before this one. */
    private static final String RETRY_COUNT = "x-stainless-retry-count";

    /** What is said beyond that is no count of requests that went out. */
    private static final int BELIEVABLE = 100;

    private int begun;
    private int told;
    private int before;

    /** A sender was asked to send one. */
    synchronized void begun() {
        begun++;
    }

    /** One left with these headers. */
    synchronized void told(Map<String, List<String>> headers) {
        told++;
        headers.forEach((name, values) -> {
            if (RETRY_COUNT.equalsIgnoreCase(name)) {
                values.forEach(value -> before = Math.max(before, count(value)));
            }
        });
    }

    /** 1 or more: a permit that was used at all was used for one. */
    synchronized int count() {
        return Math.max(1, Math.max(Math.max(begun, told), before + 1));
    }

    private static int count(String text) {
        try {
            int count = Integer.parseInt(text.strip());
            return count > BELIEVABLE ? 0 : count;
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
