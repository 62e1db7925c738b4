#include "services/api/openapi_documents.h"

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

}  // namespace

/// Keeps the parts whose kinds are the same as before.
void OpenApiDocuments::take(const std::shared_ptr<const Kinds>& kinds) {
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

OpenApiDocuments::Ptr OpenApiDocuments::index(const std::shared_ptr<const Kinds>& kinds) {
  const std::lock_guard lock{mutex_};
  take(kinds);
  if (index_ != nullptr) return index_;
  Value paths = Value::object();
  for (auto& [key, part] : parts_) {
    const std::string url = "/openapi/v3/" + key + "?hash=" + three(*kinds, part)->hash;
    paths.set(key, Value::object({{"serverRelativeURL", url}}));
  }
  return index_ = document_of(to_json(Value::object({{"paths", std::move(paths)}})) + "\n");
}

OpenApiDocuments::Ptr OpenApiDocuments::version3(const std::shared_ptr<const Kinds>& kinds, std::string_view key) {
  const std::lock_guard lock{mutex_};
  take(kinds);
  const auto part = parts_.find(key);
  return part == parts_.end() ? nullptr : three(*kinds, part->second);
}

OpenApiDocuments::Ptr OpenApiDocuments::version2(const std::shared_ptr<const Kinds>& kinds, bool protobuf) {
  const std::lock_guard lock{mutex_};
  take(kinds);
  if (protobuf) {
    if (protobuf_ != nullptr) return protobuf_;
    std::string definitions;
    std::string paths;
    for (auto& [key, part] : parts_) {
      if (part.definitions.empty()) {
        SwaggerParts encoded = encode_swagger(to_swagger(openapi_document(*kinds, part.group, part.version)));
        part.definitions = std::move(encoded.definitions);
        part.paths = std::move(encoded.paths);
      }
      definitions += part.definitions;
      paths += part.paths;
    }
    return protobuf_ = document_of(encode_swagger_document(definitions, paths));
  }
  if (json_ != nullptr) return json_;
  Value whole = Value::object({{"swagger", "2.0"}, {"info", Value::object({{"title", "shiplog"}, {"version", "v1"}})}});
  for (const char* section : {"definitions", "paths"}) whole.set(section, Value::object());
  for (const auto& [key, part] : parts_) {
    const Value swagger = to_swagger(openapi_document(*kinds, part.group, part.version));
    for (const char* section : {"definitions", "paths"}) {
      for (const auto& member : swagger[section].members()) whole.edit(section).set(member.key(), member.value);
    }
  }
  return json_ = document_of(to_json(whole) + "\n");
}

}  // namespace shiplog::api
