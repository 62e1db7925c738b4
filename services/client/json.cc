// The two messages as JSON: requests are written, and results, which are one flat object, are read.
#include <cctype>
#include <cstdlib>

#include <shiplog/client.h>

namespace shiplog::client {
namespace {

void append_string(const std::string& text, std::string& out) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      constexpr const char* kDigits = "0123456789abcdef";
      out += "\\u00";
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    } else {
      out += c;
    }
  }
  out += '"';
}

/// Members of one object, one after the other.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_{out} { out_ += '{'; }
  void end() { out_ += '}'; }
  void text(const char* name, const std::string& value) {
    if (value.empty()) return;
    member(name);
    append_string(value, out_);
  }
  void raw(const char* name, const std::string& json) {
    if (json.empty()) return;
    member(name);
    out_ += json;
  }

 private:
  void member(const char* name) {
    if (out_.back() != '{') out_ += ',';
    append_string(name, out_);
    out_ += ':';
  }
  std::string& out_;
};

/// The members of one JSON object: strings unescaped, other values as they stand.
class FlatReader {
 public:
  explicit FlatReader(const std::string& json) : json_{json} {}

  std::optional<std::map<std::string, std::string>> read() {
    std::map<std::string, std::string> members;
    if (!skip('{')) return std::nullopt;
    if (skip('}')) return members;
    do {
      const auto name = string();
      if (!name || !skip(':')) return std::nullopt;
      const auto value = peek() == '"' ? string() : other();
      if (!value) return std::nullopt;
      members[*name] = *value;
    } while (skip(','));
    if (!skip('}')) return std::nullopt;
    return members;
  }

 private:
  char peek() {
    while (at_ < json_.size() && std::isspace(static_cast<unsigned char>(json_[at_])) != 0) ++at_;
    return at_ < json_.size() ? json_[at_] : '\0';
  }
  bool skip(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  std::optional<std::string> string() {
    if (!skip('"')) return std::nullopt;
    std::string text;
    while (at_ < json_.size() && json_[at_] != '"') {
      char c = json_[at_++];
      if (c != '\\') {
        text += c;
        continue;
      }
      if (at_ == json_.size()) return std::nullopt;
      c = json_[at_++];
      if (c == 'u') {
        if (!append_code_point(text)) return std::nullopt;
        continue;
      }
      text += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'b' ? '\b' : c == 'f' ? '\f' : c;
    }
    if (!skip('"')) return std::nullopt;
    return text;
  }
  std::optional<unsigned> code_unit() {
    if (at_ + 4 > json_.size()) return std::nullopt;
    char* end = nullptr;
    const std::string digits = json_.substr(at_, 4);
    const unsigned long unit = std::strtoul(digits.c_str(), &end, 16);
    if (*end != '\0') return std::nullopt;
    at_ += 4;
    return static_cast<unsigned>(unit);
  }
  bool append_code_point(std::string& text) {
    const auto unit = code_unit();
    if (!unit) return false;
    unsigned point = *unit;
    if (point >= 0xd800 && point < 0xdc00 && json_.compare(at_, 2, "\\u") == 0) {
      at_ += 2;
      const auto low = code_unit();
      if (!low) return false;
      point = 0x10000 + ((point - 0xd800) << 10U) + (*low - 0xdc00);
    }
    const auto put = [&](unsigned byte) { text += static_cast<char>(byte); };
    if (point < 0x80) {
      put(point);
    } else if (point < 0x800) {
      put(0xc0 | (point >> 6U));
      put(0x80 | (point & 63U));
    } else if (point < 0x10000) {
      put(0xe0 | (point >> 12U));
      put(0x80 | ((point >> 6U) & 63U));
      put(0x80 | (point & 63U));
    } else {
      put(0xf0 | (point >> 18U));
      put(0x80 | ((point >> 12U) & 63U));
      put(0x80 | ((point >> 6U) & 63U));
      put(0x80 | (point & 63U));
    }
    return true;
  }
  /// A number, true, false, null, or a nested object, which holds no braces in strings here.
  std::optional<std::string> other() {
    peek();
    const size_t begin = at_;
    int depth = 0;
    bool quoted = false;
    for (; at_ < json_.size(); ++at_) {
      const char c = json_[at_];
      if (quoted) {
        if (c == '\\') {
          ++at_;
        } else if (c == '"') {
          quoted = false;
        }
        continue;
      }
      if (c == '"') quoted = true;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']' || c == ',') && depth == 0) break;
      if (c == '}' || c == ']') --depth;
    }
    if (at_ == begin) return std::nullopt;
    return json_.substr(begin, at_ - begin);
  }

  const std::string& json_;
  size_t at_ = 0;
};

}  // namespace

std::string to_json(const Request& request) {
  std::string object;
  ObjectWriter address{object};
  address.text("apiVersion", request.api_version);
  address.text("kind", request.kind);
  address.text("resource", request.resource);
  address.text("namespace", request.name_space);
  address.text("name", request.name);
  address.text("subresource", request.subresource);
  address.end();
  std::string preconditions;
  ObjectWriter expected{preconditions};
  expected.text("resourceVersion", request.resource_version);
  expected.text("uid", request.uid);
  expected.end();
  std::string json;
  ObjectWriter writer{json};
  writer.text("id", request.id);
  writer.text("verb", request.verb);
  if (object != "{}") writer.raw("object", object);
  writer.raw("manifest", request.manifest);
  writer.text("patchType", request.patch_type);
  writer.text("fieldManager", request.field_manager);
  if (request.force) writer.raw("force", "true");
  if (request.dry_run) writer.raw("dryRun", "true");
  if (preconditions != "{}") writer.raw("preconditions", preconditions);
  if (request.replicas) writer.raw("replicas", std::to_string(*request.replicas));
  writer.text("token", request.token);
  writer.text("deadline", request.deadline);
  writer.text("propagationPolicy", request.propagation_policy);
  writer.end();
  return json;
}

std::optional<Result> parse_result(const std::string& json) {
  const auto members = FlatReader{json}.read();
  if (!members) return std::nullopt;
  const auto member = [&](const char* name) {
    const auto found = members->find(name);
    return found == members->end() ? std::string{} : found->second;
  };
  Result result;
  result.id = member("id");
  result.outcome = member("outcome");
  result.duplicate = member("duplicate") == "true";
  result.code = std::atoi(member("code").c_str());
  result.reason = member("reason");
  result.message = member("message");
  result.revision = member("revision");
  result.uid = member("uid");
  result.resource_version = member("resourceVersion");
  result.entry_id = member("entryId");
  result.json = json;
  if (result.outcome.empty()) return std::nullopt;
  return result;
}

}  // namespace shiplog::client
