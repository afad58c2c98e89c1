package io.sluice;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ArchitectureTest {
    private static final JavaClasses CLIENT = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .withImportOption(location -> !location.contains("testbed"))
            .importPackages("io.sluice");

    @Test
    void whatDecidesKnowsNothingOfRedis() {
        noClasses()
                .that()
                .resideInAPackage("io.sluice")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.sluice.redis..")
                .check(CLIENT);
    }

    @Test
    void whatDecidesKnowsNoProvidersDialect() {
        noClasses()
                .that()
                .resideInAPackage("io.sluice")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.sluice.provider..")
                .check(CLIENT);
    }

    @Test
    void howRequestsAreSentIsAnAffairOfItsOwn() {
        noClasses()
                .that()
                .resideInAPackage("io.sluice.http..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.sluice.redis..", "io.sluice.provider..")
                .check(CLIENT);
        noClasses()
                .that()
                .resideOutsideOfPackage("io.sluice.http..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.sluice.http..")
                .check(CLIENT);
    }

    @Test
    void dialectsKnowNothingOfRedis() {
        noClasses()
                .that()
                .resideInAPackage("io.sluice.provider..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.sluice.redis..")
                .orShould()
                .dependOnClassesThat()
                .haveFullyQualifiedName("java.time.Clock")
                .orShould()
                .callMethod(java.time.Instant.class, "now")
                .check(CLIENT);
    }

    @Test
    void onlyTheStoreKnowsLettuceNettyAndReactor() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.sluice.redis..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.lettuce..", "io.netty..", "reactor..")
                .check(CLIENT);
    }

    @Test
    void nothingSleepsAndNothingPrints() {
        noClasses().should().callMethod(Thread.class, "sleep", long.class).check(CLIENT);
        noClasses()
                .should()
                .callMethod(Thread.class, "sleep", long.class, int.class)
                .check(CLIENT);
        noClasses().should().accessField(System.class, "out").check(CLIENT);
        noClasses().should().accessField(System.class, "err").check(CLIENT);
    }

    @Test
    void everythingIsLoggedOneWay() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAPackage("java.util.logging..")
                .check(CLIENT);
    }

    /** In Turkey a lower-case "I" is no "i", and numbers have other digits elsewhere (redisson/redisson#2627). */
    @Test
    void noTextDependsOnTheMachinesLocaleOrCharset() {
        noClasses()
                .should()
                .callMethod(String.class, "toLowerCase")
                .orShould()
                .callMethod(String.class, "toUpperCase")
                .orShould()
                .callMethod(String.class, "format", String.class, Object[].class)
                .orShould()
                .callMethod(String.class, "formatted", Object[].class)
                .orShould()
                .callMethod(String.class, "getBytes")
                .orShould()
                .callConstructor(String.class, byte[].class)
                .check(CLIENT);
    }

    /** A public type is a promise. Whoever adds one adds it here. */
    @Test
    void thePublicTypesAreThese() {
        assertThat(CLIENT.stream()
                        .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC) && type.isTopLevelClass())
                        .map(JavaClass::getName)
                        .map(name -> name.substring("io.sluice.".length()))
                        .collect(toSet()))
                .containsExactlyInAnyOrder(
                        "Admin",
                        "AdminException",
                        "Answer",
                        "AnswerStream",
                        "Asked",
                        "Attempt",
                        "Call",
                        "CallOptions",
                        "Counters",
                        "Decision",
                        "Desk",
                        "Glob",
                        "InvalidPolicyException",
                        "LimitReading",
                        "OutageException",
                        "Permit",
                        "Plan",
                        "PlanWindow",
                        "Policy",
                        "Priority",
                        "Profile",
                        "Project",
                        "Provider",
                        "ProviderException",
                        "Reading",
                        "Records",
                        "RefillLimit",
                        "Refusal",
                        "RefusedException",
                        "Rejection",
                        "Request",
                        "Response",
                        "ScopeLimits",
                        "Sender",
                        "Sluice",
                        "Status",
                        "Store",
                        "Usage",
                        "WaitListener",
                        "Weights",
                        "http.HttpSender",
                        "provider.Anthropic",
                        "provider.Gemini",
                        "provider.Generic",
                        "provider.OpenAi",
                        "provider.OpenRouter",
                        "provider.Profiles",
                        "provider.StreamUsage",
                        "provider.UsageFilter",
                        "redis.RedisStore",
                        "redis.RedisStoreProvider");
    }
}
