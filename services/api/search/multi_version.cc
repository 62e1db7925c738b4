#include "services/api/search/multi_version.h"

#include <charconv>
#include <cstdint>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "events/base/value.h"

namespace shiplog::api {
namespace {

std::optional<Value> decoded_object(std::string_view text) {
  const auto bytes = base64url_decode(text);
  if (!bytes) return std::nullopt;
  auto value = parse_json(*bytes);
  if (!value || !value.value().is_object()) return std::nullopt;
  return std::move(value).value();
}

std::optional<uint64_t> as_number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::string> MultiVersion::at(std::string_view key) const {
  if (zero) return "0";
  const auto found = of.find(key);
  return found == of.end() ? std::nullopt : std::optional{found->second};
}

std::optional<std::string> MultiVersion::of_object(const std::string& cluster) const {
  if (auto own = at(object_key(cluster))) return own;
  if (auto own = at(cluster)) return own;
  const bool single = of.size() == 1 && of.begin()->first.starts_with(cluster + "/");
  return single ? std::optional{of.begin()->second} : std::nullopt;
}

MultiVersion parse_multi_version(std::string_view text) {
  MultiVersion version;
  version.zero = text == "0";
  if (text.empty() || version.zero) return version;
  const auto object = decoded_object(text);
  if (!object) return version;
  for (const Value::Member& member : object->members()) {
    if (!member.value.is_string()) return {};
    version.of.emplace(member.key(), member.value.str());
  }
  return version;
}

std::string to_text(const MultiVersion& version) {
  if (version.zero) return "0";
  if (version.of.empty()) return {};
  std::string json = "{";
  for (const auto& [key, own] : version.of) {
    if (json.size() > 1) json += ',';
    append_json_string(key, json);
    json += ':';
    append_json_string(own, json);
  }
  return base64url_encode(json + "}");
}

std::string multi_version_of(const std::string& key, std::string_view version) {
  return to_text(MultiVersion{{{key, std::string{version}}}, false});
}

std::string object_key(const std::string& cluster) { return "/" + cluster; }
bool is_object_key(std::string_view key) { return key.starts_with('/'); }

std::optional<int> compare_resource_versions(std::string_view a, std::string_view b) {
  if (a == b) return 0;
  const auto first = as_number(a);
  const auto second = as_number(b);
  if (!first || !second) return std::nullopt;
  return *first < *second ? -1 : *first > *second ? 1 : 0;
}

MultiContinue parse_multi_continue(std::string_view text) {
  MultiContinue token;
  const auto object = decoded_object(text);
  if (!object) return token;
  token.versions = (*object)["rv"].str();
  token.cluster = (*object)["cluster"].str();
  token.position = (*object)["continue"].str();
  return token.cluster.empty() ? MultiContinue{} : token;
}

std::string to_text(const MultiContinue& token) {
  if (token.cluster.empty()) return {};
  Value object = Value::object({{"cluster", token.cluster}, {"rv", token.versions}});
  if (!token.position.empty()) object.set("continue", token.position);
  return base64url_encode(to_json(object));
}

}  // namespace shiplog::api
