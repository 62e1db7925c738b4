#include "services/requests/contract.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "events/base/utf8.h"
#include "schemas/requests/v1/requests.pb.h"

namespace shiplog::requests {
namespace {

namespace pb = ::shiplog::requests::v1;

constexpr size_t kLongestId = 128;
/// As much as a request over HTTP may bring.
constexpr size_t kLongestManifest = size_t{3} << 20U;
/// As much of an invalid word as is repeated in a message.
constexpr size_t kMostQuoted = 60;
constexpr const char* kJson = "application/json";
constexpr const char* kKubernetesProtobuf = "application/vnd.kubernetes.protobuf";

constexpr std::array kVerbs = {RequestVerb::kApply, RequestVerb::kCreate, RequestVerb::kPatch, RequestVerb::kDelete,
                               RequestVerb::kScale};

std::string quoted(std::string_view word) { return "\"" + std::string{word.substr(0, kMostQuoted)} + "\""; }

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_id(std::string_view id) {
  return !id.empty() && id.size() <= kLongestId && std::ranges::all_of(id, [](char c) { return c > 0x20 && c < 0x7f; });
}

/// What a request says in words that the struct has as types.
struct Words {
  std::string verb, deadline;
};

/// The manifest names the object, where the address does not.
std::optional<std::string> complete(RequestAddress& address, const std::string& manifest) {
  const auto object = parse_json(manifest);
  if (!object) return "manifest: " + object.error().message;
  if (!object.value().is_object()) return "manifest: a JSON object is expected";
  const Value& metadata = object.value()["metadata"];
  if (address.api_version.empty()) address.api_version = object.value()["apiVersion"].str();
  if (address.kind.empty() && address.resource.empty()) address.kind = object.value()["kind"].str();
  if (address.ns.empty()) address.ns = metadata["namespace"].str();
  if (address.name.empty()) address.name = metadata["name"].str();
  return std::nullopt;
}

/// A part of the object's path: one that could mean another path is none.
std::optional<std::string> wrong_part(const char* field, std::string_view part) {
  constexpr size_t kLongest = 253;
  const bool fits = part.size() <= kLongest && !one_of(part, {".", ".."}) &&
                    std::ranges::all_of(part, [](char c) { return c > 0x20 && c < 0x7f && c != '/' && c != '%'; });
  if (fits) return std::nullopt;
  return std::string{"object."} + field + ": " + quoted(part) + " is no name";
}

std::optional<std::string> wrong_address(const ProducedRequest& request) {
  const RequestAddress& object = request.object;
  if (object.api_version.empty()) return "object.apiVersion: Required value";
  const size_t slash = object.api_version.find('/');
  const std::string version = object.api_version.substr(slash == std::string::npos ? 0 : slash + 1);
  if (auto wrong = wrong_part("apiVersion", version)) return wrong;
  if (slash != std::string::npos) {
    if (auto wrong = wrong_part("apiVersion", object.api_version.substr(0, slash))) return wrong;
  }
  if (version.empty() || slash == 0) return "object.apiVersion: GROUP/VERSION or VERSION is expected";
  if (object.kind.empty() == object.resource.empty()) return "object: kind or resource is required, and not both";
  for (const auto& [field, part] : {std::pair{"kind", &object.kind}, std::pair{"resource", &object.resource},
                                    std::pair{"namespace", &object.ns}, std::pair{"name", &object.name}}) {
    if (auto wrong = wrong_part(field, *part)) return wrong;
  }
  if (!one_of(object.subresource, {"", "status", "scale"})) {
    return "object.subresource: " + quoted(object.subresource) + " is none of \"\", status, scale";
  }
  if (object.name.empty() && request.verb != RequestVerb::kCreate) return "object.name: Required value";
  return std::nullopt;
}

/// What a verb needs, and what would have no effect with it: silently ignored, that would be a surprise.
std::optional<std::string> wrong_for_verb(const ProducedRequest& request) {
  const RequestVerb verb = request.verb;
  const std::string of = std::string{" with verb "} + name_of(verb);
  const bool has_manifest = !request.manifest.empty();
  const bool needs_manifest = !one_of(name_of(verb), {"delete", "scale"});
  if (has_manifest != needs_manifest) return std::string{"manifest: "} + (has_manifest ? "not used" : "required") + of;
  if (request.replicas.has_value() != (verb == RequestVerb::kScale)) {
    return std::string{"replicas: "} + (request.replicas ? "not used" : "required") + of;
  }
  if (request.replicas && (*request.replicas < 0 || *request.replicas > INT32_MAX)) return "replicas: out of range";
  if (verb != RequestVerb::kPatch && !request.patch_type.empty()) return "patchType: not used" + of;
  if (verb != RequestVerb::kApply && request.force) return "force: not used" + of;
  if (verb != RequestVerb::kDelete && !request.propagation_policy.empty()) return "propagationPolicy: not used" + of;
  const bool expects = !request.expected_version.empty() || !request.expected_uid.empty();
  if (verb == RequestVerb::kCreate && expects) return "preconditions: not used" + of;
  if (verb == RequestVerb::kScale && !one_of(request.object.subresource, {"", "scale"})) {
    return "object.subresource: not used" + of;
  }
  if (one_of(name_of(verb), {"create", "delete"}) && !request.object.subresource.empty()) {
    return "object.subresource: not used" + of;
  }
  if (!one_of(request.patch_type, {"", "merge", "json", "strategic"})) {
    return "patchType: " + quoted(request.patch_type) + " is none of merge, json, strategic";
  }
  if (!one_of(request.propagation_policy, {"", "Background", "Foreground", "Orphan"})) {
    return "propagationPolicy: " + quoted(request.propagation_policy) + " is none of Background, Foreground, Orphan";
  }
  if (request.content_type == kKubernetesProtobuf && verb != RequestVerb::kCreate) {
    return std::string{"contentType: "} + kKubernetesProtobuf + " is for verb create only";
  }
  return std::nullopt;
}

/// Completes a request whose fields were copied; what is wrong with it.
std::optional<std::string> finish(ProducedRequest& request, const Words& words) {
  const auto verb = std::ranges::find(kVerbs, words.verb, name_of);
  if (verb == kVerbs.end()) {
    return "verb: " + quoted(words.verb) + " is none of apply, create, patch, delete, scale";
  }
  request.verb = *verb;
  if (!words.deadline.empty()) {
    const auto deadline = parse_rfc3339(words.deadline);
    if (!deadline) return "deadline: " + deadline.error().message;
    request.deadline = deadline.value();
  }
  if (request.content_type.empty()) request.content_type = kJson;
  if (!one_of(request.content_type, {kJson, kKubernetesProtobuf})) {
    return "contentType: " + quoted(request.content_type) + " is neither " + kJson + " nor " + kKubernetesProtobuf;
  }
  if (request.manifest.size() > kLongestManifest) return "manifest: more than 3 MiB";
  for (const char c : request.token) {
    if (c <= 0x20 || c >= 0x7f) return "token: it has a character that no token has";
  }
  for (const char c : request.field_manager) {
    if (c < 0x20 || c == 0x7f) return "fieldManager: it is not printable";
  }
  if (auto wrong = wrong_for_verb(request)) return wrong;
  const bool whole_object = request.verb == RequestVerb::kApply || request.verb == RequestVerb::kCreate;
  if (whole_object && request.content_type == kJson) {
    if (auto wrong = complete(request.object, request.manifest)) return wrong;
  }
  return wrong_address(request);
}

Parsed<ProducedRequest> finished(ProducedRequest request, const Words& words) {
  if (!is_id(request.id)) {
    return InvalidRequest{"", request.id.empty() ? "id: Required value"
                                                 : "id: 1 to " + std::to_string(kLongestId) +
                                                       " printable ASCII characters without blanks are expected"};
  }
  if (auto wrong = finish(request, words)) return InvalidRequest{request.id, std::move(*wrong)};
  return request;
}

/// Takes members out of a JSON object by type, and names the one that is wrong or unknown.
class RequestFields {
 public:
  RequestFields(const Value& object, std::string path) : object_{object}, path_{std::move(path)} {}

