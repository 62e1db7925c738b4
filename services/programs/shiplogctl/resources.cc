#include "services/programs/shiplogctl/resources.h"

#include <algorithm>

#include "events/base/ascii.h"

namespace shiplog::ctl {
namespace {

constexpr const char* kAggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
constexpr const char* kMetadataOnly = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
constexpr const char* kMostNames = "500";

bool is_called(const Resource& resource, const std::string& word) {
  const size_t dot = word.find('.');
  const std::string name = word.substr(0, dot);
  if (dot != std::string::npos && resource.group != word.substr(dot + 1)) return false;
  return resource.plural == name || resource.singular == name || lower_case(resource.kind) == name ||
         std::ranges::find(resource.short_names, name) != resource.short_names.end();
}

}  // namespace

Result<std::vector<Resource>> read_resources(ServerConnection& plane) {
  std::vector<Resource> found;
  for (const char* path : {"/api", "/apis"}) {
    SHIPLOG_TRY(const Value groups, plane.get(path, {}, kAggregated));
    for (const Value& group : groups["items"].items()) {
      const Value& version = group["versions"][0];
      for (const Value& resource : version["resources"].items()) {
        Resource found_resource{.group = group["metadata"]["name"].str(),
                                .version = version["version"].str(),
                                .plural = resource["resource"].str(),
                                .singular = resource["singularResource"].str(),
                                .kind = resource["responseKind"]["kind"].str(),
                                .namespaced = resource["scope"].as_string() == "Namespaced"};
        const auto verbs = resource["verbs"].items();
        if (std::ranges::none_of(verbs, [](const Value& verb) { return verb.as_string() == "list"; })) continue;
        for (const Value& name : resource["shortNames"].items()) found_resource.short_names.push_back(name.str());
        found.push_back(std::move(found_resource));
      }
    }
  }
  return found;
}

Result<std::vector<std::string>> read_names(ServerConnection& plane, const std::string& kind, const std::string& ns) {
  SHIPLOG_TRY(const auto resources, read_resources(plane));
  const std::string word = lower_case(kind);
  const auto resource =
      std::ranges::find_if(resources, [&](const Resource& candidate) { return is_called(candidate, word); });
  if (resource == resources.end()) return Error{ErrorCode::kNotFound, "there is no resource \"" + kind + "\""};
  const std::string path = (resource->group.empty() ? "/api/" : "/apis/" + resource->group + "/") + resource->version +
                           (resource->namespaced ? "/namespaces/" + ns : "") + "/" + resource->plural;
  SHIPLOG_TRY(const Value list, plane.get(path, {{"limit", kMostNames}}, kMetadataOnly));
  std::vector<std::string> names;
  for (const Value& item : list["items"].items()) names.push_back(item["metadata"]["name"].str());
  return names;
}

}  // namespace shiplog::ctl
