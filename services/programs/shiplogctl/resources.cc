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
  if (dot != std::string::npos) {
    const std::string rest = word.substr(dot + 1);
    if (resource.group != rest && resource.version + "." + resource.group != rest) return false;
  }
  return resource.plural == name || resource.singular == name || lower_case(resource.kind) == name ||
         std::ranges::find(resource.short_names, name) != resource.short_names.end();
}

bool can_list(const Value& resource) {
  const auto verbs = resource["verbs"].items();
  return std::ranges::any_of(verbs, [](const Value& verb) { return verb.as_string() == "list"; });
}

std::vector<std::string> texts(const Value& list) {
  std::vector<std::string> found;
  for (const Value& item : list.items()) found.push_back(item.str());
  return found;
}

/// Versions of a group are added in the order of preference. Some resources are not in the first one: works are in
/// v1alpha1 of their group, bindings in v1alpha2.
void add_unless_known(Resource resource, std::vector<Resource>& found) {
  const bool known = std::ranges::any_of(
      found, [&](const Resource& other) { return other.group == resource.group && other.plural == resource.plural; });
  if (!known) found.push_back(std::move(resource));
}

void add_aggregated(const Value& groups, std::vector<Resource>& found) {
  for (const Value& group : groups["items"].items()) {
    for (const Value& version : group["versions"].items()) {
      for (const Value& resource : version["resources"].items()) {
        if (!can_list(resource)) continue;
        add_unless_known({.group = group["metadata"]["name"].str(),
                          .version = version["version"].str(),
                          .plural = resource["resource"].str(),
                          .singular = resource["singularResource"].str(),
                          .kind = resource["responseKind"]["kind"].str(),
                          .short_names = texts(resource["shortNames"]),
                          .namespaced = resource["scope"].as_string() == "Namespaced",
                          .categories = texts(resource["categories"])},
                         found);
      }
    }
  }
}

Result<void> add_group_version(ServerConnection& server, const std::string& group, const std::string& version,
                               std::vector<Resource>& found) {
  SHIPLOG_TRY(const Value list, server.get((group.empty() ? "/api/" : "/apis/" + group + "/") + version));
  for (const Value& resource : list["resources"].items()) {
    if (!can_list(resource) || resource["name"].as_string().find('/') != std::string_view::npos) continue;
    add_unless_known({.group = group,
                      .version = version,
                      .plural = resource["name"].str(),
                      .singular = resource["singularName"].str(),
                      .kind = resource["kind"].str(),
                      .short_names = texts(resource["shortNames"]),
                      .namespaced = resource["namespaced"].as_bool(),
                      .categories = texts(resource["categories"])},
                     found);
  }
  return ok();
}

}  // namespace

std::string Resource::path(const std::string& ns) const {
  return (group.empty() ? "/api/" : "/apis/" + group + "/") + version +
         (namespaced && !ns.empty() ? "/namespaces/" + ns : "") + "/" + plural;
}

Result<std::vector<Resource>> read_resources(ServerConnection& plane) {
  std::vector<Resource> found;
  for (const char* path : {"/api", "/apis"}) {
    SHIPLOG_TRY(const Value groups, plane.get(path, {}, std::string{kAggregated} + ",application/json"));
    if (groups["kind"].as_string() == "APIVersions") {
      SHIPLOG_TRY(add_group_version(plane, "", groups["versions"][0].str(), found));
    } else if (groups["kind"].as_string() == "APIGroupList") {
      for (const Value& group : groups["groups"].items()) {
        // An unavailable group is left out, as the aggregated form does.
        std::vector<std::string> versions{group["preferredVersion"]["version"].str()};
        for (const Value& version : group["versions"].items()) {
          if (version["version"].as_string() != versions.front()) versions.push_back(version["version"].str());
        }
        for (const std::string& version : versions) {
          const auto added = add_group_version(plane, group["name"].str(), version, found);
          if (!added && added.error().code == ErrorCode::kTimeout) return added.error();
        }
      }
    } else {
      add_aggregated(groups, found);
    }
  }
  return found;
}

std::vector<Resource> resources_called(const std::vector<Resource>& resources, const std::string& word) {
  const std::string name = lower_case(word);
  const auto one = std::ranges::find_if(resources, [&](const Resource& resource) { return is_called(resource, name); });
  if (one != resources.end()) return {*one};
  std::vector<Resource> found;
  for (const Resource& resource : resources) {
    const auto& categories = resource.categories;
    if (std::ranges::find(categories, name) != categories.end()) found.push_back(resource);
  }
  return found;
}

Result<std::vector<std::string>> read_names(ServerConnection& plane, const std::string& kind, const std::string& ns) {
  SHIPLOG_TRY(const auto resources, read_resources(plane));
  const auto called = resources_called(resources, kind);
  if (called.empty()) return Error{ErrorCode::kNotFound, "there is no resource \"" + kind + "\""};
  const std::string path = called.front().path(ns);
  SHIPLOG_TRY(const Value list, plane.get(path, {{"limit", kMostNames}}, kMetadataOnly));
  std::vector<std::string> names;
  for (const Value& item : list["items"].items()) names.push_back(item["metadata"]["name"].str());
  return names;
}

}  // namespace shiplog::ctl
