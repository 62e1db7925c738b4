#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/random.h"
#include "events/base/yaml.h"

namespace shiplog {
namespace {

// The document as canonical JSON, or the error's sentence.
std::string read(std::string_view text) {
  const auto value = parse_yaml(text);
  if (value) return to_json(value.value());
  EXPECT_EQ(value.error().code, ErrorCode::kBadRequest);
  return value.error().message;
}

std::string write(std::string_view json) { return to_yaml(parse_json(json).value()); }

bool refused(std::string_view text) { return read(text).starts_with("invalid YAML"); }

TEST(Yaml, ResolvesPlainScalarsAsKubernetesDoes) {
  const std::pair<const char*, const char*> cases[] = {
      {"true", "true"},
      {"True", "true"},
      {"TRUE", "true"},
      {"tRUE", "\"tRUE\""},
      {"yes", "true"},
      {"No", "false"},
      {"ON", "true"},
      {"off", "false"},
      {"y", "true"},
      {"N", "false"},
      {"~", "null"},
      {"null", "null"},
      {"Null", "null"},
      {"nULL", "\"nULL\""},
      {"", "null"},
      {"1", "1"},
      {"-1", "-1"},
      {"+5", "5"},
      {"0x1F", "31"},
      {"-0x1F", "-31"},
      {"017", "15"},
      {"0o17", "15"},
      {"08", "8"},
      {"0b11", "3"},
      {"0b2", "\"0b2\""},
      {"1_000", "1000"},
      {"1.0", "1"},
      {"1.5", "1.5"},
      {".5", "0.5"},
      {"1e3", "1000"},
      {"1e", "\"1e\""},
      {"1.", "1"},
      {".", "\".\""},
      {"+", "\"+\""},
      {"-0", "0"},
      {"1e400", "\"1e400\""},
      {"1:30", "\"1:30\""},
      {"2001-01-01", "\"2001-01-01\""},
      {"a:b", "\"a:b\""},
      {"9223372036854775807", "9223372036854775807"},
      {"9223372036854775808", "9223372036854775808.0"},
      {"500m", "\"500m\""},
      {"1Gi", "\"1Gi\""},
      {"v1", "\"v1\""},
      {"x #y", "\"x\""},
      {"x#y", "\"x#y\""},
  };
  for (const auto& [text, json] : cases) {
    EXPECT_EQ(read("a: " + std::string{text}), "{\"a\":" + std::string{json} + "}") << text;
  }
}

TEST(Yaml, QuotedScalarsAreStrings) {
  EXPECT_EQ(read(R"({a: 'true', b: "1", c: '', d: "null", e: 'it''s', f: "\u00e9\n\x41"})"),
            R"({"a":"true","b":"1","c":"","d":"null","e":"it's","f":"é\nA"})");
}

TEST(Yaml, TagsForceAType) {
  EXPECT_EQ(read("{a: !!str 1, b: !!int '1', c: !!float 1.5, d: !!bool yes, e: !!map {}, f: !!seq []}"),
            R"({"a":"1","b":1,"c":1.5,"d":true,"e":{},"f":[]})");
  for (const char* text :
       {"a: !!int x", "a: !!bool 1", "a: !foo x", "a: !!binary aGk=", "a: !!set {x}", "a: !!map []"}) {
    EXPECT_TRUE(refused(text)) << read(text);
  }
}

TEST(Yaml, ReadsBlocksOfText) {
  EXPECT_EQ(read("a: |\n  x\n    y\nb: |-\n  x\nc: |+\n  x\n\nd: >\n  x\n  y\ne: |2\n   x\n"),
            R"({"a":"x\n  y\n","b":"x","c":"x\n\n","d":"x y\n","e":" x\n"})");
  EXPECT_EQ(read("a: |\r\n  x\r\n  y\r\nb: 1\r\n"), R"({"a":"x\ny\n","b":1})");
}

TEST(Yaml, KeysBecomeStrings) {
  EXPECT_EQ(read("1: a\n1.50: b\ntrue: c\n0x10: d\n'x': e"), R"({"1":"a","1.5":"b","16":"d","true":"c","x":"e"})");
  for (const char* text : {"~: x", "[a]: b", "{a: b}: c"}) EXPECT_TRUE(refused(text)) << read(text);
}

TEST(Yaml, ReadsAManifest) {
  EXPECT_EQ(read("# a comment\napiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: {}}\nspec:\n  containers:\n"
                 "  - name: a\n    args: [\"-v\", 2]\n  - name: b\n"),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"labels":{},"name":"web"},)"
            R"("spec":{"containers":[{"args":["-v",2],"name":"a"},{"name":"b"}]}})");
}

TEST(Yaml, ReadsJsonWithSurrogatePairs) {
  EXPECT_EQ(read(" {\"a\": \"\\ud83d\\ude00\",\n\t\"b\": 1.0}"), R"({"a":"😀","b":1.0})");
}

TEST(Yaml, ReadsEveryDocumentOfAStream) {
  const auto documents = parse_yaml_stream("---\n# nothing here\n---\na: 1\n---\n---\nb: 2\n...\n---\n[]\n");
  ASSERT_TRUE(documents) << documents.error().message;
  EXPECT_EQ(to_json(Value::array(documents.value())), R"([{"a":1},{"b":2},[]])");
  EXPECT_TRUE(parse_yaml_stream("").value().empty());
  EXPECT_TRUE(parse_yaml_stream("# only a comment\n").value().empty());
}

TEST(Yaml, OneDocumentMeansOne) {
  EXPECT_EQ(read(""), "invalid YAML: no document");
  EXPECT_EQ(read("a: 1\n---\nb: 2"), "invalid YAML: one document expected, not 2");
  EXPECT_EQ(read("---\na: 1\n---\n"), R"({"a":1})");
}

TEST(Yaml, ErrorsContainThePosition) {
  EXPECT_TRUE(read("a: 1\nb: [1").starts_with("invalid YAML at line 2, column ")) << read("a: 1\nb: [1");
  EXPECT_EQ(read("a: 1\nb: 2\na: 3"),
            "invalid YAML at line 3, column 1: the key \"a\" stands in this object already, at line 1");
  EXPECT_EQ(read("a: 1\nb: .inf"), "invalid YAML at line 2, column 4: JSON has no infinity and no NaN");
  EXPECT_EQ(read("a: 1\nb: x\x04"), "invalid YAML at line 2, column 5: a control character");
  EXPECT_EQ(read("a: \xff"), "invalid YAML: not UTF-8");
}

TEST(Yaml, RepeatedKeysAreReportedAndTheLastOneCountsIfTheCallerAsksForThem) {
  const auto read_with = [](std::string_view text, const std::vector<std::string>& lines) {
    std::vector<std::string> duplicates;
    const auto value = parse_yaml(text, &duplicates);
    EXPECT_EQ(duplicates, lines) << text;
    return value ? to_json(value.value()) : value.error().message;
  };
  EXPECT_EQ(read_with("a: 1\nb:\n- x: 1\n  x: 2\na: 2\n",
                      {R"(line 4: key "x" already set in map)", R"(line 5: key "a" already set in map)"}),
            R"({"a":2,"b":[{"x":2}]})");
  EXPECT_EQ(read_with("\t{\n\t\t\"a\": {\"b\": 1,\n\t\t\"b\": 2}\n\t}", {R"(line 3: key "b" already set in map)"}),
            R"({"a":{"b":2}})")
      << "JSON with tabs";
  EXPECT_EQ(read_with("x: &x {a: 1}\nz: {a: 2, <<: *x, <<: *x}\n", {}), R"({"x":{"a":1},"z":{"a":2}})");
  EXPECT_EQ(read_with("a: [1", {}).substr(0, 23), "invalid YAML at line 1,");
}

TEST(Yaml, RefusesWhatIsAlmostYaml) {
  for (const char* text :
       {"a: b: c", "a\nb: c", "\ta: 1", "a:\n\t- b", "a: 'x", "a: \"x", "a: *x", "{a: 1} x", "a: 1\n}", "a: @x",
        "a: `x", "a: - x", "[1, 2", "{a: 1", "{\"a\": 1, \"a\": 2}", "\"\\N\"", "a: !!float x"}) {
    EXPECT_TRUE(refused(text)) << text << " gives " << read(text);
  }
}

TEST(Yaml, AliasesStandForTheirAnchors) {
  EXPECT_EQ(read("x: &a {b: 1}\nz: *a\nw: [*a, *a]"), R"({"w":[{"b":1},{"b":1}],"x":{"b":1},"z":{"b":1}})");
  EXPECT_TRUE(refused("x: &a [*a]"));
}

TEST(Yaml, MergeKeysFillWhatIsMissing) {
  EXPECT_EQ(read("x: &a {b: 1, c: 1}\nz: {<<: *a, b: 2}\nw: {b: 2, <<: [{c: 3}, *a]}\n'<<': q"),
            R"({"<<":"q","w":{"b":2,"c":3},"x":{"b":1,"c":1},"z":{"b":2,"c":1}})");
  EXPECT_TRUE(refused("y: {<<: 1}"));
}

TEST(Yaml, AliasesOfAliasesAreBounded) {  // a billion laughs
  std::string text = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int j = 1; j < 10; ++j) text += ", " + before;
    text += "]\n";
  }
  EXPECT_NE(read(text).find("aliases repeat too much"), std::string::npos) << read(text).substr(0, 200);
  // Also when a single long text is what is repeated.
  text = "a: &a " + std::string(100'000, 'x') + "\nb: [*a";
  for (int i = 0; i < 100; ++i) text += ", *a";
  EXPECT_NE(read(text + "]").find("aliases repeat too much"), std::string::npos);
}

