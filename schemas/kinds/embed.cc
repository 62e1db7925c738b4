// Build-time program: writes the .cc that contains the documents of schemas/kinds.
// Usage: shiplog_embed OUT.cc BASE_DIR FILE... (files relative to BASE_DIR)

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <yaml-cpp/yaml.h>

namespace {

void append_string(const std::string& text, std::string& out) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      throw std::runtime_error("control character in a string");
    } else {
      out += c;
    }
  }
  out += '"';
}

bool is_number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789.-") != std::string::npos) return false;
  double number = 0;
  std::istringstream in{text};
  in >> number;
  return in.eof() && !in.fail();
}

// Plain scalars follow YAML 1.2's core schema; everything quoted is a string (yaml-cpp tags it "!").
void append_scalar(const YAML::Node& node, std::string& out) {
  const std::string& text = node.Scalar();
  const bool plain = node.Tag() != "!";
  if (plain && (text == "true" || text == "false" || is_number(text))) {
    out += text;
  } else {
    append_string(text, out);
  }
}

void append_json(const YAML::Node& node, std::string& out) {
  if (node.IsMap()) {
    char separator = '{';
    for (const auto& member : node) {
      out += separator;
      append_string(member.first.Scalar(), out);
      out += ':';
      append_json(member.second, out);
      separator = ',';
    }
    out += separator == '{' ? "{}" : "}";
  } else if (node.IsSequence()) {
    char separator = '[';
    for (const auto& item : node) {
      out += separator;
      append_json(item, out);
      separator = ',';
    }
    out += separator == '[' ? "[]" : "]";
  } else if (node.IsScalar()) {
    append_scalar(node, out);
  } else {
    out += "null";
  }
}

std::string content_of(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  if (!in) throw std::runtime_error("cannot be read");
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  if (!path.ends_with(".yaml")) return text;
  std::string json;
  append_json(YAML::Load(text), json);
  return json;
}

// As adjacent literals: a single literal must not exceed 64 KiB.
std::string literal(const std::string& bytes) {
  static constexpr size_t kPiece = 8000;
  std::string out;
  for (size_t at = 0; at == 0 || at < bytes.size(); at += kPiece) {
    out += "\n    \"";
    for (const char c : bytes.substr(at, kPiece)) {
      if (c == '\n') {
        out += "\\n";
      } else if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
      } else {
        out += c;
      }
    }
    out += '"';
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: shiplog_embed OUT.cc BASE_DIR FILE...\n";
    return 2;
  }
  const std::string base = argv[2];
  std::vector<std::string> names(argv + 3, argv + argc);
  std::sort(names.begin(), names.end());
  std::string text =
      "// Made at build time from the files of schemas/kinds.\n#include \"schemas/kinds/embedded.h\"\n\n"
      "namespace shiplog {\nnamespace {\n\nusing namespace std::string_view_literals;\n\n"
      "constexpr EmbeddedDocument kDocuments[] = {\n";
  for (const std::string& name : names) {
    try {
      text += "  {\"" + name + "\"sv," + literal(content_of(base + "/" + name)) + "sv},\n";
    } catch (const std::exception& error) {
      std::cerr << name << ": " << error.what() << "\n";
      return 1;
    }
  }
  text +=
      "};\n\n}  // namespace\n\nstd::span<const EmbeddedDocument> embedded_kinds() { return kDocuments; }\n\n"
      "}  // namespace shiplog\n";
  std::ofstream out{argv[1], std::ios::binary | std::ios::trunc};
  out << text;
  out.close();
  if (!out) {
    std::cerr << argv[1] << " cannot be written\n";
    return 1;
  }
  return 0;
}
