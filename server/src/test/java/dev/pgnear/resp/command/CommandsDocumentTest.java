package dev.pgnear.resp.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** {@code docs/commands.md} is what the table says. To write it anew: {@code mvn test -Dtest=CommandsDocumentTest -Ddocs.write=true}. */
class CommandsDocumentTest {
    private static final Path FILE = Path.of("..", "docs", "commands.md");

    @Test
    void documentIsUpToDate() throws IOException {
        if (Boolean.getBoolean("docs.write")) {
            Files.writeString(FILE, CommandsDocument.text());
        }
        assertThat(FILE).content().isEqualTo(CommandsDocument.text());
    }
}
