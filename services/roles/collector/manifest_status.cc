#include "services/roles/collector/manifest_status.h"

#include "events/base/api_version.h"

namespace shiplog::collector {

Value manifest_status(int64_t ordinal, const Value& manifest, const Value& status, const std::string& health) {
  const auto [group, version] = split_api_version(manifest["apiVersion"].as_string());
  Value identifier = Value::object({{"ordinal", ordinal},
                                    {"version", version},
                                    {"kind", manifest["kind"]},
                                    {"resource", ""},
                                    {"name", manifest["metadata"]["name"]}});
  if (!group.empty()) identifier.set("group", group);
  if (!manifest["metadata"]["namespace"].is_empty()) identifier.set("namespace", manifest["metadata"]["namespace"]);
  if (status.is_null()) return Value::object({{"identifier", identifier}, {"health", health}});
  return Value::object({{"identifier", identifier}, {"health", health}, {"status", status}});
}

bool is_about(const Value& manifest_status, const Value& manifest) {
  const Value& identifier = manifest_status["identifier"];
  std::string api_version = identifier["group"].str();
  api_version += (api_version.empty() ? "" : "/") + identifier["version"].str();
  return api_version == manifest["apiVersion"].as_string() && identifier["kind"] == manifest["kind"] &&
         identifier["namespace"].as_string() == manifest["metadata"]["namespace"].as_string() &&
         identifier["name"] == manifest["metadata"]["name"];
}

}  // namespace shiplog::collector
