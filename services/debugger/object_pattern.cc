#include "services/debugger/object_pattern.h"

#include "events/base/ascii.h"
#include "events/base/utf8.h"
#include "events/kinds/kinds.h"
#include "services/api/insight/resource.h"

namespace shiplog::debugger {
namespace {

Error expected(const std::vector<CommandWord>& words, size_t at, const std::string& what) {
  if (at < words.size()) {
    return {ErrorCode::kBadRequest,
            "column " + std::to_string(words[at].column) + ": expected " + what + ", found " + quoted(words[at].text)};
  }
  return {ErrorCode::kBadRequest, "at the end: expected " + what};
}

bool has_glob(std::string_view text) { return text.find('*') != std::string_view::npos; }

void set_kind(std::string_view word, ObjectPattern& pattern) {
  const std::string lower = lower_case(word);
  pattern.type = lower;
  if (lower == ObjectPattern::kBinding || lower == "bindings") {
    pattern.type = ObjectPattern::kBinding;
  } else if (const auto kind = api::find_resource(Kinds::compiled(), word)) {
    pattern.type = kind.value()->type();
    pattern.exact_type = true;
  }
}

void set_name(std::string_view text, ObjectPattern& pattern) {
  const size_t slash = text.find('/');
  pattern.any_namespace = slash == std::string_view::npos;
  if (!pattern.any_namespace) pattern.ns = text.substr(0, slash);
  pattern.name = pattern.any_namespace ? text : text.substr(slash + 1);
}

const char* const kObject = "an object: KIND NAMESPACE/NAME, as Deployment default/web";

}  // namespace

bool ObjectPattern::matches_type(std::string_view type_of_object) const {
  if (type == kBinding) return is_binding(type_of_object);
  if (exact_type) return type == type_of_object;
  if (matches_glob(type, type_of_object)) return true;
  // "widgets" is also "widgets.example.com".
  return !has_glob(type) && type_of_object.starts_with(type) && type_of_object.size() > type.size() &&
         type_of_object[type.size()] == '.';
}

bool ObjectPattern::matches(const ObjectKey& key) const {
  return matches_type(key.type) && (any_namespace || matches_glob(ns, key.ns)) && matches_glob(name, key.name);
}

std::string ObjectPattern::text() const { return type + " " + (any_namespace ? "" : ns + "/") + name; }

Result<ObjectPattern> parse_object(const std::vector<CommandWord>& words, size_t& at, bool whole_kind) {
  if (at >= words.size() || words[at].kind == CommandWord::Kind::kSign || words[at].text.starts_with('.')) {
    return expected(words, at, kObject);
  }
  ObjectPattern pattern;
  const std::string& first = words[at].text;
  if (const size_t slash = first.find('/'); slash != std::string::npos) {
    if (slash == 0 || slash + 1 == first.size()) return expected(words, at, kObject);
    set_kind(std::string_view{first}.substr(0, slash), pattern);
    set_name(std::string_view{first}.substr(slash + 1), pattern);
    ++at;
    return pattern;
  }
  if (whole_kind && at + 1 == words.size()) {
    set_kind(first, pattern);
    pattern.name = "*";
    ++at;
    return pattern;
  }
  const size_t name = at + 1;
  if (name >= words.size() || words[name].kind == CommandWord::Kind::kSign || words[name].text.starts_with('.')) {
    return expected(words, name, "the name of an object of kind " + quoted(first) + ": NAMESPACE/NAME");
  }
  set_kind(first, pattern);
  set_name(words[name].text, pattern);
  at = name + 1;
  return pattern;
}

Result<ObjectPattern> parse_binding(const std::vector<CommandWord>& words, size_t& at) {
  if (at >= words.size() || words[at].kind == CommandWord::Kind::kSign) {
    return expected(words, at, "the name of a binding: NAMESPACE/NAME, as default/web-deployment");
  }
  ObjectPattern pattern;
  pattern.type = ObjectPattern::kBinding;
  set_name(words[at++].text, pattern);
  return pattern;
}

std::vector<ObjectKey> find_objects(const State& state, const ObjectPattern& pattern, size_t limit) {
  std::vector<ObjectKey> found;
  const bool named = !has_glob(pattern.name) && !has_glob(pattern.ns);
  for (const std::string& type : state.types()) {
    if (!pattern.matches_type(type)) continue;
    if (named && !pattern.any_namespace) {
      ObjectKey key{type, pattern.ns, pattern.name};
      if (state.find(key) != nullptr && found.size() < limit) found.push_back(std::move(key));
      continue;
    }
    for (const auto& [name, object] : state.objects(type)) {
      if (found.size() >= limit) return found;
      ObjectKey key{type, name.ns, name.name};
      if (pattern.matches(key)) found.push_back(std::move(key));
    }
  }
  return found;
}

}  // namespace shiplog::debugger
