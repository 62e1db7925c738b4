// A type name denotes one type in the whole tree, in whichever namespace, so that a search finds it and a discussion is
// unambiguous.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace {

namespace fs = std::filesystem;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Without comments, preprocessor lines and what stands in quotes.
std::string code_of(std::string_view text) {
  std::string code;
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const bool line_begins = i == 0 || text[i - 1] == '\n';
    if (rest.starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
    } else if (rest.starts_with("/*")) {
      i = std::min(text.find("*/", i), text.size() - 2) + 2;
    } else if (line_begins && rest.starts_with("#")) {
      size_t end = text.find('\n', i);
      while (end != std::string_view::npos && text[end - 1] == '\\') end = text.find('\n', end + 1);
      i = std::min(end, text.size());
    } else if (rest.starts_with("R\"")) {
      const std::string close = ")" + std::string{rest.substr(2, rest.find('(') - 2)} + "\"";
      i = std::min(text.find(close, i), text.size() - close.size()) + close.size();
    } else if (rest[0] == '"' || (rest[0] == '\'' && (i == 0 || !is_word(text[i - 1])))) {
      const char quote = rest[0];
      for (++i; i < text.size() && text[i] != quote; ++i) i += text[i] == '\\' ? 1 : 0;
      ++i;
    } else {
      code += text[i++];
    }
  }
  return code;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

/// Takes the word off the front.
bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word) || (text.size() > word.size() && is_word(text[word.size()]))) return false;
  text = trim(text.substr(word.size()));
  return true;
}

/// Takes what is in brackets off the front, with the brackets.
void take_bracketed(std::string_view& text, char open, char close) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == open) ++depth;
    if (text[i] == close && --depth == 0) {
      text = trim(text.substr(i + 1));
      return;
    }
  }
}

/// The type that this text before a '{' begins to define; nullopt: it defines none, or a nested or specialized one.
std::optional<std::string> defined_type(std::string_view head) {
  head = trim(head);
  while (take(head, "template")) take_bracketed(head, '<', '>');
  if (take(head, "enum")) {
    static_cast<void>(take(head, "class") || take(head, "struct"));
  } else if (!take(head, "class") && !take(head, "struct") && !take(head, "union")) {
    return std::nullopt;
  }
  if (head.starts_with("[[")) take_bracketed(head, '[', ']');
  size_t end = 0;
  while (end < head.size() && is_word(head[end])) ++end;
  const std::string name{head.substr(0, end)};
  head = trim(head.substr(end));
  static_cast<void>(take(head, "final"));
  const bool plain = head.empty() || (head[0] == ':' && !head.starts_with("::"));
  return plain && !name.empty() ? std::optional{name} : std::nullopt;
}

/// Types defined at namespace scope.
std::vector<std::string> types_in(const std::string& code) {
  std::vector<std::string> names;
  std::vector<bool> scopes;  // of each open brace: it is a namespace's
  size_t statement = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    const bool at_namespace_scope = std::ranges::all_of(scopes, [](bool is_namespace) { return is_namespace; });
    if (code[i] == '{') {
      std::string_view head = trim(std::string_view{code}.substr(statement, i - statement));
      static_cast<void>(take(head, "inline"));
      const bool is_namespace = head.starts_with("namespace") || head.starts_with("extern");
      if (at_namespace_scope && !is_namespace) {
        if (auto name = defined_type(head)) names.push_back(*std::move(name));
      }
      scopes.push_back(is_namespace);
    }
    if (code[i] == '}' && !scopes.empty()) scopes.pop_back();
    if (code[i] == '{' || code[i] == '}' || code[i] == ';') statement = i + 1;
  }
  return names;
}

std::string content_of(const fs::path& path) {
  std::ifstream in{path};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// The files that define a type of that name, for every name.
std::map<std::string, std::vector<std::string>> read_types() {
  std::map<std::string, std::vector<std::string>> found;
  const fs::path root = SHIPLOG_SOURCE_DIR;
  for (const char* top : {"events", "projections", "services", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cc") continue;
      const std::string file = fs::relative(entry.path(), root).string();
      if (file.starts_with("services/client/include/")) continue;  // of other programs: its names are in a namespace
      for (const std::string& name : types_in(code_of(content_of(entry.path())))) found[name].push_back(file);
    }
  }
  return found;
}

const std::map<std::string, std::vector<std::string>>& types_of_the_tree() {
  static const auto types = read_types();
  return types;
}

TEST(TypeNames, AreReadFromSources) {
  EXPECT_EQ(types_in(code_of(R"--(
      #define NOT_A_TYPE struct Macro { }
      namespace a { namespace {
      class Forward;
      template <class T, class U = std::vector<T>> struct Templated { struct Nested {}; enum Inner { kOne }; };
      template <> struct Specialized<int> {};
      struct Outer::Impl {};
      struct [[nodiscard]] Marked final : Base { int f() { struct Local {}; return '{'; } };  // struct Comment {}
      enum class Colour : int { kRed = 1'000 };
      const char* text = "struct Quoted {"; const char* raw = R"(struct Raw {)";
      Value f(const Type& type) { class InFunction {}; }
      } }
      union Either { int a; };
      )--")),
            (std::vector<std::string>{"Templated", "Marked", "Colour", "Either"}));
}

TEST(TypeNames, AreUniqueInTheTree) {
  const auto& types = types_of_the_tree();
  ASSERT_GT(types.size(), 500U);
  for (const auto& [name, files] : types) {
    if (files.size() == 1) continue;
    std::string where;
    for (const std::string& file : files) where += " " + file;
    ADD_FAILURE() << name << " is defined in" << where;
  }
}

}  // namespace
