#include "services/api/openapi_paths.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ascii.h"
#include "services/api/discovery.h"
#include "services/api/openapi_names.h"
#include "services/api/pipeline/codecs/codecs.h"

namespace shiplog::api {
namespace {

struct QueryParameter {
  const char* name;
  const char* type;
};

constexpr QueryParameter kListing[] = {{"allowWatchBookmarks", "boolean"},
                                       {"continue", "string"},
                                       {"fieldSelector", "string"},
                                       {"labelSelector", "string"},
                                       {"limit", "integer"},
                                       {"resourceVersion", "string"},
                                       {"resourceVersionMatch", "string"},
                                       {"sendInitialEvents", "boolean"},
                                       {"timeoutSeconds", "integer"},
                                       {"watch", "boolean"}};
constexpr QueryParameter kWriting[] = {{"dryRun", "string"}, {"fieldManager", "string"}, {"fieldValidation", "string"}};
constexpr QueryParameter kPatching[] = {
    {"dryRun", "string"}, {"fieldManager", "string"}, {"fieldValidation", "string"}, {"force", "boolean"}};
constexpr QueryParameter kDeleting[] = {{"dryRun", "string"},
                                        {"gracePeriodSeconds", "integer"},
                                        {"orphanDependents", "boolean"},
                                        {"propagationPolicy", "string"}};
/// Besides those of kDeleting.
constexpr QueryParameter kSelecting[] = {{"continue", "string"},        {"fieldSelector", "string"},
                                         {"labelSelector", "string"},   {"limit", "integer"},
                                         {"resourceVersion", "string"}, {"resourceVersionMatch", "string"},
                                         {"timeoutSeconds", "integer"}};

void add(Value& parameters, std::span<const QueryParameter> query) {
  for (const QueryParameter& each : query) {
    parameters.push_back(Value::object({{"name", each.name},
                                        {"in", "query"},
                                        {"schema", Value::object({{"type", each.type}, {"uniqueItems", true}})}}));
  }
}

Value in_path(const char* name) {
  return Value::object({{"name", name},
                        {"in", "path"},
                        {"required", true},
                        {"schema", Value::object({{"type", "string"}, {"uniqueItems", true}})}});
}

Value content_of(const std::vector<std::string>& media_types, const Value& schema) {
  Value content = Value::object();
  for (const std::string& type : media_types) content.set(type, Value::object({{"schema", schema}}));
  return content;
}

Value body_of(const std::vector<std::string>& media_types, const Value& schema, bool required = true) {
  Value body = Value::object({{"content", content_of(media_types, schema)}});
  if (required) body.set("required", true);
  return body;
}

const std::vector<std::string> kObjectTypes = {"application/json", "application/yaml"};

std::string capitalized(std::string_view text) {
  std::string word{text};
  if (!word.empty() && word.front() >= 'a' && word.front() <= 'z') {
    word.front() = static_cast<char>(word.front() - 'a' + 'A');
  }
  return word;
}

/// "RbacAuthorization" of "rbac.authorization.k8s.io", "StableExampleCom" of "stable.example.com".
std::string group_name(std::string_view group) {
  constexpr std::string_view kKubernetes = ".k8s.io";
  if (group.empty()) return "Core";
  if (group.ends_with(kKubernetes)) group.remove_suffix(kKubernetes.size());
  std::string name;
  while (!group.empty()) {
    const size_t end = std::min(group.find('.'), group.size());
    name += capitalized(group.substr(0, end));
    group.remove_prefix(std::min(end + 1, group.size()));
  }
  return name;
}

/// The operations of one kind.
class KindPaths {
 public:
  explicit KindPaths(const Kind& kind)
      : kind_{kind},
        group_{group_name(kind.group)},
        collection_{"/" + prefix() + (kind.namespaced ? "/namespaces/{namespace}/" : "/") + kind.plural},
        object_{reference_to(definition_of(kind))},
        list_{reference_to(list_definition_of(kind))},
        status_{reference_to(kStatusDefinition)},
        verbs_{verbs_of(kind)} {}

  void add_to(Value& paths) const {
    paths.set(collection_, collection());
    if (!serves("list")) return;
    if (kind_.namespaced) {  // of all namespaces: where kubectl 1.27 looks for what it is to explain
      Value all = item({});
      all.set("get", listing("list" + versioned(kind_.kind + "ForAllNamespaces")));
      paths.set("/" + prefix() + "/" + kind_.plural, std::move(all));
    }
    paths.set(collection_ + "/{name}", single());
    for (const Subresource& below : subresources_of(kind_, false)) add_subresource(paths, below);
  }

 private:
  bool serves(std::string_view verb) const {
    return std::ranges::any_of(verbs_.items(), [&](const Value& each) { return each.as_string() == verb; });
  }
  std::string prefix() const { return (kind_.group.empty() ? "api/" : "apis/") + kind_.api_version(); }
  std::string versioned(const std::string& name) const { return group_ + capitalized(kind_.version) + name; }
  std::string scoped() const { return (kind_.namespaced ? "Namespaced" : "") + kind_.kind; }
  std::string id(const char* verb, const std::string& subresource = "") const {
    return verb + versioned(scoped() + capitalized(subresource));
  }

