#include "services/api/openapi_documents.h"

#include <algorithm>
#include <utility>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "services/api/openapi.h"
#include "services/api/openapi_v2.h"

namespace shiplog::api {
namespace {

OpenApiDocuments::Ptr document_of(std::string body) {
  std::string hash = to_string(siphash128(body));
  return std::make_shared<const ApiDocument>(ApiDocument{std::move(body), std::move(hash)});
}

Value document_of_schemas(const Value& schemas) {
  return Value::object({{"components", Value::object({{"schemas", schemas}})}});
}

}  // namespace

void OpenApiDocuments::take(const Described& described) {
  take_kinds(described.kinds);
  if (described.remote == seen_remote_) return;
  seen_remote_ = described.remote;
  RemoteParts remote;
  if (seen_remote_ != nullptr) {
    for (const AggregatedVersion& version : seen_remote_->versions) {
      if (version.openapi != nullptr) remote["apis/" + version.api.group + "/" + version.api.version] = version.openapi;
    }
  }
  if (remote == remote_) return;  // only what is known of their servers has changed
  remote_ = std::move(remote);
  index_ = json_ = protobuf_ = nullptr;
}

/// Keeps the parts whose kinds are the same as before.
void OpenApiDocuments::take_kinds(const std::shared_ptr<const Kinds>& kinds) {
  if (made_for_ == kinds) return;
  std::map<std::string, Part, std::less<>> parts;
  for (const auto& kind : kinds->all()) {
    const std::string key = (kind->group.empty() ? "api/" : "apis/") + kind->api_version();
    Part& part = parts[key];
    part.group = kind->group;
    part.version = kind->version;
    part.kinds.push_back(kind);
  }
  for (auto& [key, part] : parts) {
    const auto before = parts_.find(key);
    if (before != parts_.end() && before->second.kinds == part.kinds) part = std::move(before->second);
  }
  parts_ = std::move(parts);
  made_for_ = kinds;
  index_ = json_ = protobuf_ = nullptr;
}

const OpenApiDocuments::Ptr& OpenApiDocuments::three(const Kinds& kinds, Part& part) {
  if (part.three == nullptr) {
    part.three = document_of(to_json(openapi_document(kinds, part.group, part.version)) + "\n");
  }
  return part.three;
}

OpenApiDocuments::Ptr OpenApiDocuments::index(const Described& described) {
  const std::lock_guard lock{mutex_};
  take(described);
  if (index_ != nullptr) return index_;
  Value paths = Value::object();
  const auto add = [&](const std::string& key, const std::string& hash) {
    paths.set(key, Value::object({{"serverRelativeURL", "/openapi/v3/" + key + "?hash=" + hash}}));
  };
  for (const auto& [key, document] : remote_) add(key, document->hash);
  for (auto& [key, part] : parts_) add(key, three(*made_for_, part)->hash);
  return index_ = document_of(to_json(Value::object({{"paths", std::move(paths)}})) + "\n");
}

OpenApiDocuments::Ptr OpenApiDocuments::version3(const Described& described, std::string_view key) {
  const std::lock_guard lock{mutex_};
  take(described);
  if (const auto part = parts_.find(key); part != parts_.end()) return three(*made_for_, part->second);
  const auto remote = remote_.find(key);
  if (remote == remote_.end()) return nullptr;
  return std::make_shared<const ApiDocument>(ApiDocument{remote->second->body, remote->second->hash});
}

Value OpenApiDocuments::swagger_of_kinds() const {
  Value whole = Value::object({{"swagger", "2.0"}, {"info", Value::object({{"title", "shiplog"}, {"version", "v1"}})}});
  for (const char* section : {"definitions", "paths"}) whole.set(section, Value::object());
  for (const auto& [key, part] : parts_) {
    const Value swagger = to_swagger(openapi_document(*made_for_, part.group, part.version));
    for (const char* section : {"definitions", "paths"}) {
      for (const auto& member : swagger[section].members()) whole.edit(section).set(member.key(), member.value);
    }
  }
  return whole;
}

OpenApiDocuments::Ptr OpenApiDocuments::version2(const Described& described, bool protobuf) {
  const std::lock_guard lock{mutex_};
  take(described);
  Ptr& kept = protobuf ? protobuf_ : json_;
  if (kept != nullptr) return kept;
  if (!protobuf || !remote_.empty()) {
    Value whole = swagger_of_kinds();
    for (const auto& [key, document] : remote_) {
      std::string suffix = "_" + key.substr(sizeof "apis/" - 1);
      std::ranges::replace(suffix, '/', '_');
      merge_swagger(whole, document->swagger, suffix);
    }
    if (!protobuf) return kept = document_of(to_json(whole) + "\n");
    const SwaggerParts encoded = encode_swagger(whole);
    return kept = document_of(encode_swagger_document(encoded.definitions, encoded.paths));
  }
  std::string definitions = encode_swagger(to_swagger(document_of_schemas(shared_schemas()))).definitions;
  std::string paths;
  for (auto& [key, part] : parts_) {
    if (part.definitions.empty()) {
      Value swagger = to_swagger(openapi_document(*made_for_, part.group, part.version));
      for (const auto& shared : shared_schemas().members()) swagger.edit("definitions").erase(shared.key());
      SwaggerParts encoded = encode_swagger(swagger);
      part.definitions = std::move(encoded.definitions);
      part.paths = std::move(encoded.paths);
    }
    definitions += part.definitions;
    paths += part.paths;
  }
  return kept = document_of(encode_swagger_document(definitions, paths));
}

}  // namespace shiplog::api
