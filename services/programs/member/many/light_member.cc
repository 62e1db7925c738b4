#include "services/programs/member/many/light_member.h"

#include <algorithm>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "events/kinds/kinds.h"
#include "events/state/new_namespace.h"
#include "events/state/object.h"
#include "services/api/patch/patch.h"
#include "services/programs/member/many/light_requests.h"

namespace shiplog::member {
namespace {

constexpr const char* kCreated = "2026-01-01T00:00:00Z";

bool spec_differs(Value a, Value b) {
  for (const char* field : {"metadata", "status"}) {
    a.erase(field);
    b.erase(field);
  }
  return a != b;
}

bool is_workload(const std::string& type) {
  return type == "deployments.apps" || type == "statefulsets.apps" || type == "replicasets.apps";
}

}  // namespace

LightMember::LightMember(Options options, Executor& loop)
    : options_{std::move(options)}, loop_{loop}, hangs_{options_.hangs} {
  pods_.reserve(options_.pods);
  for (uint32_t slot = 0; slot < options_.pods; ++slot) pods_.push_back({slot, 0, ++version_});
  const Kind& kind = *Kinds::compiled().find("", "v1", "namespaces");
  for (const char* name : {"default", "kube-system", "kube-public", kGeneratedNamespace}) {
    store({type::kNamespace, "", name}, kind, new_namespace(name));
  }
}

void LightMember::reply(const std::shared_ptr<ResponseWriter>& writer, HttpResponse response) {
  bytes_sent_ += response.body.size();
  ++requests_;
  writer->send(std::move(response));
}

void LightMember::handle(const HttpRequest& request, std::shared_ptr<ResponseWriter> writer) {
  if (hangs_) {
    const std::lock_guard lock{mutex_};
    std::erase_if(hanging_, [](const auto& each) { return each->closed(); });
    hanging_.push_back(std::move(writer));
    return;
  }
  if (request.headers.get("Authorization") != "Bearer " + options_.token) {
    return reply(writer, failure(401, "Unauthorized", "Unauthorized"));
  }
  const std::vector<std::string> segments = split(request.path, '/');
  if (segments.empty()) return reply(writer, unknown_path());
  if (segments[0] == "readyz" || segments[0] == "healthz" || segments[0] == "livez") {
    HttpResponse well;
    well.body = "ok";
    return reply(writer, std::move(well));
  }
  if (segments[0] == "version") {
    return reply(writer, json_response(200, R"({"major":"1","minor":"34","gitVersion":"v1.34.0+simulated"})"));
  }
  const bool core = segments[0] == "api";
  const size_t head = core ? 2 : 3;
  if (segments.size() <= head) return reply(writer, discover(request, segments));
  Target target;
  size_t at = head;
  if (segments[at] == "namespaces" && segments.size() > at + 2 && segments[at + 2] != "status" &&
      segments[at + 2] != "finalize") {
    target.ns = segments[at + 1];
    at += 2;
  }
  target.kind = Kinds::compiled().find(core ? "" : segments[1], segments[head - 1], segments[at]);
  if (segments.size() > at + 1) target.name = segments[at + 1];
  if (segments.size() > at + 2) target.subresource = segments[at + 2];
  if (target.kind == nullptr || !served(*target.kind)) return reply(writer, unknown_path());
  if (query_of(request, "watch") == "true") return watch(request, target, std::move(writer));
  HttpResponse response;
  {
    const std::lock_guard lock{mutex_};
    response = answer(request, target);
  }
  reply(writer, std::move(response));
}

HttpResponse LightMember::answer(const HttpRequest& request, const Target& target) {
  const bool reads = request.method == "GET";
  if (reads) return target.name.empty() ? list(request, target) : read(target);
  if (target.generated()) {
    return failure(405, "MethodNotAllowed", "nodes and pods of a simulated member are generated");
  }
  Value body;
  if (!request.body.empty()) {
    auto parsed = parse_json(request.body);
    if (!parsed) return failure(400, "BadRequest", parsed.error().message);
    body = std::move(parsed).value();
  }
  if (request.method == "POST" && target.subresource == "token") {  // there is one token for all accounts
    body.set("status", Value::object({{"token", options_.token}, {"expirationTimestamp", "2099-01-01T00:00:00Z"}}));
    return json_response(201, to_json(body));
  }
  if (request.method == "POST") return create(target, std::move(body));
  const Value* present = find(target.key());
  if (present == nullptr) return failure(404, "NotFound", target.type() + " \"" + target.name + "\" not found");
  if (request.method == "PUT") return replace(target, std::move(body));
  if (request.method == "PATCH" && request.headers.get("Content-Type").starts_with("application/merge-patch+json")) {
    auto merged = api::apply_merge_patch(*present, body);
    if (!merged) return failure(400, "BadRequest", merged.error().message);
    return replace(target, std::move(merged).value());
  }
  if (request.method == "DELETE") return remove(target, body);
  return failure(405, "MethodNotAllowed", request.method + " of this content type is not simulated");
}

const Value* LightMember::find(const ObjectKey& key) const {
  const auto of_type = objects_.find(key.type.str());
  if (of_type == objects_.end()) return nullptr;
  const auto found = of_type->second.find({key.ns.str(), key.name.str()});
  return found == of_type->second.end() ? nullptr : &found->second;
}

/// A page after the first has the version of the first: a watch from there misses nothing of what happens meanwhile. It
/// begins after the last object of the page before, whatever was created or deleted since. Generated objects stay in
/// their places: of these the token has the place.
HttpResponse LightMember::list(const HttpRequest& request, const Target& target) {
  const std::string token = query_of(request, "continue");
  const auto limit = static_cast<size_t>(number_in(query_of(request, "limit")));
  api::ContinueToken after{Revision{static_cast<uint64_t>(version_)}, "", ""};
  if (!token.empty()) {
    auto from = api::parse_continue_token(token);
    if (!from) return failure(400, "BadRequest", from.error().message);
    after = std::move(from).value();
  }
  if (static_cast<int64_t>(after.revision.value) < oldest_) {
    return failure(410, "Expired", "The provided continue parameter is too old");
  }
  const auto parsed = api::parse_label_selector(query_of(request, "labelSelector"));
  if (!parsed) return failure(400, "BadRequest", parsed.error().message);
  const api::ParsedLabelSelector& selector = parsed.value();
  api::ContinueToken last;
  // Generated objects have no labels worth selecting.
  const bool none =
      target.generated() && (!selector.empty() || (!target.ns.empty() && target.ns != kGeneratedNamespace));
  const std::string items = none                 ? ""
                            : target.generated() ? list_generated(target, limit, after, &last)
                                                 : list_stored(target, selector, limit, after, &last);
  std::string metadata = R"({"resourceVersion":")" + std::to_string(after.revision.value) + "\"";
  if (!last.name.empty()) metadata += R"(,"continue":")" + api::encode({after.revision, last.ns, last.name}) + "\"";
  return json_response(200, R"({"kind":")" + target.kind->list_kind + R"(","apiVersion":")" +
                                target.kind->api_version() + R"(","metadata":)" + metadata + R"(},"items":[)" + items +
                                "]}");
}

