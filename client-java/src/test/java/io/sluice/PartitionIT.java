package io.sluice;

import static io.sluice.Faults.CALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.sluice.testbed.redis.Namespaces;
import io.sluice.testbed.redis.Namespaces.Host;
import io.sluice.testbed.redis.RedisOptions;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithNamespaces;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A host that is cut off from Redis while its agents go on: its packets are lost, and nobody is told. */
@WithNamespaces(hosts = 2)
@Timeout(60)
class PartitionIT {
    private static final int SLOTS = 2;
    private static final Duration LEASE = Duration.ofSeconds(2);

    private final Namespaces network;

    PartitionIT(Namespaces network) {
        this.network = network;
    }

    @Test
    void aHostThatIsCutOffLosesItsLeasesIsToldWhenItIsBackAndBooksOnce() throws Exception {
        Host server = network.hosts().get(0);
        Host client = network.hosts().get(1);
        RedisServer redis = server.redis(RedisOptions.DEFAULT);
        String id = "cut-" + UUID.randomUUID();
        try (Sluice sluice = Sluice.connect(redis.uri())) {
            sluice.install(Faults.policy(id, SLOTS));
            Project project = sluice.project(id);
            try (AgentMain.Running agent = new AgentMain.Running(client::start, redis.uri(), id, SLOTS)) {
                assertThat(project.tryAcquire(CALL)).isInstanceOf(Decision.Refused.class);

                client.cutOff();
                long start = System.nanoTime();
                Permit[] ours = new Permit[SLOTS];
                for (int i = 0; i < SLOTS; i++) {
                    ours[i] = project.acquire(CALL, Duration.ofSeconds(10));
                }
                assertThat(Budget.since(start)).isLessThan(LEASE.plusSeconds(1));

                client.heal();
                for (int i = 0; i < SLOTS; i++) {
                    agent.expect("lost");
                }
                agent.tellToSettle();
                agent.expect("EXPIRED");
                assertThat(project.tryAcquire(CALL)).as("the slots are ours").isInstanceOf(Decision.Refused.class);
                for (Permit permit : ours) {
                    assertThat(permit.settle(Usage.UNKNOWN).ended()).isEqualTo(Permit.How.SETTLED);
                }
                await().atMost(Duration.ofSeconds(5)).until(() -> Faults.allSlotsFree(project, SLOTS));
                assertThat(Charged.of(redis, id)).as("theirs once, and ours").isEqualTo(2L * SLOTS);
            }
        }
    }

    /** Redis, not the agents, is what is gone: nobody else is held up by it, and all is well when it is back. */
    @Test
    void redisCutOffIsAnOutageUntilItIsBack() {
        Host server = network.hosts().get(0);
        RedisServer redis = server.redis(RedisOptions.DEFAULT);
        String id = "cut-" + UUID.randomUUID();
        try (Sluice sluice = Sluice.connect(redis.uri())) {
            sluice.install(Faults.policy(id, SLOTS));
            Project project = sluice.project(id);
            Permit permit = Budget.take(project, CALL);
            server.cutOff();
            OutageException told = catchThrowableOfType(OutageException.class, () -> permit.settle(Usage.UNKNOWN));
            assertThat(told.reason()).as("it is booked later").isEqualTo("timeout");
            server.heal();
            await().atMost(Duration.ofSeconds(20))
                    .ignoreExceptionsInstanceOf(OutageException.class)
                    .until(() -> Faults.allSlotsFree(project, SLOTS));
            await().atMost(Duration.ofSeconds(5))
                    .untilAsserted(() -> assertThat(Charged.of(redis, id)).isEqualTo(1));
        }
    }
}