  std::string text(const char* name) {
    const Value& member = take(name);
    if (!member.is_null() && !member.is_string()) wrong(name, "a string is expected");
    return member.str();
  }
  bool flag(const char* name) {
    const Value& member = take(name);
    if (!member.is_null() && !member.is_bool()) wrong(name, "true or false is expected");
    return member.as_bool();
  }
  std::optional<int64_t> number(const char* name) {
    const Value& member = take(name);
    if (member.is_null()) return std::nullopt;
    if (!member.is_int()) wrong(name, "a whole number is expected");
    return member.as_int();
  }
  const Value& take(const char* name) {
    known_.emplace_back(name);
    return object_[name];
  }
  const Value& object(const char* name) {
    const Value& member = take(name);
    if (!member.is_null() && !member.is_object()) wrong(name, "an object is expected");
    return member;
  }
  void wrong(const std::string& name, const std::string& why) {
    if (!wrong_) wrong_ = path_ + name + ": " + why;
  }
  /// After all members were taken.
  std::optional<std::string> problem() {
    for (const Value::Member& member : object_.members()) {
      if (std::ranges::find(known_, member.key()) == known_.end()) {
        wrong(std::string{member.key().substr(0, kMostQuoted)}, "there is no such field");
      }
    }
    return wrong_;
  }