std::string LightMember::list_generated(const Target& target, size_t limit, const api::ContinueToken& after,
                                        api::ContinueToken* last) const {
  const auto from = static_cast<size_t>(number_in(after.name));
  const bool nodes = target.type() == kNodeType;
  const size_t all = nodes ? options_.nodes : pods_.size();
  const size_t end = limit == 0 ? all : std::min(all, from + limit);
  std::string items;
  for (size_t index = from; index < end; ++index) {
    if (index > from) items += ',';
    items += nodes ? generated_node(options_.name, static_cast<uint32_t>(index + 1), 1)
                   : generated_pod(options_.name, options_.nodes, pods_[index]);
  }
  if (end < all) last->name = std::to_string(end);
  return items;
}

std::string LightMember::list_stored(const Target& target, const api::ParsedLabelSelector& selector, size_t limit,
                                     const api::ContinueToken& after, api::ContinueToken* last) const {
  std::string items;
  const auto of_type = objects_.find(target.type());
  if (of_type == objects_.end()) return items;
  size_t taken = 0;
  const ObjectName* newest = nullptr;
  for (auto at = of_type->second.upper_bound({after.ns, after.name}); at != of_type->second.end(); ++at) {
    const auto& [name, object] = *at;
    if (!target.ns.empty() && name.first != target.ns) continue;
    if (!selector.matches(object["metadata"]["labels"])) continue;
    if (limit > 0 && taken == limit) {
      *last = {after.revision, newest->first, newest->second};
      break;
    }
    items += (taken++ == 0 ? "" : ",") + to_json(object);
    newest = &name;
  }
  return items;
}

