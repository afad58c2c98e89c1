package io.sluice;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.dataformat.yaml.YAMLFactory;
import tools.jackson.dataformat.yaml.YAMLParser;

/**
 * Turns text, YAML or JSON, into a tree whose values know their path and line.
 *
 * <p>What a policy has no use for is reported, not understood: aliases and the anchors of lists and mappings, tags, a
 * second document, duplicate keys, deep nesting.
 */
final class PolicyReader {
    static final int MAX_BYTES = 256 * 1024;
    static final int MAX_DEPTH = 16;
    private static final int MAX_DIGITS = 40;
    private static final YAMLFactory YAML = new YAMLFactory();
    private static final JsonFactory JSON = new JsonFactory();

    private final JsonParser parser;
    private final Problems problems;
    private int depth;

    private PolicyReader(JsonParser parser, Problems problems) {
        this.parser = parser;
        this.problems = problems;
    }

    /** The text of a file; refuses one that is too large, unreadable or not UTF-8. */
    static String text(Path file) {
        String problem;
        try {
            long size = Files.size(file);
            if (size <= MAX_BYTES) {
                byte[] bytes = Files.readAllBytes(file);
                return StandardCharsets.UTF_8
                        .newDecoder()
                        .decode(ByteBuffer.wrap(bytes))
                        .toString();
            }
            problem = tooLarge(size);
        } catch (CharacterCodingException e) {
            problem = "is not UTF-8 text";
        } catch (IOException e) {
            problem = "cannot be read: " + e;
        }
        throw new InvalidPolicyException(List.of(new InvalidPolicyException.Problem("", 0, problem, file.toString())));
    }

    /** The tree, or {@code null} if there is none; then that is among the problems. */
    static Node.@Nullable Members read(String text, Problems problems) {
        int bytes = text.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_BYTES) {
            problems.add("", 0, tooLarge(bytes), "");
            return null;
        }
        String plain = text.startsWith("\uFEFF") ? text.substring(1) : text;
        JacksonException notJson = null;
        if (plain.stripLeading().startsWith("{")) {
            try {
                return read(JSON, plain, problems);
            } catch (JacksonException e) {
                notJson = e;
            }
        }
        try {
            return read(YAML, plain, problems);
        } catch (JacksonException e) {
            // Of two complaints the one from further down is about what is really wrong.
            JacksonException cause = notJson != null && line(notJson) > line(e) ? notJson : e;
            problems.add("", line(cause), "is not valid YAML or JSON: " + message(cause), "");
            return null;
        }
    }

    private static Node.@Nullable Members read(TokenStreamFactory format, String text, Problems problems) {
        Problems found = new Problems();
        try (JsonParser parser = format.createParser(ObjectReadContext.empty(), text)) {
            Node.Members document = new PolicyReader(parser, found).document();
            problems.addAll(found);
            return document;
        }
    }

    private Node.@Nullable Members document() {
        if (parser.nextToken() == null) {
            problems.add("", 1, "the document is empty", "");
            return null;
        }
        Node root = value("", line());
        if (parser.nextToken() != null) {
            problems.add("", line(), "holds more than one document", "");
        }
        if (root instanceof Node.Members members) {
            return members;
        }
        problems.add(root, "must be a mapping of keys to values");
        return null;
    }

    /** The value the parser stands on; {@code line} is where its key or the value itself begins. */
    private Node value(String path, int line) {
        boolean odd = reportOddity(path, line);
        JsonToken token = parser.currentToken();
        if (token == JsonToken.START_OBJECT || token == JsonToken.START_ARRAY) {
            if (depth == MAX_DEPTH) {
                problems.add(path, line, "is nested more than " + MAX_DEPTH + " levels deep", "");
                parser.skipChildren();
                return new Node.Broken(path, line, "…");
            }
            depth++;
            Node node = token == JsonToken.START_OBJECT ? members(path, line) : items(path, line);
            depth--;
            return node;
        }
        if (odd) {
            return new Node.Broken(path, line, parser.getString());
        }
        return switch (token) {
            case VALUE_NULL -> new Node.Nothing(path, line);
            case VALUE_TRUE -> new Node.Flag(path, line, true);
            case VALUE_FALSE -> new Node.Flag(path, line, false);
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> number(path, line, parser.getString());
            default -> new Node.Text(path, line, parser.getString());
        };
    }

    private Node members(String path, int line) {
        Map<String, Node> values = new LinkedHashMap<>();
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String key = parser.currentName();
            int keyLine = line();
            String keyPath = path + "/" + pointer(key);
            if (isAlias()) {
                problems.add(keyPath, keyLine, "aliases are not allowed here", "*" + Node.shorten(key));
            }
            parser.nextToken();
            Node value = value(keyPath, keyLine);
            Node first = values.putIfAbsent(key, value);
            if (first != null) {
                problems.add(value, "is a duplicate of the key on line " + first.line());
            }
        }
        return new Node.Members(path, line, values);
    }

    private Node items(String path, int line) {
        List<Node> values = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            values.add(value(path + "/" + values.size(), line()));
        }
        return new Node.Items(path, line, values);
    }

    private Node number(String path, int line, String text) {
        try {
            BigDecimal number = text.length() > MAX_DIGITS ? null : new BigDecimal(text);
            if (number != null && Math.abs((long) number.scale()) <= MAX_DIGITS) {
                return new Node.Decimal(path, line, number, text);
            }
            problems.add(path, line, "is a number out of all range", Node.shorten(text));
            return new Node.Broken(path, line, Node.shorten(text));
        } catch (NumberFormatException e) {
            // YAML's .inf and .nan
            return new Node.Text(path, line, text);
        }
    }

    private boolean reportOddity(String path, int line) {
        if (isAlias()) {
            problems.add(path, line, "aliases are not allowed here", "*" + Node.shorten(parser.getString()));
            return true;
        }
        Object anchor = parser.getObjectId();
        if (anchor != null) {
            problems.add(path, line, "anchors are not allowed here", "&" + Node.shorten(anchor.toString()));
            return true;
        }
        Object tag = parser.getTypeId();
        if (tag != null) {
            problems.add(path, line, "tags are not allowed here", Node.shorten(tag.toString()));
            return true;
        }
        return false;
    }

    private boolean isAlias() {
        return parser instanceof YAMLParser yaml && yaml.isCurrentAlias();
    }

    private int line() {
        return parser.currentTokenLocation().getLineNr();
    }

    private static int line(JacksonException e) {
        if (e.getCause() instanceof MarkedYamlEngineException yaml
                && yaml.getProblemMark().isPresent()) {
            return yaml.getProblemMark().get().getLine() + 1;
        }
        return e.getLocation() == null ? 0 : Math.max(0, e.getLocation().getLineNr());
    }

    private static String message(JacksonException e) {
        if (e.getCause() instanceof MarkedYamlEngineException yaml && yaml.getProblem() != null) {
            return Node.shorten(yaml.getProblem().strip());
        }
        return Node.shorten(e.getOriginalMessage().strip());
    }

    /** A key as a part of a JSON Pointer (RFC 6901). */
    private static String pointer(String key) {
        return Node.shorten(key).replace("~", "~0").replace("/", "~1");
    }

    private static String tooLarge(long bytes) {
        return "is larger than " + MAX_BYTES / 1024 + " KiB: it has " + bytes + " bytes of " + MAX_BYTES;
    }
}
