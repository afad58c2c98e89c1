package io.sluice.server;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;
import org.springframework.web.bind.annotation.RestController;

/** The server's shape: features side by side, on the client's public API alone. */
class ArchitectureTest {
    private final JavaClasses server = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.sluice.server");

    @Test
    void featuresKnowNoneOfEachOther() {
        for (String[] pair : new String[][] {
            {"permit", "policy"}, {"permit", "project"}, {"policy", "permit"}, {"policy", "project"},
            {"project", "permit"}, {"project", "policy"}, {"problem", "security"}, {"problem", "config"},
        }) {
            noClasses()
                    .that()
                    .resideInAPackage("io.sluice.server." + pair[0])
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("io.sluice.server." + pair[1])
                    .check(server);
        }
        slices().matching("io.sluice.server.(*)..").should().beFreeOfCycles().check(server);
    }

    @Test
    void redisIsReachedThroughTheClientAlone() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.lettuce..", "io.sluice.redis..")
                .check(server);
    }

    @Test
    void controllersArePackagePrivate() {
        classes()
                .that()
                .areAnnotatedWith(RestController.class)
                .should()
                .bePackagePrivate()
                .check(server);
    }

    @Test
    void whatIsPublicIsListed() {
        assertThat(server.stream()
                        .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC)
                                && type.getEnclosingClass().isEmpty())
                        .map(type -> type.getSimpleName())
                        .sorted())
                .containsExactly(
                        "Accepts",
                        "Bodies",
                        "Caller",
                        "Causes",
                        "Link",
                        "PolicyFiles",
                        "Problem",
                        "Problems",
                        "Role",
                        "Settings");
    }
}