HttpResponse LightMember::read(const Target& target) const {
  if (target.generated()) {
    for (uint32_t number = 1; target.type() == kNodeType && number <= options_.nodes; ++number) {
      if (generated_node_name(options_.name, number) != target.name) continue;
      return json_response(200, generated_node(options_.name, number, 1));
    }
    for (const GeneratedPod& pod : pods_) {
      if (target.type() != kPodType || target.ns != kGeneratedNamespace) break;
      if (generated_pod_name(pod) != target.name) continue;
      return json_response(200, generated_pod(options_.name, options_.nodes, pod));
    }
  } else if (const Value* present = find(target.key())) {
    return json_response(200, to_json(*present));
  }
  return failure(404, "NotFound", target.type() + " \"" + target.name + "\" not found");
}

HttpResponse LightMember::create(const Target& target, Value object) {
  Target made = target;
  made.name = object["metadata"]["name"].str();
  const std::string prefix = object["metadata"]["generateName"].str();
  if (made.name.empty() && !prefix.empty()) made.name = prefix + std::to_string(++made_);
  if (made.name.empty()) return failure(422, "Invalid", "metadata.name: Required value");
  if (!made.key().ns.empty() && find({type::kNamespace, "", made.ns}) == nullptr) {
    return failure(404, "NotFound", "namespaces \"" + made.ns + "\" not found");
  }
  if (find(made.key()) != nullptr) {
    return failure(409, "AlreadyExists", made.type() + " \"" + made.name + "\" already exists");
  }
  object.edit("metadata").erase("resourceVersion");
  object.set("apiVersion", made.kind->api_version());
  object.set("kind", made.kind->kind);
  if (made.type() == "secrets" && object["type"].as_string() == "kubernetes.io/service-account-token") {
    Value& data = object.edit("data");
    data.set("token", base64_encode(options_.token));
    data.set("ca.crt", base64_encode(options_.ca_pem));
  }
  store(made.key(), *made.kind, std::move(object));
  return json_response(201, to_json(*find(made.key())));
}

HttpResponse LightMember::replace(const Target& target, Value object) {
  const ObjectKey key = target.key();
  const Value before = *find(key);
  const auto version = object["metadata"]["resourceVersion"].as_string();
  if (!version.empty() && version != before["metadata"]["resourceVersion"].as_string()) {
    return failure(409, "Conflict", "the object has been modified; please apply your changes to the latest version");
  }
  if (target.subresource == "status") {
    Value with = before;
    with.set("status", object["status"]);
    object = std::move(with);
  } else if (target.kind->has_status) {
    object.erase("status");
    if (before.contains("status")) object.set("status", before["status"]);
  }
  const bool gone = deleting(before) && object["metadata"]["finalizers"].size() == 0;
  const std::string answered = to_json(object);
  if (gone) {
    drop(key);
    return json_response(200, answered);
  }
  store(key, *target.kind, std::move(object));
  return json_response(200, to_json(*find(key)));
}

HttpResponse LightMember::remove(const Target& target, const Value& options) {
  const ObjectKey key = target.key();
  Value object = *find(key);
  const auto uid = options["preconditions"]["uid"].as_string();
  if (!uid.empty() && uid != object["metadata"]["uid"].as_string()) {
    return failure(409, "Conflict", "the UID in the precondition does not match");
  }
  if (object["metadata"]["finalizers"].size() > 0) {
    object.edit("metadata").set("deletionTimestamp", kCreated);
    store(key, *target.kind, std::move(object));
    return json_response(200, to_json(*find(key)));
  }
  drop(key);
  return json_response(200, R"({"kind":"Status","apiVersion":"v1","status":"Success"})");
}