 private:
  const Value& object_;
  std::string path_;
  std::vector<std::string> known_;
  std::optional<std::string> wrong_;
};

Parsed<ProducedRequest> parse_protobuf(std::string_view bytes) {
  pb::Request from;
  if (bytes.size() > INT32_MAX || !from.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return InvalidRequest{"", "these are not the bytes of a shiplog.requests.v1.Request"};
  }
  ProducedRequest to;
  to.id = from.id();
  const pb::ObjectAddress& object = from.object();
  to.object = {object.api_version(), object.kind(), object.resource(),
               object.namespace_(),  object.name(), object.subresource()};
  to.manifest = from.manifest();
  to.content_type = from.content_type();
  to.patch_type = from.patch_type();
  to.field_manager = from.field_manager();
  to.force = from.force();
  to.dry_run = from.dry_run();
  to.expected_version = from.preconditions().resource_version();
  to.expected_uid = from.preconditions().uid();
  if (from.has_replicas()) to.replicas = from.replicas();
  to.token = from.token();
  to.propagation_policy = from.propagation_policy();
  return finished(std::move(to), {from.verb(), from.deadline()});
}

}  // namespace

const char* name_of(RequestVerb verb) {
  switch (verb) {
    case RequestVerb::kApply:
      return "apply";
    case RequestVerb::kCreate:
      return "create";
    case RequestVerb::kPatch:
      return "patch";
    case RequestVerb::kDelete:
      return "delete";
    case RequestVerb::kScale:
      return "scale";
  }
  return "";
}

bool is_protobuf(std::string_view content_type) {
  return content_type.starts_with(kRequestsProtobuf) || content_type.starts_with("application/protobuf");
}

Parsed<ProducedRequest> parse_request(std::string_view content_type, std::string_view bytes) {
  if (is_protobuf(content_type)) return parse_protobuf(bytes);
  if (!is_utf8(bytes))
    return InvalidRequest{"",
                          "it is not UTF-8; Protobuf needs the header content-type: " + std::string{kRequestsProtobuf}};
  const auto json = parse_json(bytes);
  if (!json) return InvalidRequest{"", json.error().message};
  return request_from(json.value());
}

Parsed<ProducedRequest> request_from(const Value& json) {
  if (!json.is_object()) return InvalidRequest{"", "a JSON object is expected"};
  RequestFields members{json, ""};
  ProducedRequest to;
  to.id = members.text("id");
  Words words{members.text("verb"), members.text("deadline")};
  const Value& object = members.object("object");
  RequestFields address{object, "object."};
  to.object = {address.text("apiVersion"), address.text("kind"), address.text("resource"),
               address.text("namespace"),  address.text("name"), address.text("subresource")};
  const Value& manifest = members.take("manifest");
  const std::string bytes = members.text("manifestBytes");
  if (!manifest.is_null() && !bytes.empty()) members.wrong("manifestBytes", "not used with manifest");
  if (!manifest.is_null()) to.manifest = to_json(manifest);
  if (!bytes.empty()) {
    auto decoded = base64_decode(bytes);
    if (!decoded) members.wrong("manifestBytes", "base64 is expected");
    to.manifest = decoded.value_or("");
  }
  to.content_type = members.text("contentType");
  to.patch_type = members.text("patchType");
  to.field_manager = members.text("fieldManager");
  to.force = members.flag("force");
  to.dry_run = members.flag("dryRun");
  const Value& preconditions = members.object("preconditions");
  RequestFields expected{preconditions, "preconditions."};
  to.expected_version = expected.text("resourceVersion");
  to.expected_uid = expected.text("uid");
  to.replicas = members.number("replicas");
  to.token = members.text("token");
  to.propagation_policy = members.text("propagationPolicy");
  for (RequestFields* part : {&members, &address, &expected}) {
    if (auto wrong = part->problem()) return InvalidRequest{is_id(to.id) ? to.id : "", std::move(*wrong)};
  }
  return finished(std::move(to), words);
}

Value to_value(const ProducedResult& result) {
  Value value = Value::object({{"id", result.id}, {"outcome", result.outcome}, {"code", result.code}});
  if (result.duplicate) value.set("duplicate", true);
  if (result.revision != 0) value.set("revision", std::to_string(result.revision));
  const std::pair<const char*, const std::string*> texts[] = {{"reason", &result.reason},
                                                              {"message", &result.message},
                                                              {"uid", &result.uid},
                                                              {"resourceVersion", &result.resource_version},
                                                              {"entryId", &result.entry_id}};
  for (const auto& [name, text] : texts) {
    if (!text->empty()) value.set(name, *text);
  }
  if (result.record.offset >= 0) {
    value.set("record", Value::object({{"topic", result.record.topic},
                                       {"partition", result.record.partition},
                                       {"offset", result.record.offset}}));
  }
  return value;
}

std::string write_result(std::string_view content_type, const ProducedResult& result) {
  if (!is_protobuf(content_type)) return to_json(to_value(result));
  pb::Result to;
  to.set_id(result.id);
  to.set_outcome(result.outcome);
  to.set_duplicate(result.duplicate);
  to.set_code(result.code);
  to.set_reason(result.reason);
  to.set_message(result.message);
  to.set_revision(result.revision);
  to.set_uid(result.uid);
  to.set_resource_version(result.resource_version);
  to.set_entry_id(result.entry_id);
  if (result.record.offset >= 0) {
    to.mutable_record()->set_topic(result.record.topic);
    to.mutable_record()->set_partition(result.record.partition);
    to.mutable_record()->set_offset(result.record.offset);
  }
  return to.SerializeAsString();
}

std::string order_key(const ProducedRequest& request) {
  const RequestAddress& object = request.object;
  if (object.name.empty()) return "";
  // By kind or by resource, in any version, it is the same object: the group alone is sure to be the same.
  const size_t slash = object.api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : object.api_version.substr(0, slash);
  return group + "/" + object.ns + "/" + object.name;
}

ProducedResult result_of(const InvalidRequest& invalid) {
  ProducedResult result;
  result.id = invalid.id;
  result.outcome = "invalid";
  result.code = 400;
  result.reason = "BadRequest";
  result.message = invalid.reason;
  return result;
}

}  // namespace shiplog::requests