  Value item(const std::vector<const char*>& names) const {
    Value parameters = Value::array();
    for (const char* name : names) parameters.push_back(in_path(name));
    add(parameters, std::vector<QueryParameter>{{"pretty", "string"}});
    return Value::object({{"parameters", std::move(parameters)}});
  }

  Value operation(const char* action, std::string operation_id, std::span<const QueryParameter> query,
                  const std::vector<const char*>& codes, const Value& answer) const {
    std::string tag = group_ + "_" + kind_.version;
    tag.front() = lower_case(tag.front());
    Value made = Value::object({{"tags", Value::array({tag})},
                                {"operationId", std::move(operation_id)},
                                {"x-kubernetes-group-version-kind", group_version_kind(kind_, kind_.kind)},
                                {"x-kubernetes-action", action}});
    Value parameters = Value::array();
    add(parameters, query);
    made.set("parameters", std::move(parameters));
    for (const std::string_view code : codes) {
      const char* meaning = code == "201" ? "Created" : code == "202" ? "Accepted" : "OK";
      made.edit("responses")
          .set(code, Value::object({{"description", meaning}, {"content", content_of({"application/json"}, answer)}}));
    }
    return made;
  }

  Value listing(std::string operation_id) const {
    return operation("list", std::move(operation_id), kListing, {"200"}, list_);
  }

  Value deletion(const char* action, std::string operation_id, const std::vector<const char*>& codes,
                 const Value& answer) const {
    Value made = operation(action, std::move(operation_id), kDeleting, codes, answer);
    made.set("requestBody", body_of(kObjectTypes, reference_to(kDeleteOptionsDefinition), false));
    return made;
  }

  Value replacement(const std::string& subresource, const Value& body) const {
    Value made = operation("put", id("replace", subresource), kWriting, {"200", "201"}, body);
    made.set("requestBody", body_of(kObjectTypes, body));
    return made;
  }

  Value patch(const std::string& subresource, const Value& answer) const {
    // A client sends a strategic merge patch wherever it is named here: never for custom resources (OA-11).
    std::vector<std::string> types = {"application/apply-patch+yaml", "application/json-patch+json",
                                      "application/merge-patch+json"};
    if (kind_.builtin) types.emplace_back("application/strategic-merge-patch+json");
    Value made = operation("patch", id("patch", subresource), kPatching, {"200", "201"}, answer);
    made.set("requestBody", body_of(types, Value::object({{"type", "object"}})));
    return made;
  }

  Value collection() const {
    Value many = kind_.namespaced ? item({"namespace"}) : item({});
    if (serves("create")) {
      Value creation = operation("post", id("create"), kWriting, {"200", "201", "202"}, object_);
      creation.set("requestBody", body_of(kObjectTypes, object_));
      many.set("post", std::move(creation));
    }
    if (serves("list")) many.set("get", listing(id("list")));
    if (serves("deletecollection")) {
      Value all = deletion("deletecollection", "delete" + versioned("Collection" + scoped()), {"200"}, status_);
      add(all.edit("parameters"), kSelecting);
      many.set("delete", std::move(all));
    }
    return many;
  }

  Value named_item() const { return kind_.namespaced ? item({"namespace", "name"}) : item({"name"}); }

  Value single() const {
    Value one = named_item();
    one.set("get", operation("get", id("read"), {}, {"200"}, object_));
    if (serves("update")) one.set("put", replacement("", object_));
    if (serves("patch")) one.set("patch", patch("", object_));
    if (!serves("delete")) return one;
    one.set("delete", deletion("delete", id("delete"), {"200", "202"}, answers_object(kind_) ? object_ : status_));
    return one;
  }

  void add_subresource(Value& paths, const Subresource& below) const {
    const bool scale = below.kind == "Scale" && below.group == "autoscaling";
    const bool own = below.kind == kind_.kind && below.group == kind_.group;
    if (!scale && !own) return;
    const Value body = scale ? reference_to(kScaleDefinition) : object_;
    Value one = named_item();
    for (const Value& verb : below.verbs.items()) {
      const std::string_view name = verb.as_string();
      if (name == "get") one.set("get", operation("get", id("read", below.name), {}, {"200"}, body));
      if (name == "update") one.set("put", replacement(below.name, body));
      if (name == "patch") one.set("patch", patch(below.name, body));
    }
    paths.set(collection_ + "/{name}/" + below.name, std::move(one));
  }

  const Kind& kind_;
  const std::string group_, collection_;
  const Value object_, list_, status_, verbs_;
};

}  // namespace

void add_paths(Value& paths, const Kind& kind) { KindPaths{kind}.add_to(paths); }

}  // namespace shiplog::api
