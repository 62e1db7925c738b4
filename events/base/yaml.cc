#include "events/base/yaml.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <sstream>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "events/base/yaml_scalar.h"

namespace shiplog {
namespace {

// What all aliases of a stream together may repeat, in bytes of text and nodes. Ten lines of aliases of aliases could
// otherwise stand for more than any memory holds.
constexpr size_t kMaxAliased = size_t{4} << 20U;

Error error_at(int line, int column, const std::string& problem) {
  return {ErrorCode::kBadRequest, "invalid YAML at line " + std::to_string(line + 1) + ", column " +
                                      std::to_string(column + 1) + ": " + problem};
}

// Leaves the library's parser from inside its callbacks, which can return nothing.
struct YamlRefusal {
  Error error;
};

[[noreturn]] void refuse(const YAML::Mark& mark, const std::string& problem) {
  throw YamlRefusal{error_at(mark.line, mark.column, problem)};
}

// A value with what an alias to it would cost.
struct YamlNode {
  Value value;
  size_t weight = 1;  // nodes, and bytes of strings
  size_t depth = 0;   // of objects and arrays
};

// Builds values from the parser's events. One for a whole stream.
class YamlBuilder final : public YAML::EventHandler {
 public:
  explicit YamlBuilder(std::string_view text, std::vector<std::string>* duplicates)
      : text_{text}, duplicates_{duplicates} {}

  std::vector<Value> take() { return std::move(documents_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    // The library would take anything left over after a document for the next one.
    const auto at = std::min(static_cast<size_t>(mark.pos), text_.size());
    if (started_ && text_.substr(at, 3) != "---")
      refuse(mark, "text after the end of the document, or no --- before it");
    started_ = true;
    anchors_.clear();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(mark, {Value{}}, anchor); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto named = anchors_.find(anchor);
    if (named == anchors_.end()) refuse(mark, "an alias inside what it stands for");
    aliased_ += named->second.weight;
    if (aliased_ > kMaxAliased) refuse(mark, "aliases repeat too much");
    if (open_.size() + named->second.depth > static_cast<size_t>(kMaxJsonDepth)) refuse_depth(mark);
    add(mark, named->second, YAML::NullAnchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (!is_utf8(text)) refuse(mark, R"(the escapes \N and \_ are not supported: write \u0085 or \u00a0)");
    const bool merge = tag == "?" && text == "<<" && expects_key();
    if (merge) open_.back().merge_next = true;
    add(mark, {resolve(mark, tag, text), 1 + text.size()}, anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, "seq", anchor, false);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, "map", anchor, true);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    bool is_map;
    YAML::Mark mark;
    YAML::anchor_t anchor;
    bool has_key = false;     // a key waits for its value
    bool merge_next = false;  // that key is <<
    std::string key = {};
    Value::Object members = {};
    std::map<std::string, YAML::Mark> seen = {};
    std::vector<Value> merges = {};
    Value::Array items = {};
    size_t weight = 1;
    size_t depth = 1;
  };

  [[noreturn]] static void refuse_depth(const YAML::Mark& mark) {
    refuse(mark, "nested deeper than " + std::to_string(kMaxJsonDepth) + " objects and arrays");
  }

  static Value resolve(const YAML::Mark& mark, const std::string& tag, const std::string& text) {
    const std::string_view prefix = "tag:yaml.org,2002:";
    const std::string_view type = tag.starts_with(prefix) ? std::string_view{tag}.substr(prefix.size()) : "";
    if (tag == "!" || type == "str") return Value{text};
    if (tag != "?" && tag != "" && type != "int" && type != "float" && type != "bool" && type != "null") {
      refuse(mark, "the tag " + quoted(tag) + " is not supported");
    }
    const auto value = resolve_yaml_scalar(text);
    if (!value) refuse(mark, "JSON has no infinity and no NaN");
    const bool fits = type.empty() || (type == "int" && value->is_int()) || (type == "float" && value->is_number()) ||
                      (type == "bool" && value->is_bool()) || (type == "null" && value->is_null());
    if (!fits) refuse(mark, quoted(text) + " is no !!" + std::string{type});
    return *value;
  }

  bool expects_key() const { return !open_.empty() && open_.back().is_map && !open_.back().has_key; }

  void open(const YAML::Mark& mark, const std::string& tag, const std::string& type, YAML::anchor_t anchor,
            bool is_map) {
    if (tag != "?" && tag != "" && tag != "tag:yaml.org,2002:" + type) {
      refuse(mark, "the tag " + quoted(tag) + " is not supported");
    }
    if (expects_key()) refuse(mark, "a key that is no scalar, or a bracket that is never closed");
    if (open_.size() == static_cast<size_t>(kMaxJsonDepth)) refuse_depth(mark);
    open_.push_back({.is_map = is_map, .mark = mark, .anchor = anchor});
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    const auto mark = done.mark;
    const auto weight = done.weight;
    const auto depth = done.depth;
    const auto anchor = done.anchor;
    Value value = done.is_map ? merged(std::move(done)) : Value::array(std::move(done.items));
    add(mark, {std::move(value), weight, depth}, anchor);
  }

  // A mapping's own members win over merged ones, and earlier merges over later ones.
  static Value merged(Open&& done) {
    Value::Object all;
    for (auto source = done.merges.rbegin(); source != done.merges.rend(); ++source) {
      for (const Value::Member& member : source->members()) all.push_back(member);
    }
    if (all.empty()) return Value::object(std::move(done.members));
    std::move(done.members.begin(), done.members.end(), std::back_inserter(all));
    return Value::object(std::move(all));
  }

  void add(const YAML::Mark& mark, const YamlNode& node, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) anchors_[anchor] = node;
    if (open_.empty()) {
      if (!node.value.is_null()) documents_.push_back(node.value);
      return;
    }
    Open& parent = open_.back();
    parent.weight += node.weight;
    parent.depth = std::max(parent.depth, node.depth + 1);
    if (!parent.is_map) {
      parent.items.push_back(node.value);
    } else if (!parent.has_key) {
      parent.key = key_of(mark, node.value);
      parent.has_key = true;
      if (!parent.merge_next && !parent.seen.try_emplace(parent.key, mark).second) repeated(mark, parent);
    } else if (std::exchange(parent.merge_next, false)) {
      parent.has_key = false;
      add_merge(mark, node.value, parent.merges);
    } else {
      parent.has_key = false;
      parent.members.push_back({Value{parent.key}, node.value});
    }
  }

