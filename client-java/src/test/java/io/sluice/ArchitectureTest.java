package io.sluice;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** The directions and the front door of docs/architecture.md. */
class ArchitectureTest {
    private static final JavaClasses CLIENT = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .withImportOption(location -> !location.contains("testbed"))
            .importPackages("io.sluice");

    @Test
    void theRootDoesNotKnowTheStore() {
        noClasses()
                .that()
                .resideInAPackage("io.sluice")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.sluice.redis..")
                .check(CLIENT);
    }

    @Test
    void onlyTheStoreKnowsItsDriver() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.sluice.redis..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.lettuce..", "io.netty..", "reactor..")
                .check(CLIENT);
    }

    @Test
    void nothingSleepsOrPrints() {
        noClasses().should().callMethod(Thread.class, "sleep", long.class).check(CLIENT);
        noClasses().should().accessField(System.class, "out").check(CLIENT);
    }

    @Test
    void theStoreShowsOnlyWhatTheServiceLoaderNeeds() {
        classes()
                .that()
                .resideInAPackage("io.sluice.redis")
                .and()
                .doNotHaveSimpleName("RedisStore")
                .and()
                .doNotHaveSimpleName("RedisStoreProvider")
                .should()
                .notBePublic()
                .check(CLIENT);
    }

    /** Public is a decision: a new type is added here by hand. */
    @Test
    void thePublicTypesAreTheseAndNoMore() {
        assertThat(CLIENT.stream()
                        .filter(type -> type.getPackageName().equals("io.sluice"))
                        .filter(type ->
                                type.isTopLevelClass() && type.getModifiers().contains(JavaModifier.PUBLIC))
                        .map(JavaClass::getSimpleName))
                .containsExactlyInAnyOrder(
                        "Call",
                        "Decision",
                        "InvalidPolicyException",
                        "OutageException",
                        "Permit",
                        "Policy",
                        "Priority",
                        "Project",
                        "Provider",
                        "RefillLimit",
                        "Refusal",
                        "RefusedException",
                        "Rejection",
                        "ScopeLimits",
                        "Sluice",
                        "Store",
                        "Usage",
                        "WaitListener",
                        "Weights");
    }
}
