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

std::optional<std::string> MultiVersion::at(std::string_view cluster) const {
  if (zero) return "0";
  const auto found = of.find(cluster);
  return found == of.end() ? std::nullopt : std::optional{found->second};
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
  for (const auto& [cluster, own] : version.of) {
    if (json.size() > 1) json += ',';
    append_json_string(cluster, json);
    json += ':';
    append_json_string(own, json);
  }
  return base64url_encode(json + "}");
}

std::string multi_version_of(const std::string& cluster, std::string_view version) {
  return to_text(MultiVersion{{{cluster, std::string{version}}}, false});
}

std::optional<int> compare_resource_versions(std::string_view a, std::string_view b) {
  if (a == b) return 0;
  const auto first = as_number(a);
  const auto second = as_number(b);
  if (!first || !second) return std::nullopt;
  return *first < *second ? -1 : *first > *second ? 1 : 0;
}

std::string smaller_version(const std::string& a, const std::string& b) {
  const auto order = compare_resource_versions(a, b);
  return order && *order > 0 ? b : a;
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