  void repeated(const YAML::Mark& mark, const Open& object) {
    if (duplicates_ == nullptr) {
      refuse(mark, "the key " + quoted(object.key) + " stands in this object already, at line " +
                       std::to_string(object.seen.at(object.key).line + 1));
    }
    constexpr size_t kMost = 100;  // more are not reported
    if (duplicates_->size() == kMost) return;
    duplicates_->push_back("line " + std::to_string(mark.line + 1) + ": key \"" + printable(object.key, 253) +
                           "\" already set in map");
  }

  static void add_merge(const YAML::Mark& mark, const Value& source, std::vector<Value>& merges) {
    if (source.is_object()) return merges.push_back(source);
    const auto items = source.items();
    const bool objects = std::all_of(items.begin(), items.end(), [](const Value& item) { return item.is_object(); });
    if (!source.is_array() || !objects) refuse(mark, "<< merges an object or a list of objects");
    merges.insert(merges.end(), items.begin(), items.end());
  }

  // JSON's keys are strings; scalars become what Kubernetes' reader makes of them.
  static std::string key_of(const YAML::Mark& mark, const Value& key) {
    if (key.is_string()) return key.str();
    if (key.is_bool() || key.is_int()) return to_json(key);
    if (!key.is_number()) refuse(mark, key.is_null() ? "a key that is null" : "a key that is no scalar");
    std::array<char, 32> digits;
    const auto done = std::to_chars(digits.data(), digits.data() + digits.size(), static_cast<float>(key.as_double()),
                                    std::chars_format::general);
    return {digits.data(), done.ptr};
  }

  std::string_view text_;
  std::vector<std::string>* duplicates_;  // nullptr: a key that stands twice is an error
  bool started_ = false;
  size_t aliased_ = 0;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
  std::vector<Value> documents_;
};

// What the library would misread (it takes byte 4 for the end of the text) and no YAML may hold.
Result<void> check_bytes(std::string_view text) {
  if (!is_utf8(text)) return Error{ErrorCode::kBadRequest, "invalid YAML: not UTF-8"};
  const auto* const control = std::find_if(text.begin(), text.end(), [](char c) {
    return c == 0x7F || (c >= 0 && c < 0x20 && c != '\n' && c != '\r' && c != '\t');
  });
  if (control == text.end()) return ok();
  const std::string_view before{text.begin(), control};
  const auto line = std::count(before.begin(), before.end(), '\n');
  const size_t newline = before.rfind('\n');
  const size_t column = newline == std::string_view::npos ? before.size() : before.size() - newline - 1;
  return error_at(static_cast<int>(line), static_cast<int>(column), "a control character");
}

Result<std::vector<Value>> parse_documents(std::string_view text, std::vector<std::string>* duplicates) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  SHIPLOG_TRY(check_bytes(text));
  // JSON is YAML, except for its surrogate pairs, which the library does not know; and this is the faster reader.
  if (const size_t first = text.find_first_not_of(" \t\r\n"); first != std::string_view::npos && text[first] == '{') {
    std::vector<std::string> repeated;  // without lines
    if (auto value = parse_json(text, &repeated); value && repeated.empty()) {
      return std::vector<Value>{std::move(value).value()};
    }
  }
  YamlBuilder builder{text, duplicates};
  try {
    std::istringstream stream{std::string{text}};
    YAML::Parser parser{stream};
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YamlRefusal& refused) {
    return refused.error;
  } catch (const YAML::Exception& error) {
    return error_at(error.mark.line, error.mark.column, printable(error.msg, 200));
  }
  return builder.take();
}

}  // namespace

Result<std::vector<Value>> parse_yaml_stream(std::string_view text) { return parse_documents(text, nullptr); }

Result<Value> parse_yaml(std::string_view text, std::vector<std::string>* duplicates) {
  SHIPLOG_TRY(auto documents, parse_documents(text, duplicates));
  if (documents.empty()) return Error{ErrorCode::kBadRequest, "invalid YAML: no document"};
  if (documents.size() > 1) {
    return Error{ErrorCode::kBadRequest,
                 "invalid YAML: one document expected, not " + std::to_string(documents.size())};
  }
  return std::move(documents.front());
}

}  // namespace shiplog
