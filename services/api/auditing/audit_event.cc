#include "services/api/auditing/audit_event.h"

#include <algorithm>
#include <cstdio>

#include <arpa/inet.h>

#include "events/base/json.h"
#include "events/base/time.h"
#include "events/base/yaml.h"
#include "services/api/auditing/redact.h"
#include "services/api/request.h"

namespace shiplog::api {
namespace {

constexpr std::string_view kTruncated = "audit.k8s.io/truncated";
constexpr size_t kMostAddresses = 32;

void set_unless_empty(Value& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object.set(key, text);
}

Value list_of(const std::vector<std::string>& strings) {
  Value list = Value::array();
  for (const std::string& each : strings) list.push_back(each);
  return list;
}

Value user_info(const rbac::User& user) {
  Value info = Value::object();
  set_unless_empty(info, "username", user.name);
  set_unless_empty(info, "uid", user.uid);
  if (!user.groups.empty()) info.set("groups", list_of(user.groups));
  if (user.extra.empty()) return info;
  Value extra = Value::object();
  for (const auto& [key, values] : user.extra) extra.set(key, list_of(values));
  info.set("extra", std::move(extra));
  return info;
}

Value object_reference(const AuditedRequest& request) {
  Value reference = Value::object();
  set_unless_empty(reference, "resource", request.resource);
  set_unless_empty(reference, "namespace", request.ns);
  set_unless_empty(reference, "name", request.name);
  set_unless_empty(reference, "uid", request.uid);
  set_unless_empty(reference, "apiGroup", request.group);
  set_unless_empty(reference, "apiVersion", request.version);
  set_unless_empty(reference, "resourceVersion", request.resource_version);
  set_unless_empty(reference, "subresource", request.subresource);
  return reference;
}

/// Null: the body is none that can be read.
Value read_document(const std::string& body, const std::string& type) {
  if (body.empty()) return {};
  const std::string media = media_type(type);
  auto document = media.ends_with("yaml") ? parse_yaml(body) : parse_json(body);
  return document ? std::move(document).value() : Value{};
}

Value request_object(const AuditedRequest& request) {
  if (request.body == nullptr || request.body->empty()) return {};
  const std::string media = media_type(request.content_type);
  if (media.find("protobuf") == std::string::npos) return read_document(*request.body, request.content_type);
  if (request.kinds == nullptr || request.kind == nullptr) return {};
  auto object = read_body(request.content_type, *request.body, *request.kinds, *request.kind, nullptr);
  return object ? std::move(object).value() : Value{};
}

void drop_managed_fields(Value& object) {
  if (object["metadata"].contains("managedFields")) object.edit("metadata").erase("managedFields");
  if (object["items"].is_array()) {
    for (Value& item : object.edit("items").edit_items()) {
      if (item["metadata"].contains("managedFields")) item.edit("metadata").erase("managedFields");
    }
  }
}

Value response_status(const AuditLogEvent& event, const Value& response) {
  Value status = Value::object({{"metadata", Value::object()}, {"code", event.status}});
  if (response["kind"].as_string() == "Status") {
    for (const char* field : {"status", "message", "reason", "details"}) {
      if (!response[field].is_null()) status.set(field, response[field]);
    }
  }
  if (!event.message.empty() && status["message"].is_null()) status.set("message", event.message);
  if (event.status >= 400 && status["status"].is_null()) status.set("status", "Failure");
  return status;
}

void prepare(Value& object, const AuditedRequest& request) {
  redact_tokens(object, request.resource);
  if (request.decision.omit_managed_fields) drop_managed_fields(object);
}

std::string quoted(std::string_view text) {
  std::string json;
  append_json_string(text, json);
  return json;
}

std::string quoted_list(const Value& list) {
  std::string text;
  for (const Value& item : list.items()) text += (text.empty() ? "" : ",") + quoted(item.as_string());
  return text;
}

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return std::string{text.substr(begin, text.find_last_not_of(" \t") - begin + 1)};
}

bool is_address(const std::string& text) {
  unsigned char bytes[16];
  return ::inet_pton(AF_INET, text.c_str(), bytes) == 1 || ::inet_pton(AF_INET6, text.c_str(), bytes) == 1;
}

}  // namespace

std::string rfc3339_micros(UtcMicros at) {
  std::string text = rfc3339(UtcMillis{at.value / 1000});
  char fraction[16];
  std::snprintf(fraction, sizeof fraction, ".%06dZ", static_cast<int>(at.value % 1'000'000));
  text.pop_back();  // Z
  return text + fraction;
}

