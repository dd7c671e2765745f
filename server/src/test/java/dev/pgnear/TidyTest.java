package dev.pgnear;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The repository tests its own tidiness. */
class TidyTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern MARKER = Pattern.compile("\\b(TO" + "DO|FIX" + "ME|X" + "XX|HA" + "CK)\\b");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+)(#[^)]*)?\\)");
    private static final int LONGEST_SOURCE = 1000;
    private static final int LONGEST_TEST = 1500;

    private static List<Path> files(String... endings) throws IOException {
        try (Stream<Path> s = Files.walk(ROOT)) {
            return s.filter(Files::isRegularFile)
                    .filter(p -> !p.toString().contains("/target/")
                            && !p.toString().contains("/.git/")
                            && !p.toString().contains("/node_modules/"))
                    .filter(p -> Stream.of(endings).anyMatch(e -> p.toString().endsWith(e)))
                    .sorted()
                    .toList();
        }
    }

    private static String text(Path p) {
        try {
            return Files.readString(p, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void noLeftOverMarkers() throws IOException {
        assertThat(files(".java", ".sql", ".md", ".sh", ".js"))
                .filteredOn(p -> MARKER.matcher(text(p)).find())
                .isEmpty();
    }

    @Test
    void noFileIsTooLong() throws IOException {
        assertThat(files(".java"))
                .filteredOn(p ->
                        text(p).lines().count() > (p.toString().contains("/src/test/") ? LONGEST_TEST : LONGEST_SOURCE))
                .isEmpty();
    }

    @Test
    void noSleepInTestsButToPaceTheTortureLoop() throws IOException {
        Pattern sleep = Pattern.compile("Thread\\.sleep\\(");
        assertThat(files(".java"))
                .filteredOn(p -> p.toString().contains("/src/test/")
                        && sleep.matcher(text(p)).find())
                .allMatch(p ->
                        p.endsWith("TortureIT.java") || p.endsWith("SlowStandby.java") || p.endsWith("TidyTest.java"));
    }

    @Test
    void noTestIsDisabledWithoutAReasonInItsName() throws IOException {
        assertThat(files(".java"))
                .filteredOn(p -> text(p).contains("@" + "Disabled"))
                .isEmpty();
    }

    @Test
    void linksInTheDocumentationLeadSomewhere() throws IOException {
        List<String> broken = new ArrayList<>();
        for (Path p : files(".md")) {
            Matcher m = LINK.matcher(text(p));
            while (m.find()) {
                if (!Files.exists(p.resolveSibling(m.group(1)))) {
                    broken.add(ROOT.relativize(p) + " -> " + m.group(1));
                }
            }
        }
        assertThat(broken).isEmpty();
    }

    @Test
    void everyPackageIsNullMarkedAndSaysWhatItIsFor() throws IOException {
        for (Path p : files(".java")) {
            if (p.toString().contains("/src/main/")
                    && !p.endsWith("package-info.java")
                    && !p.endsWith("module-info.java")) {
                Path info = p.resolveSibling("package-info.java");
                assertThat(info).exists();
                assertThat(text(info)).contains("@NullMarked").startsWith("/**");
            }
        }
    }

    @Test
    void scriptsAreExecutable() {
        for (String s : List.of("pgnear", "verify", ".ci/run")) {
            assertThat(ROOT.resolve(s)).isExecutable();
        }
    }
}