TEST(Yaml, BoundsTheDepth) {
  EXPECT_NE(read("a: " + std::string(kMaxJsonDepth, '[') + std::string(kMaxJsonDepth, ']')).find("nested deeper"),
            std::string::npos);
  EXPECT_TRUE(refused(std::string(100'000, '[')));
  EXPECT_TRUE(refused(std::string(100'000, '{')));
  std::string blocks;
  for (int i = 0; i < 300; ++i) blocks += "- ";
  EXPECT_TRUE(refused(blocks + "a"));
  // Through aliases: 200 levels inside 200 levels.
  const std::string half(200, '[');
  const std::string close(200, ']');
  EXPECT_NE(read("a: &a " + half + close + "\nb: " + half + "*a" + close).find("nested deeper"), std::string::npos);
}

TEST(YamlWriter, PrintsAsKubectlDoes) {
  EXPECT_EQ(
      write(R"({"kind":"Deployment","metadata":{"creationTimestamp":"2026-01-02T03:04:05Z","labels":{},"name":"web"},
                     "spec":{"paused":false,"replicas":3,"rules":[],"template":{"containers":[
                       {"args":["-v","2"],"name":"a"},{"name":"b","ports":[{"containerPort":80}]}]}},"status":null})"),
      "kind: Deployment\n"
      "metadata:\n"
      "  creationTimestamp: \"2026-01-02T03:04:05Z\"\n"
      "  labels: {}\n"
      "  name: web\n"
      "spec:\n"
      "  paused: false\n"
      "  replicas: 3\n"
      "  rules: []\n"
      "  template:\n"
      "    containers:\n"
      "    - args:\n"
      "      - -v\n"
      "      - \"2\"\n"
      "      name: a\n"
      "    - name: b\n"
      "      ports:\n"
      "      - containerPort: 80\n"
      "status: null\n");
}

TEST(YamlWriter, QuotesWhatWouldBeReadAsSomethingElse) {
  const std::pair<const char*, const char*> cases[] = {
      {"\"true\"", "\"true\""},
      {"\"1\"", "\"1\""},
      {"\"\"", "\"\""},
      {"\"null\"", "\"null\""},
      {"\"off\"", "\"off\""},
      {"\"1e3\"", "\"1e3\""},
      {"\"1:30\"", "\"1:30\""},
      {"\"0x1\"", "\"0x1\""},
      {"\"<<\"", "\"<<\""},
      {"\"a: b\"", "'a: b'"},
      {"\"a:\"", "'a:'"},
      {"\"*\"", "'*'"},
      {"\"- a\"", "'- a'"},
      {"\"-a\"", "-a"},
      {"\"a #b\"", "'a #b'"},
      {"\"#a\"", "'#a'"},
      {"\"{a}\"", "'{a}'"},
      {"\" a\"", "' a'"},
      {"\"a \"", "'a '"},
      {"\"it's\"", "it's"},
      {"\"'a'\"", "'''a'''"},
      {"\"a\\tb\"", "\"a\\tb\""},
      {"\"a\\u0000\"", "\"a\\x00\""},
      {"\"500m\"", "500m"},
      {"\"é\"", "é"},
      {"\"😀\"", "\"\\U0001F600\""},
      {"\"http://x:80/\"", "http://x:80/"},
      {"\"---\"", "'---'"},
      {"1.5", "1.5"},
      {"-3", "-3"},
      {"\"@a\"", "'@a'"},
  };
  for (const auto& [json, yaml] : cases) EXPECT_EQ(write(json), std::string{yaml} + "\n") << json;
}

TEST(YamlWriter, PrintsLinesAsABlock) {
  EXPECT_EQ(write(R"({"a":"x\ny\n","b":"x\n\n  y","c":" x\ny","d":"x\n\n","e":["p\nq"],"f":"x \ny"})"),
            "a: |\n  x\n  y\n"
            "b: |-\n  x\n\n    y\n"
            "c: |2-\n   x\n  y\n"
            "d: |+\n  x\n\n"
            "e:\n- |-\n  p\n  q\n"
            "f: \"x \\ny\"\n");
}

Value random_document(Random& random, int depth) {
  static const std::vector<std::string> kPieces = {
      "a",  "b",  " ",  "  ", "\n", "\n\n", ": ", ":",    "#",   " #",   "- ",   "-",      "?",          "*",
      "&",  "!",  "|",  ">",  "'",  "\"",   "%",  "@",    "`",   "{",    "}",    "[",      "]",          ",",
      "1",  "~",  ".5", "é",  "😀",  "\t",   "\\", "true", "no",  "null", "0x1",  "1:30",   "2024-01-01", "---",
      "..", "<<", "=",  "/",  "_",  "+",    "\r", "e3",   "x y", "\x01", "\x7f", "\u2028", "\u00a0",     "\u0085"};
  const auto text = [&] {
    std::string made;
    for (uint64_t left = random_below(random, 6); left > 0; --left)
      made += kPieces[random_below(random, kPieces.size())];
    return made;
  };
  const uint64_t kind = random_below(random, depth == 0 ? 7 : 10);
  if (kind < 5) return text();
  if (kind == 5) return static_cast<int64_t>(random.next());
  if (kind == 6)
    return random_below(random, 2) == 0 ? Value{0.25 * static_cast<double>(random_below(random, 9) * 2 + 1)} : Value{};
  Value made = kind == 7 ? Value::array() : Value::object();
  for (uint64_t left = random_below(random, 4); left > 0; --left) {
    if (kind == 7) {
      made.push_back(random_document(random, depth - 1));
    } else {
      made.set(text(), random_document(random, depth - 1));
    }
  }
  return made;
}

TEST(YamlWriter, AnyValueReadsBackEqual) {
  SeededRandom random{11};
  for (int i = 0; i < 3000; ++i) {
    const Value value = Value::object({{"a", random_document(random, 3)}, {"b", random_document(random, 3)}});
    const std::string text = to_yaml(value);
    const auto back = parse_yaml(text);
    ASSERT_TRUE(back) << text << "\n" << back.error().message;
    ASSERT_EQ(to_json(back.value()), to_json(value)) << text;
  }
}

}  // namespace
}  // namespace shiplog