size_t AuditLogEvent::bytes() const {
  constexpr size_t kRest = 1024;
  return kRest + response.size() + (request->body == nullptr ? 0 : request->body->size());
}

Value to_value(const AuditLogEvent& event) {
  const AuditedRequest& request = *event.request;
  Value document = Value::object({{"kind", "Event"},
                                  {"apiVersion", "audit.k8s.io/v1"},
                                  {"level", name_of(request.decision.level)},
                                  {"auditID", request.audit_id},
                                  {"stage", name_of(event.stage)},
                                  {"requestURI", request.uri},
                                  {"verb", request.verb},
                                  {"user", user_info(request.user)},
                                  {"requestReceivedTimestamp", rfc3339_micros(request.received)},
                                  {"stageTimestamp", rfc3339_micros(event.at)}});
  if (request.acts_as != nullptr) document.set("impersonatedUser", user_info(*request.acts_as));
  if (!request.source_ips.empty()) document.set("sourceIPs", list_of(request.source_ips));
  set_unless_empty(document, "userAgent", request.user_agent);
  if (request.is_resource) document.set("objectRef", object_reference(request));
  if (!request.annotations.empty()) {
    Value annotations = Value::object();
    for (const auto& [key, value] : request.annotations) annotations.set(key, value);
    document.set("annotations", std::move(annotations));
  }
  if (request.decision.level >= AuditLevel::kRequest) {
    if (Value object = request_object(request); !object.is_null()) {
      prepare(object, request);
      document.set("requestObject", std::move(object));
    }
  }
  if (event.status == 0) return document;
  Value response = read_document(event.response, event.response_type);
  document.set("responseStatus", response_status(event, response));
  if (request.decision.level >= AuditLevel::kRequestResponse && !response.is_null()) {
    prepare(response, request);
    document.set("responseObject", std::move(response));
  }
  return document;
}

std::string legacy_line(const Value& event) {
  const Value& user = event["user"];
  const Value& other = event["impersonatedUser"];
  const auto or_else = [](const Value& value, const char* otherwise) {
    return value.as_string().empty() ? std::string{otherwise} : value.str();
  };
  std::string line =
      event["requestReceivedTimestamp"].str() + " AUDIT: id=" + quoted(event["auditID"].as_string()) +
      " stage=" + quoted(event["stage"].as_string()) + " ip=" + quoted(or_else(event["sourceIPs"][0], "<unknown>")) +
      " method=" + quoted(event["verb"].as_string()) + " user=" + quoted(or_else(user["username"], "<none>"));
  line += " groups=" + (user["groups"].size() == 0 ? "<none>" : quoted_list(user["groups"]));
  line += " as=" + quoted(other.is_null() ? "<self>" : other["username"].str());
  line += " asgroups=" + (other["groups"].size() == 0 ? "<lookup>" : quoted_list(other["groups"]));
  line += " user-agent=" + quoted(event["userAgent"].as_string());
  line += " namespace=" + quoted(or_else(event["objectRef"]["namespace"], "<none>"));
  line += " uri=" + quoted(event["requestURI"].as_string());
  const Value& status = event["responseStatus"];
  return line + " response=\"" + (status.is_null() ? "<deferred>" : std::to_string(status["code"].as_int())) + "\"";
}

Value event_list(std::vector<Value> events) {
  return Value::object({{"kind", "EventList"},
                        {"apiVersion", "audit.k8s.io/v1"},
                        {"metadata", Value::object()},
                        {"items", Value::array(std::move(events))}});
}

bool truncate_event(Value& event, size_t most) {
  if (to_json(event).size() <= most) return true;
  event.erase("requestObject");
  event.erase("responseObject");
  event.edit("annotations").set(kTruncated, "true");
  return to_json(event).size() <= most;
}

std::vector<std::string> source_addresses(std::string_view forwarded_for, std::string_view real_ip,
                                          const std::string& connection) {
  std::vector<std::string> addresses;
  const auto add = [&](std::string address) {
    if (is_address(address) && addresses.size() < kMostAddresses) addresses.push_back(std::move(address));
  };
  while (!forwarded_for.empty()) {
    const size_t comma = std::min(forwarded_for.find(','), forwarded_for.size());
    add(trimmed(forwarded_for.substr(0, comma)));
    forwarded_for.remove_prefix(std::min(comma + 1, forwarded_for.size()));
  }
  if (std::string real = trimmed(real_ip); std::ranges::find(addresses, real) == addresses.end()) {
    add(std::move(real));
  }
  if (!connection.empty() && (addresses.empty() || addresses.back() != connection)) addresses.push_back(connection);
  return addresses;
}

}  // namespace shiplog::api
