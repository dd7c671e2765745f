package dev.pgnear;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.Architectures;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import dev.pgnear.base.KeyHash;
import java.lang.foreign.Arena;

/** The directions of docs/ARCHITECTURE.md. */
@AnalyzeClasses(packages = "dev.pgnear", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchRule layers = Architectures.layeredArchitecture()
            .consideringOnlyDependenciesInLayers()
            .layer("base")
            .definedBy("dev.pgnear.base..")
            .layer("memory")
            .definedBy("dev.pgnear.memory..")
            .layer("cache")
            .definedBy("dev.pgnear.cache..")
            .layer("coherence")
            .definedBy("dev.pgnear.coherence..")
            .layer("wire")
            .definedBy("dev.pgnear.pg.wire..")
            .layer("backend")
            .definedBy("dev.pgnear.pg.backend..")
            .layer("catalog")
            .definedBy("dev.pgnear.pg.catalog..")
            .layer("replication")
            .definedBy("dev.pgnear.pg.replication..")
            .layer("rows")
            .definedBy("dev.pgnear.rows..")
            .layer("resp")
            .definedBy("dev.pgnear.resp..")
            .layer("server")
            .definedBy("dev.pgnear")
            .layer("admin")
            .definedBy("dev.pgnear.admin..")
            .layer("cli")
            .definedBy("dev.pgnear.cli..")
            .whereLayer("memory")
            .mayOnlyBeAccessedByLayers("cache")
            .whereLayer("cache")
            .mayOnlyBeAccessedByLayers("coherence", "catalog", "rows", "resp", "server")
            .whereLayer("coherence")
            .mayOnlyBeAccessedByLayers(
                    "wire", "backend", "catalog", "replication", "rows", "resp", "admin", "server", "cli")
            .whereLayer("backend")
            .mayOnlyBeAccessedByLayers("rows", "server")
            .whereLayer("replication")
            .mayOnlyBeAccessedByLayers("server")
            .whereLayer("rows")
            .mayOnlyBeAccessedByLayers("resp", "server")
            .whereLayer("resp")
            .mayOnlyBeAccessedByLayers("server")
            .whereLayer("server")
            .mayOnlyBeAccessedByLayers("cli", "admin")
            .whereLayer("cli")
            .mayNotBeAccessedByAnyLayer();

    @ArchTest
    static final ArchRule noCycles =
            SlicesRuleDefinition.slices().matching("dev.pgnear.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule theCoherenceCoreIsPure = noClasses()
            .that()
            .resideInAPackage("dev.pgnear.coherence..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.netty..",
                    "java.net..",
                    "java.sql..",
                    "java.io..",
                    "java.nio.channels..",
                    "org.postgresql..",
                    "org.slf4j..")
            .because("rules are simulated: no I/O, no threads, no logging");

    @ArchTest
    static final ArchRule onlyMemoryOwnsOffHeapMemory = noClasses()
            .that()
            .resideOutsideOfPackages("dev.pgnear.memory..")
            .should()
            .dependOnClassesThat()
            .belongToAnyOf(Arena.class);

    @ArchTest
    static final ArchRule timeComesInByConstructor = noClasses()
            .that()
            .resideInAnyPackage(
                    "dev.pgnear.base..", "dev.pgnear.memory..", "dev.pgnear.cache..", "dev.pgnear.coherence..")
            .should()
            .callMethod(System.class, "nanoTime")
            .orShould()
            .callMethod(System.class, "currentTimeMillis");

    @ArchTest
    static final ArchRule baseStandsAlone = noClasses()
            .that()
            .resideInAPackage(KeyHash.class.getPackageName())
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "dev.pgnear.memory..",
                    "dev.pgnear.cache..",
                    "dev.pgnear.coherence..",
                    "dev.pgnear.pg..",
                    "io.netty..");
}
