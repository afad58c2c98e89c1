package io.sluice.testbed.emulator;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** A judge that shares code with the judged proves nothing. */
@AnalyzeClasses(packages = "io.sluice.testbed.emulator", importOptions = DoNotIncludeTests.class)
class IndependenceTest {

    @ArchTest
    static final ArchRule knowsNothingOfSluiceOrOtherLimiters = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.sluice", "io.sluice.redis..", "io.sluice.provider..", "io.github.bucket4j..", "io.lettuce..")
            .orShould()
            .dependOnClassesThat()
            .resideInAnyPackage("io.sluice.testbed.cli..", "io.sluice.testbed.fleet..");
}
