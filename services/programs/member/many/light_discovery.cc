// Discovery of a simulated member, as API servers have it since 1.30: documents with ETags.
#include <map>
#include <set>
#include <string>
#include <utility>

#include "events/base/hash.h"
#include "services/programs/member/many/light_requests.h"

namespace shiplog::member {
namespace {

constexpr const char* kAggregatedList = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// A kind, or a version of a definition.
struct ServedApi {
  std::string group, version, plural, kind;
  bool namespaced = true;
};

Value aggregated_resource(const ServedApi& api, const Value& verbs) {
  return Value::object(
      {{"resource", api.plural},
       {"responseKind", Value::object({{"group", api.group}, {"version", api.version}, {"kind", api.kind}})},
       {"scope", api.namespaced ? "Namespaced" : "Cluster"},
       {"singularResource", ""},
       {"verbs", verbs}});
}

Value plain_resource(const ServedApi& api, const Value& verbs) {
  return Value::object({{"name", api.plural},
                        {"kind", api.kind},
                        {"namespaced", api.namespaced},
                        {"singularName", ""},
                        {"verbs", verbs}});
}

}  // namespace

/// What does not depend on the member is rendered once for all of them.
HttpResponse LightMember::discover(const HttpRequest& request, const std::vector<std::string>& segments) {
  const bool core = segments[0] == "api";
  if (!core && segments[0] != "apis") return unknown_path();
  const bool aggregated =
      segments.size() == 1 && request.headers.get("Accept").find(kAggregatedList) != std::string_view::npos;
  struct Document {
    std::string body, etag;
  };
  const auto rendered = [&]() -> Document {
    const Value document = apis(segments, aggregated);
    if (document.is_null()) return {};
    std::string body = to_json(document);
    std::string etag = '"' + to_string(siphash128(body)) + '"';
    return {std::move(body), std::move(etag)};
  };
  Document document;
  {
    const std::lock_guard lock{mutex_};
    static std::map<std::string, Document> of_all;
    static std::mutex guard;
    const auto definitions = objects_.find(kDefinitionType);
    if (definitions != objects_.end() && !definitions->second.empty()) {
      document = rendered();
    } else {
      const std::lock_guard lock_all{guard};
      Document& common = of_all[request.path + (aggregated ? " aggregated" : "")];
      if (common.body.empty()) common = rendered();
      document = common;
    }
  }
  if (document.body.empty()) return unknown_path();
  HttpResponse response = json_response(200, std::move(document.body));
  if (!aggregated) return response;
  response.headers.set("Content-Type", kAggregatedList);
  response.headers.set("Vary", "Accept");
  response.headers.set("ETag", document.etag);
  response.headers.set("Cache-Control", "public");
  if (request.headers.get("If-None-Match") == document.etag) {
    response.status = 304;
    response.body.clear();
  }
  return response;
}

/// Null: there is nothing at this path.
Value LightMember::apis(const std::vector<std::string>& segments, bool aggregated) const {
  std::vector<ServedApi> all;
  for (const auto& kind : Kinds::compiled().all()) {
    if (served(*kind)) all.push_back({kind->group, kind->version, kind->plural, kind->kind, kind->namespaced});
  }
  if (const auto definitions = objects_.find(kDefinitionType); definitions != objects_.end()) {
    for (const auto& [name, definition] : definitions->second) {
      const Value& spec = definition["spec"];
      for (const Value& version : spec["versions"].items()) {
        if (!version["served"].as_bool()) continue;
        all.push_back({spec["group"].str(), version["name"].str(), spec["names"]["plural"].str(),
                       spec["names"]["kind"].str(), spec["scope"].as_string() != "Cluster"});
      }
    }
  }
  const bool core = segments[0] == "api";
  const Value verbs = Value::array({"create", "delete", "get", "list", "patch", "update", "watch"});
  const std::string wanted =
      core ? (segments.size() > 1 ? segments[1] : "") : (segments.size() > 2 ? segments[1] + "/" + segments[2] : "");
  if (!wanted.empty()) {
    Value resources = Value::array();
    for (const ServedApi& api : all) {
      if ((api.group.empty() ? api.version : api.group + "/" + api.version) != wanted) continue;
      resources.push_back(plain_resource(api, verbs));
    }
    if (resources.size() == 0) return {};
    return Value::object(
        {{"kind", "APIResourceList"}, {"apiVersion", "v1"}, {"groupVersion", wanted}, {"resources", resources}});
  }
  if (core && !aggregated) return Value::object({{"kind", "APIVersions"}, {"versions", Value::array({"v1"})}});
  std::map<std::string, std::map<std::string, Value>> groups;  // resources, by group and version
  for (const ServedApi& api : all) {
    if (api.group.empty() != core) continue;
    Value& resources = groups[api.group][api.version];
    if (resources.is_null()) resources = Value::array();
    resources.push_back(aggregated_resource(api, verbs));
  }
  Value list = Value::array();
  for (auto& [group, by_version] : groups) {
    Value versions = Value::array();
    for (auto& [version, resources] : by_version) {
      versions.push_back(
          aggregated
              ? Value::object({{"version", version}, {"freshness", "Current"}, {"resources", std::move(resources)}})
              : Value::object({{"groupVersion", group + "/" + version}, {"version", version}}));
    }
    if (aggregated) {
      const Value metadata = core ? Value::object() : Value::object({{"name", group}});
      list.push_back(Value::object({{"metadata", metadata}, {"versions", versions}}));
    } else {
      list.push_back(Value::object({{"name", group}, {"versions", versions}, {"preferredVersion", versions[0]}}));
    }
  }
  if (!aggregated) return Value::object({{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", list}});
  return Value::object({{"kind", "APIGroupDiscoveryList"},
                        {"apiVersion", "apidiscovery.k8s.io/v2"},
                        {"metadata", Value::object()},
                        {"items", list}});
}

}  // namespace shiplog::member
