#include "tests/support/fake_members.h"

#include <algorithm>
#include <charconv>

#include "events/base/check.h"
#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/kinds/kinds.h"
#include "events/state/object.h"
#include "services/api/patch/patch.h"

namespace shiplog::testing {
namespace {

const Value kNothing;

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out += static_cast<char>(std::stoi(std::string{text.substr(i + 1, 2)}, nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::vector<std::string> split(std::string_view text, char by) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t at = text.find(by);
    if (at != 0) parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  }
  return parts;
}

bool is_about_objects(std::string_view path) {
  const std::vector<std::string> segments = split(path.substr(0, path.find('?')), '/');
  return segments.size() > 2 && segments.size() > (segments[0] == "api" ? 2U : 3U);
}

bool selected(const Value& object, const api::ParsedLabelSelector& selector) {
  return selector.matches(object["metadata"]["labels"]);
}

MemberResponse status(int code, const std::string& reason, const std::string& message) {
  return {code, Value::object({{"kind", "Status"},
                               {"apiVersion", "v1"},
                               {"status", "Failure"},
                               {"reason", reason},
                               {"message", message},
                               {"code", code}})};
}

int64_t number(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool on_members(const Kind& kind) { return !kind.group.ends_with("karmada.io"); }

bool spec_differs(const Value& before, const Value& after) {
  Value a = before;
  Value b = after;
  for (const char* field : {"metadata", "status"}) {
    a.erase(field);
    b.erase(field);
  }
  return a != b;
}

}  // namespace

struct FakeMember::Target {
  std::string group, version, plural, ns, name, subresource;
  std::map<std::string, std::string> query;
  const Kind* kind = nullptr;

