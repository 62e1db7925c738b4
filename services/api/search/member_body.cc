#include "services/api/search/member_body.h"

#include "events/base/json.h"
#include "events/base/value.h"
#include "services/api/search/cached_object.h"
#include "services/api/search/multi_version.h"

namespace shiplog::api {
namespace {

/// False: there is no version over clusters that has this one. "0" is none: the member would overwrite the object
/// whatever has changed. It refuses the version over clusters.
bool set_own_version(Value& parent, const std::string& cluster) {
  const std::string_view text = parent["resourceVersion"].as_string();
  if (text.empty() || text == "0") return false;
  const MultiVersion version = parse_multi_version(text);
  const auto own = version.of_object(cluster);
  if (!own || *own == "0") return false;
  parent.set("resourceVersion", *own);
  return true;
}

bool remove_annotation(Value& metadata) {
  if (!metadata["annotations"].contains(kCachedFromCluster)) return false;
  Value& annotations = metadata.edit("annotations");
  annotations.erase(kCachedFromCluster);
  if (annotations.is_empty()) metadata.erase("annotations");
  return true;
}

}  // namespace

std::string body_for_member(const std::string& method, std::string_view content_type, const std::string& body,
                            const std::string& cluster) {
  if (body.empty() || content_type.find("protobuf") != std::string_view::npos) return body;
  auto parsed = parse_json(body);
  if (!parsed || !parsed.value().is_object()) return body;
  Value& object = parsed.value();
  bool changed = false;
  const char* place = method == "DELETE" ? "preconditions" : "metadata";
  if (!object[place].is_object()) return body;
  Value part = object[place];
  changed = set_own_version(part, cluster);
  if (method != "DELETE") changed = remove_annotation(part) || changed;
  if (!changed) return body;
  object.set(place, std::move(part));
  return to_json(object);
}

}  // namespace shiplog::api
