#include "tests/fuzz/fuzz.h"

#include <algorithm>

#include "events/base/json.h"

namespace shiplog::fuzz {

std::vector<FuzzTarget>& targets() {
  static std::vector<FuzzTarget> all;
  return all;
}

std::vector<std::string_view> parts(std::string_view input, size_t count) {
  constexpr std::string_view kLine = "\n---\n";
  std::vector<std::string_view> found;
  while (found.size() + 1 < count) {
    const size_t end = input.find(kLine);
    found.push_back(input.substr(0, end));
    input = end == std::string_view::npos ? std::string_view{} : input.substr(end + kLine.size());
  }
  found.push_back(input);
  return found;
}

Value json_or_null(std::string_view text) {
  auto parsed = parse_json(text);
  return parsed ? std::move(parsed).value() : Value{};
}

bool same_in_yaml(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return a == b || a.as_double() == b.as_double();
  if (a.kind() != b.kind() || a.size() != b.size()) return false;
  if (a.is_array()) return std::equal(a.items().begin(), a.items().end(), b.items().begin(), same_in_yaml);
  if (!a.is_object()) return a == b;
  return std::equal(a.members().begin(), a.members().end(), b.members().begin(),
                    [](const auto& x, const auto& y) { return x.key() == y.key() && same_in_yaml(x.value, y.value); });
}

const Kind& kind_of(const Value& object) {
  const Kinds& kinds = Kinds::compiled();
  const Kind* named = kinds.find_kind(object["apiVersion"].as_string(), object["kind"].as_string());
  return named != nullptr ? *named : *kinds.find_kind("apps/v1", "Deployment");
}

}  // namespace shiplog::fuzz