void LightMember::store(const ObjectKey& key, const Kind& kind, Value object) {
  Value& place = objects_[key.type.str()][{key.ns.str(), key.name.str()}];
  const Value before = place;
  Value& metadata = object.edit("metadata");
  metadata.set("name", key.name);
  if (!key.ns.empty()) metadata.set("namespace", key.ns);
  metadata.set("uid",
               before.is_null() ? Value{options_.name + "-" + std::to_string(++made_)} : before["metadata"]["uid"]);
  metadata.set("creationTimestamp", kCreated);
  if (before["metadata"].contains("deletionTimestamp")) metadata.set("deletionTimestamp", kCreated);
  if (kind.has_generation) {
    const int64_t generation = before["metadata"]["generation"].as_int(0);
    metadata.set("generation", before.is_null() || spec_differs(before, object) ? generation + 1 : generation);
  }
  metadata.set("resourceVersion", before["metadata"]["resourceVersion"]);
  if (!before.is_null() && object == before) return;  // nothing changed: no new version, no event
  metadata.set("resourceVersion", std::to_string(++version_));
  const auto generation = metadata["generation"].as_int();
  place = std::move(object);
  happened({.version = version_,
            .event = before.is_null() ? "ADDED" : "MODIFIED",
            .type = key.type.str(),
            .pod = {},
            .object = std::make_shared<const Value>(place),
            .before = before.is_null() ? nullptr : std::make_shared<const Value>(before)});
  if (is_workload(key.type.str()) && place["status"]["observedGeneration"].as_int() != generation) {
    become_ready(key, generation);
  }
}

void LightMember::drop(const ObjectKey& key) {
  auto& of_type = objects_[key.type.str()];
  const auto found = of_type.find({key.ns.str(), key.name.str()});
  if (found == of_type.end()) return;
  const auto before = std::make_shared<const Value>(found->second);
  of_type.erase(found);
  Value last = *before;
  last.edit("metadata").set("resourceVersion", std::to_string(++version_));
  happened({.version = version_,
            .event = "DELETED",
            .type = key.type.str(),
            .pod = {},
            .object = std::make_shared<const Value>(std::move(last)),
            .before = before});
  if (key.type != type::kNamespace) return;
  std::vector<ObjectKey> content;
  for (const auto& [type, objects] : objects_) {
    for (const auto& [name, object] : objects) {
      if (name.first == key.name) content.push_back({type, name.first, name.second});
    }
  }
  for (const ObjectKey& item : content) drop(item);
}

void LightMember::become_ready(const ObjectKey& key, int64_t generation) {
  // Not before the constructor has ended, which stores nothing of these types.
  loop_.post_after(options_.ready_delay, [weak = weak_from_this(), key, generation] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    const std::lock_guard lock{self->mutex_};
    const Value* present = self->find(key);
    if (present == nullptr || (*present)["metadata"]["generation"].as_int() != generation) return;
    Value object = *present;
    Value status = Value::object({{"observedGeneration", generation}});
    const int64_t replicas = object["spec"]["replicas"].as_int(1);
    for (const char* count : {"replicas", "updatedReplicas", "readyReplicas", "availableReplicas"}) {
      if (replicas > 0) status.set(count, replicas);
    }
    object.set("status", std::move(status));
    self->store(key, *Kinds::compiled().find_type(key.type), std::move(object));
  });
}

void LightMember::churn() {
  const std::lock_guard lock{mutex_};
  if (pods_.empty()) return;
  // A step that has no divisor in common with most sizes: it meets all pods, one far from the other.
  next_slot_ = static_cast<uint32_t>((next_slot_ + 7919) % pods_.size());
  GeneratedPod& pod = pods_[next_slot_];
  GeneratedPod gone = pod;
  gone.version = ++version_;
  happened({.version = version_, .event = "DELETED", .type = kPodType, .pod = gone, .object = {}, .before = {}});
  ++pod.serial;
  pod.version = ++version_;
  happened({.version = version_, .event = "ADDED", .type = kPodType, .pod = pod, .object = {}, .before = {}});
}

}  // namespace shiplog::member
