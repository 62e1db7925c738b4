#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/json.h"
#include "events/kinds/kinds.h"
#include "services/programs/member/many/light_member.h"

// What requests to a simulated member name, and the simplest responses.
namespace shiplog::member {

inline constexpr const char* kNodeType = "nodes";
inline constexpr const char* kPodType = "pods";

inline constexpr const char* kDefinitionType = "customresourcedefinitions.apiextensions.k8s.io";

inline bool served(const Kind& kind) { return !kind.group.ends_with("karmada.io"); }

struct LightMember::Target {
  std::string ns, name, subresource;
  const Kind* kind = nullptr;

  std::string type() const { return kind->type(); }
  bool generated() const { return kind->group.empty() && (type() == kNodeType || type() == kPodType); }
  ObjectKey key() const { return {type(), kind->namespaced ? ns : "", name}; }
};

inline std::vector<std::string> split(std::string_view text, char by) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t at = text.find(by);
    if (at != 0) parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  }
  return parts;
}

inline int64_t number_in(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

inline std::string query_of(const HttpRequest& request, std::string_view key) {
  const std::string* value = request.query_value(key);
  return value == nullptr ? "" : *value;
}

inline HttpResponse json_response(int status, std::string body) {
  HttpResponse response;
  response.status = status;
  response.headers.set("Content-Type", "application/json");
  response.body = std::move(body);
  return response;
}

inline HttpResponse failure(int code, const std::string& reason, const std::string& message) {
  return json_response(code, to_json(Value::object({{"kind", "Status"},
                                                    {"apiVersion", "v1"},
                                                    {"status", "Failure"},
                                                    {"reason", reason},
                                                    {"message", message},
                                                    {"code", code}})));
}

inline HttpResponse unknown_path() {
  return failure(404, "NotFound", "the server could not find the requested resource");
}

}  // namespace shiplog::member