  ObjectKey key() const { return {kind->type(), kind->namespaced ? ns : "", name}; }
};

FakeMember::FakeMember(std::string name, Schedule schedule) : name_{std::move(name)}, schedule_{std::move(schedule)} {
  for (const char* ns : {"default", "kube-system", "kube-public"}) {
    put({"namespaces", "", ns}, Value::object({{"apiVersion", "v1"},
                                               {"kind", "Namespace"},
                                               {"metadata", Value::object({{"name", ns}})},
                                               {"status", Value::object({{"phase", "Active"}})}}));
  }
}

const Value& FakeMember::find(const ObjectKey& key) const {
  const auto at = objects_.find(key);
  return at == objects_.end() ? kNothing : at->second;
}

void FakeMember::put(const ObjectKey& key, Value object) {
  const bool created = !objects_.contains(key);
  store(key, std::move(object), created ? "ADDED" : "MODIFIED");
}

void FakeMember::set_status(const ObjectKey& key, Value status) {
  Value object = find(key);
  if (object.is_null()) return;
  object.set("status", std::move(status));
  store(key, std::move(object), "MODIFIED");
}

void FakeMember::erase(const ObjectKey& key) {
  if (objects_.contains(key)) drop(key);
}

void FakeMember::store(const ObjectKey& key, Value object, const char* event) {
  const Value before = find(key);
  const Kind* kind = Kinds::compiled().find_type(key.type);
  Value& metadata = object.edit("metadata");
  metadata.set("name", key.name);
  if (!key.ns.empty()) metadata.set("namespace", key.ns);
  if (before.is_null()) {
    metadata.set("uid", name_ + "-" + std::to_string(++made_));
    metadata.set("creationTimestamp", "2026-01-01T00:00:00Z");
  } else {
    for (const char* field : {"uid", "creationTimestamp", "deletionTimestamp"}) {
      if (before["metadata"].contains(field)) metadata.set(field, before["metadata"][field]);
    }
  }
  if (kind != nullptr && kind->has_generation) {
    const int64_t generation = before["metadata"]["generation"].as_int(0);
    metadata.set("generation", before.is_null() || spec_differs(before, object) ? generation + 1 : generation);
  }
  if (on_write) on_write(object);
  Value same = object;
  same.edit("metadata").set("resourceVersion", before["metadata"]["resourceVersion"]);
  if (!before.is_null() && same == before) return;  // nothing changed: no new resourceVersion, no event
  object.edit("metadata").set("resourceVersion", std::to_string(++revision_));  // on_write may have moved it
  objects_[key] = object;
  emit(key, event, object, before);
  come_true(key);
}

void FakeMember::drop(const ObjectKey& key) {
  Value last = find(key);
  objects_.erase(key);
  const Value before = last;
  last.edit("metadata").set("resourceVersion", std::to_string(++revision_));
  emit(key, "DELETED", last, before);
  if (key.type != type::kNamespace) return;
  std::vector<ObjectKey> content;
  for (const auto& [item, object] : objects_) {
    if (item.ns == key.name) content.push_back(item);
  }
  for (const ObjectKey& item : content) drop(item);
}

void FakeMember::emit(const ObjectKey& key, const char* event, const Value& object, const Value& before) {
  history_.push_back({revision_, key, event, object, before});
  for (const auto& watcher : watchers_) {
    if (watcher->type != key.type || (!watcher->ns.empty() && watcher->ns != key.ns)) continue;
    const bool now = selected(object, watcher->selector);
    const bool was = !before.is_null() && selected(before, watcher->selector);
    // As a server does: an object that begins or ceases to match appears or disappears.
    if (now && std::string_view{event} != "DELETED") send(watcher, was ? "MODIFIED" : "ADDED", object);
    if (was && (!now || std::string_view{event} == "DELETED")) send(watcher, "DELETED", object);
  }
}

void FakeMember::send(const std::shared_ptr<Watcher>& watcher, const char* event, const Value& object) {
  if (mute) return;
  watcher->on_its_way.push_back(Value::object({{"type", event}, {"object", object}}));
  schedule_(latency, [watcher] {
    const Value message = std::move(watcher->on_its_way.front());
    watcher->on_its_way.pop_front();
    if (!watcher->ended) watcher->on_event(message);
  });
}

void FakeMember::come_true(const ObjectKey& key) {
  if (!ready_after || (key.type != "deployments.apps" && key.type != "statefulsets.apps")) return;
  const Value& generation = find(key)["metadata"]["generation"];
  if (find(key)["status"]["observedGeneration"] == generation) return;
  schedule_(*ready_after, [this, key, generation] {
    const Value& object = find(key);
    if (object.is_null() || object["metadata"]["generation"] != generation) return;
    const int64_t wanted = object["spec"]["replicas"].as_int(1);
    const auto image = object["spec"]["template"]["spec"]["containers"][0]["image"].as_string();
    const int64_t ready = image.starts_with("fail/") ? 0 : wanted;
    Value status = Value::object({{"observedGeneration", generation}});
    for (const char* count : {"replicas", "updatedReplicas"}) {
      if (wanted > 0) status.set(count, wanted);
    }
    for (const char* count : {"readyReplicas", "availableReplicas"}) {
      if (ready > 0) status.set(count, ready);
    }
    if (wanted > ready) status.set("unavailableReplicas", wanted - ready);
    set_status(key, std::move(status));
  });
}

MemberResponse FakeMember::handle(const MemberRequest& request) {
  const size_t question = request.path.find('?');
  const std::vector<std::string> segments = split(std::string_view{request.path}.substr(0, question), '/');
  if (segments.empty()) return status(404, "NotFound", "the server could not find the requested resource");
  if (segments[0] == "readyz") ++probed;
  if (segments[0] == "readyz" || segments[0] == "healthz") return {readyz, readyz == 200 ? "ok" : "not ok"};
  if (segments[0] == "version") {
    return {200, Value::object({{"major", "1"}, {"minor", "34"}, {"gitVersion", git_version}})};
  }
  const size_t head = segments[0] == "api" ? 2 : 3;
  if (segments.size() <= head) {
    if (undiscovered.contains(request.path)) return status(503, "ServiceUnavailable", "the server is overloaded");
    return discover(request, segments);
  }
  if (refuse != 0) return status(refuse, "Refused", "the member refuses on purpose");

  Target target;
  target.group = segments[0] == "api" ? "" : segments[1];
  target.version = segments[head - 1];
  size_t at = head;
  if (segments[at] == "namespaces" && segments.size() > at + 2 && segments[at + 2] != "status") {
    target.ns = segments[at + 1];
    at += 2;
  }
  target.plural = segments[at];
  if (segments.size() > at + 1) target.name = percent_decoded(segments[at + 1]);
  if (segments.size() > at + 2) target.subresource = segments[at + 2];
  if (question != std::string::npos) {
    for (const std::string& pair : split(std::string_view{request.path}.substr(question + 1), '&')) {
      const size_t equals = pair.find('=');
      target.query[pair.substr(0, equals)] =
          equals == std::string::npos ? "" : percent_decoded(std::string_view{pair}.substr(equals + 1));
    }
  }
  target.kind = Kinds::compiled().find(target.group, target.version, target.plural);
  if (target.kind == nullptr || !on_members(*target.kind) || unserved.contains(target.kind->type())) {
    return status(404, "NotFound", "the server could not find the requested resource");
  }
  if (request.method == "POST") return create(target, request.body);
  if (target.name.empty()) return list(target);
  const Value& present = find(target.key());
  if (present.is_null()) {
    return status(404, "NotFound", target.key().type + " \"" + target.name + "\" not found");
  }
  if (request.method == "GET") return {200, present};
  if (request.method == "PUT") return replace(target, request.body);
  if (request.method == "PATCH" && request.content_type == "application/merge-patch+json") {
    auto merged = api::apply_merge_patch(present, request.body);
    if (!merged) return status(400, "BadRequest", merged.error().message);
    return replace(target, std::move(merged).value());
  }
  if (request.method == "DELETE") return remove(target, request.body);
  return status(405, "MethodNotAllowed", request.method + " is not supported");
}

/// As a server and the adapter of members answer together.
MemberResponse FakeMember::discover(const MemberRequest& request, const std::vector<std::string>& segments) const {
  const bool root = segments.size() == 1;
  const bool aggregates = root && request.accept.find("as=APIGroupDiscoveryList") != std::string::npos;
  if (aggregates && discovery == Discovery::kRefused) {
    return status(406, "NotAcceptable", "only the following media types are accepted: application/json");
  }
  const bool is_aggregated = aggregates && discovery == Discovery::kAggregated;
  Value body = is_aggregated ? aggregated(segments[0] == "api") : plain(segments);
  if (body.is_null()) return status(404, "NotFound", "the server could not find the requested resource");
  if (!request.known) return {200, std::move(body)};
  Edition edition{"", siphash128(to_json(body))};
  if (etags && is_aggregated) edition.etag = etag_stays ? "\"same\"" : '"' + to_string(edition.digest) + '"';
  const bool same = !edition.etag.empty() && edition.etag == request.known->etag;
  if (same) return {304, {}, *request.known};
  if (edition.digest == request.known->digest) return {304, {}, std::move(edition)};
  return {200, std::move(body), std::move(edition)};
}

Value FakeMember::aggregated(bool core) const {
  std::map<std::string, std::map<std::string, Value>> groups;  // versions, by group and their name
  for (const auto& kind : Kinds::compiled().all()) {
    if (!on_members(*kind) || unserved.contains(kind->type()) || kind->group.empty() != core) continue;
    Value& version = groups[kind->group][kind->version];
    const bool stale = undiscovered.contains((core ? "/api/" : "/apis/") + kind->api_version());
    if (version.is_null()) {
      version = Value::object({{"version", kind->version}, {"freshness", stale ? "Stale" : "Current"}});
      version.set("resources", Value::array());
    }
    const Value answers = Value::object({{"group", kind->group}, {"version", kind->version}, {"kind", kind->kind}});
    Value resource = Value::object({{"resource", kind->plural},
                                    {"responseKind", answers},
                                    {"scope", kind->namespaced ? "Namespaced" : "Cluster"}});
    if (kind->has_status) {
      resource.set("subresources",
                   Value::array({Value::object({{"subresource", "status"}, {"responseKind", answers}})}));
    }
    version.edit("resources").push_back(std::move(resource));
  }
  Value items = Value::array();
  for (auto& [group, versions] : groups) {
    Value item = Value::object({{"metadata", core ? Value::object() : Value::object({{"name", group}})}});
    item.set("versions", Value::array());
    for (auto& [name, version] : versions) item.edit("versions").push_back(std::move(version));
    items.push_back(std::move(item));
  }
  return Value::object({{"kind", "APIGroupDiscoveryList"},
                        {"apiVersion", "apidiscovery.k8s.io/v2"},
                        {"metadata", Value::object()},
                        {"items", items}});
}

/// Null: there is nothing at this path.
Value FakeMember::plain(const std::vector<std::string>& segments) const {
  if (segments == std::vector<std::string>{"api"}) {
    return Value::object({{"kind", "APIVersions"}, {"versions", Value::array({"v1"})}});
  }
  const bool core = segments[0] == "api";
  std::map<std::string, std::set<std::string>> versions;  // by group
  Value resources = Value::array();
  const std::string wanted = core ? "v1" : segments.size() > 2 ? segments[1] + "/" + segments[2] : "";
  for (const auto& kind : Kinds::compiled().all()) {
    if (!on_members(*kind) || unserved.contains(kind->type())) continue;
    if (!kind->group.empty()) versions[kind->group].insert(kind->version);
    if (kind->api_version() != wanted) continue;
    resources.push_back(Value::object(
        {{"name", kind->plural}, {"kind", kind->kind}, {"namespaced", kind->namespaced}, {"singularName", ""}}));
    if (kind->has_status)
      resources.push_back(Value::object({{"name", kind->plural + "/status"}, {"kind", kind->kind}}));
  }
  Value groups = Value::array();
  for (const auto& [group, names] : versions) {
    Value list = Value::array();
    for (const std::string& version : names) {
      list.push_back(Value::object({{"groupVersion", group + "/" + version}, {"version", version}}));
    }
    groups.push_back(Value::object({{"name", group}, {"versions", list}}));
  }
  if (segments.size() == 1) return Value::object({{"kind", "APIGroupList"}, {"groups", groups}});
  if (resources.size() == 0) return {};
  return Value::object({{"kind", "APIResourceList"}, {"groupVersion", wanted}, {"resources", resources}});
}

MemberResponse FakeMember::list(const Target& target) const {
  const auto option = [&](const char* name) {
    const auto at = target.query.find(name);
    return at == target.query.end() ? std::string{} : at->second;
  };
  const int64_t limit = number(option("limit"));
  const auto selector = api::parse_label_selector(option("labelSelector"));
  if (!selector) return status(400, "BadRequest", selector.error().message);
  const std::string token = option("continue");
  const auto after = token.empty() ? api::ContinueToken{} : api::parse_continue_token(token);
  if (!after) return status(400, "BadRequest", after.error().message);
  Value items = Value::array();
  Value metadata = Value::object({{"resourceVersion", std::to_string(revision_)}});
  const ObjectKey* last = nullptr;
  const ObjectKey begin{target.kind->type(), after.value().ns, after.value().name};
  for (auto at = objects_.upper_bound(begin); at != objects_.end() && at->first.type == begin.type; ++at) {
    const auto& [key, object] = *at;
    if ((!target.ns.empty() && key.ns != target.ns) || !selected(object, selector.value())) continue;
    if (limit > 0 && static_cast<int64_t>(items.size()) == limit) {
      metadata.set("continue",
                   api::encode({Revision{static_cast<uint64_t>(revision_)}, last->ns.str(), last->name.str()}));
      break;
    }
    items.push_back(object);
    last = &key;
  }
  return {200, Value::object({{"kind", target.kind->list_kind},
                              {"apiVersion", target.kind->api_version()},
                              {"metadata", metadata},
                              {"items", items}})};
}

MemberResponse FakeMember::create(const Target& target, Value object) {
  Target made = target;
  made.name = object["metadata"]["name"].str();
  if (made.name.empty()) return status(422, "Invalid", "metadata.name: Required value");
  if (!made.key().ns.empty() && find({type::kNamespace, "", made.ns}).is_null()) {
    return status(404, "NotFound", "namespaces \"" + made.ns + "\" not found");
  }
  if (objects_.contains(made.key())) {
    return status(409, "AlreadyExists", made.key().type + " \"" + made.name + "\" already exists");
  }
  object.edit("metadata").erase("resourceVersion");
  if (made.kind->has_status) object.erase("status");
  store(made.key(), std::move(object), "ADDED");
  return {201, find(made.key())};
}

MemberResponse FakeMember::replace(const Target& target, Value object) {
  const ObjectKey key = target.key();
  const Value before = find(key);
  const auto version = object["metadata"]["resourceVersion"].str();
  if (!version.empty() && version != before["metadata"]["resourceVersion"].as_string()) {
    return status(409, "Conflict", "the object has been modified; please apply your changes to the latest version");
  }
  if (target.subresource == "status") {
    Value with = before;
    with.set("status", object["status"]);
    object = std::move(with);
  } else if (target.kind->has_status) {
    object.erase("status");
    if (before.contains("status")) object.set("status", before["status"]);
  }
  if (deleting(before) && object["metadata"]["finalizers"].size() == 0) {
    drop(key);
    return {200, object};
  }
  store(key, std::move(object), "MODIFIED");
  return {200, find(key)};
}

MemberResponse FakeMember::remove(const Target& target, const Value& options) {
  const ObjectKey key = target.key();
  Value object = find(key);
  const auto uid = options["preconditions"]["uid"].as_string();
  if (!uid.empty() && uid != object["metadata"]["uid"].as_string()) {
    return status(409, "Conflict", "the UID in the precondition does not match");
  }
  if (object["metadata"]["finalizers"].size() > 0) {
    object.edit("metadata").set("deletionTimestamp", "2026-01-01T00:00:00Z");
    store(key, object, "MODIFIED");
    return {200, find(key)};
  }
  drop(key);
  return {200, Value::object({{"kind", "Status"}, {"status", "Success"}})};
}

void FakeMember::watch(std::shared_ptr<Watcher> watcher, int64_t since) {
  if (since < oldest_) {
    return send(watcher, "ERROR",
                Value::object({{"kind", "Status"}, {"code", 410}, {"reason", "Expired"}, {"status", "Failure"}}));
  }
  watchers_.push_back(watcher);
  for (const Past& past : history_) {
    if (past.revision <= since || watcher->type != past.key.type) continue;
    const bool now = selected(past.object, watcher->selector);
    if (now || (!past.before.is_null() && selected(past.before, watcher->selector))) {
      send(watcher, now ? past.event.c_str() : "DELETED", past.object);
    }
  }
}

FakeMember& FakeMembers::member(const std::string& cluster) {
  auto& member = members_[cluster];
  if (member == nullptr) member = std::make_unique<FakeMember>(cluster, schedule_);
  return *member;
}

void FakeMembers::forget(const std::string& cluster) {
  break_watches(cluster);
  members_.erase(cluster);
}

void FakeMembers::set_down(const std::string& cluster, bool down) {
  member(cluster).down = down;
  if (down) break_watches(cluster);
}

void FakeMembers::break_watches(const std::string& cluster) {
  std::vector<std::shared_ptr<FakeMember::Watcher>> watchers;
  watchers.swap(member(cluster).watchers_);
  for (const auto& watcher : watchers) {
    schedule_(Millis{1}, [watcher] {
      if (std::exchange(watcher->ended, true)) return;
      watcher->on_end(Error{ErrorCode::kUnavailable, "the watch was cut off"});
    });
  }
}

size_t FakeMembers::watch_count(const std::string& cluster) { return member(cluster).watchers_.size(); }

size_t FakeMembers::count(const std::string& part) const {
  return static_cast<size_t>(
      std::ranges::count_if(log, [&](const std::string& line) { return line.find(part) != std::string::npos; }));
}

void FakeMembers::request(const std::string& cluster, MemberRequest request,
                          std::function<void(Result<MemberResponse>)> done) {
  const auto at = members_.find(cluster);
  if (at == members_.end()) {
    schedule_(Millis{1}, [cluster, done] {
      done(Error{ErrorCode::kNotFound, "cluster " + cluster + " is not known"});
    });
    return;
  }
  if (is_about_objects(request.path)) log.push_back(cluster + " " + request.method + " " + request.path);
  if (at->second->hangs) {
    schedule_(request.timeout, [cluster, done] {
      done(Error{ErrorCode::kTimeout, "cluster " + cluster + ": no answer in time"});
    });
    return;
  }
  // The request arrives after half the time, and its answer after the other half: what happens between counts.
  FakeMember* member = at->second.get();
  const Millis half{(member->latency.value + 1) / 2};
  schedule_(half, [this, cluster, member, half, request = std::move(request), done = std::move(done)] {
    const auto still = members_.find(cluster);
    if (still == members_.end() || still->second.get() != member || member->down) {
      schedule_(half, [cluster, done] {
        done(Error{ErrorCode::kUnavailable, "cluster " + cluster + ": connection refused"});
      });
      return;
    }
    auto response = member->handle(request);
    if (request.path.starts_with("/api") && !is_about_objects(request.path)) {
      discovered.push_back(cluster + " " + request.path + " " + std::to_string(response.status));
    }
    schedule_(half, [done, response = std::move(response)] { done(response); });
  });
}

std::unique_ptr<MemberWatch> FakeMembers::watch(const std::string& cluster, std::string path,
                                                std::function<void(const Value&)> on_event,
                                                std::function<void(Result<void>)> on_end) {
  struct Handle final : MemberWatch {
    std::shared_ptr<FakeMember::Watcher> watcher;
    ~Handle() override { watcher->ended = true; }
  };
  auto handle = std::make_unique<Handle>();
  handle->watcher = std::make_shared<FakeMember::Watcher>();
  auto watcher = handle->watcher;
  watcher->on_event = std::move(on_event);
  watcher->on_end = std::move(on_end);
  const auto at = members_.find(cluster);
  const std::vector<std::string> halves = split(path, '?');
  const std::vector<std::string> segments = split(halves[0], '/');
  const bool core = segments[0] == "api";
  const Kind* kind = Kinds::compiled().find(core ? "" : segments[1], core ? segments[1] : segments[2], segments.back());
  if (at == members_.end() || at->second->down || kind == nullptr || at->second->unserved.contains(kind->type()) ||
      at->second->unwatched.contains(kind->type())) {
    schedule_(Millis{1}, [watcher, cluster] {
      if (std::exchange(watcher->ended, true)) return;
      watcher->on_end(Error{ErrorCode::kUnavailable, "cluster " + cluster + ": no watch"});
    });
    return handle;
  }
  int64_t since = 0;
  for (const std::string& pair : halves.size() > 1 ? split(halves[1], '&') : std::vector<std::string>{}) {
    if (pair.starts_with("labelSelector=")) {
      auto selector = api::parse_label_selector(percent_decoded(std::string_view{pair}.substr(14)));
      SHIPLOG_CHECK(selector.has_value(), "services select with what a server accepts");
      watcher->selector = std::move(selector).value();
    }
    if (pair.starts_with("resourceVersion=")) since = number(std::string_view{pair}.substr(16));
  }
  watcher->type = kind->type();
  at->second->watch(watcher, since);
  return handle;
}

namespace {

Value only(const std::vector<ObjectParts>& parts, const Value& value) {
  if (parts.empty() || (!value.is_object() && !value.is_array())) return value;
  Value kept = value.is_array() ? Value::array() : Value::object();
  for (const Value& item : value.items()) kept.push_back(only(parts, item));
  for (const ObjectParts& part : parts) {
    if (value.contains(part.name)) kept.set(part.name, only(part.parts, value[part.name]));
  }
  return kept;
}

}  // namespace

std::unique_ptr<MemberWatch> FakeMembers::watch_parts(const std::string& cluster, std::string path,
                                                      const ObjectParts& parts,
                                                      std::function<void(const Value&)> on_event,
                                                      std::function<void(Result<void>)> on_end) {
  return watch(
      cluster, std::move(path),
      [parts, on_event = std::move(on_event)](const Value& event) {
        on_event(Value::object({{"type", event["type"]}, {"object", only(parts.parts, event["object"])}}));
      },
      std::move(on_end));
}

}  // namespace shiplog::testing
