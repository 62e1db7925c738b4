#include "events/base/check.h"
#include "events/base/json.h"
#include "services/api/aggregation/remote_discovery.h"
#include "services/api/aggregation/remote_openapi.h"
#include "services/api/openapi_v2.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {
namespace {

constexpr const char* kGroup = "a.io";
constexpr const char* kVersion = "v1";

/// Every reference below `value` leads to one of `definitions`.
void check_references(const Value& value, const Value& definitions) {
  constexpr std::string_view kPrefix = "#/definitions/";
  for (const Value& item : value.items()) check_references(item, definitions);
  for (const auto& member : value.members()) {
    // A property may have that name, too.
    if (member.key() == "$ref" && member.value.is_string()) {
      const std::string_view reference = member.value.as_string();
      SHIPLOG_CHECK(reference.starts_with(kPrefix) && definitions.contains(reference.substr(kPrefix.size())),
                    "clients reject a document with a reference that leads nowhere");
    }
    if (!member.key().starts_with("x-")) check_references(member.value, definitions);
  }
}

void check_discovery(std::string_view text) {
  const auto resources = api::read_resource_list(text, kGroup, kVersion);
  if (!resources) {
    SHIPLOG_CHECK(resources.error().code == ErrorCode::kUnavailable, "it is the server's fault");
    return;
  }
  const Value aggregated = api::aggregated_resources(resources.value(), kGroup, kVersion);
  for (const Value& resource : aggregated.items()) {
    SHIPLOG_CHECK(!resource["resource"].as_string().empty(), "a resource has a name");
    SHIPLOG_CHECK(resource["verbs"].is_array(), "and verbs");
  }
}

void check_openapi(std::string_view text) {
  if (const auto path = api::document_path(text, kGroup, kVersion)) {
    SHIPLOG_CHECK(path->starts_with('/') && !path->starts_with("//"), "a path of the same server");
  }
  const auto read = api::read_openapi(std::string{text}, kGroup, kVersion);
  if (!read) {
    SHIPLOG_CHECK(read.error().code == ErrorCode::kUnavailable, "it is the server's fault");
    return;
  }
  SHIPLOG_CHECK(parse_json(read.value()->body).has_value(), "what is passed on is JSON");
  Value whole = Value::object({{"definitions", Value::object({{"io.a.Thing", Value::object({{"type", "integer"}})}})},
                               {"paths", Value::object()}});
  const Value taken = whole["definitions"]["io.a.Thing"];
  api::merge_swagger(whole, read.value()->swagger, "_a.io_v1");
  SHIPLOG_CHECK(whole["definitions"]["io.a.Thing"] == taken, "a definition of ours stays as it is");
  check_references(whole, whole["definitions"]);
  api::encode_swagger(whole);
}

}  // namespace

SHIPLOG_FUZZ_TARGET(aggregated_server) {
  check_discovery(input);
  check_openapi(input);
}

}  // namespace shiplog
