#include "services/rehearsal/rehearsal_members.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/kinds/kinds.h"
#include "events/state/served_kind.h"
#include "events/state/work.h"
#include "services/interpreter/interpreter.h"
#include "services/rehearsal/workload_status.h"
#include "services/roles/dispatcher/member_object.h"

namespace shiplog {
namespace {

constexpr Millis kLatency{1};

MemberResponse failure(int code, const char* reason, const std::string& message) {
  return {code, Value::object({{"kind", "Status"},
                               {"apiVersion", "v1"},
                               {"status", "Failure"},
                               {"reason", reason},
                               {"message", message},
                               {"code", code}})};
}

/// "a/b" of "/a/b/?c"; each part between slashes.
std::vector<std::string_view> segments_of(std::string_view path) {
  path = path.substr(0, path.find('?'));
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    const size_t end = path.find('/');
    if (end != 0) segments.push_back(path.substr(0, end));
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
  }
  return segments;
}

bool managed(const Value& object) { return label_of(object, label::kManaged) == "true"; }

/// The status of a manifest's object, as it was last collected.
const Value& collected_status(const Value& work, const Value& manifest) {
  static const Value kNone;
  for (const Value& entry : work["status"]["manifestStatuses"].items()) {
    const Value& identifier = entry["identifier"];
    if (identifier["kind"] == manifest["kind"] && identifier["name"] == manifest["metadata"]["name"] &&
        identifier["namespace"].as_string() == manifest["metadata"]["namespace"].as_string()) {
      return entry["status"];
    }
  }
  return kNone;
}

/// The generation of the member's object that its status is about.
int64_t generation_of(const Value& status) {
  return std::max<int64_t>(1, std::max(status["generation"].as_int(), status["observedGeneration"].as_int()));
}

bool spec_differs(const Value& before, const Value& after) {
  const auto bare = [](Value object) {
    object.erase("metadata");
    object.erase("status");
    return object;
  };
  return bare(before) != bare(after);
}

}  // namespace

struct RehearsalMembers::Contained {
  Value value;
  uint64_t version = 0;  // grows with each write
  bool counted = false;  // the three below are known
  ResourceList request;  // of one replica
  int64_t wanted = 0, running = 0;
  std::string short_of;  // the resource that the rest waits for
};

struct RehearsalMembers::Watcher {
  std::string type;
  std::function<void(const Value&)> on_event;
  std::function<void(Result<void>)> on_end;
  bool ended = false;
};

struct RehearsalMembers::Member {
  bool down = false;
  bool is_filled = false;
  bool written = false;
  std::map<ObjectKey, Contained> objects;
  std::vector<std::shared_ptr<Watcher>> watchers;
  ResourceList used;            // beyond what its summary contains
  std::set<ObjectKey> waiting;  // workloads with replicas that there is no room for
  bool summary_changed = false;
  int64_t revision = 1;
};

struct RehearsalMembers::Addressed {
  ObjectKey key;
  std::string kind, api_version;
  bool resource = false;
};

RehearsalMembers::RehearsalMembers(Options options) : options_{std::move(options)} {}
RehearsalMembers::~RehearsalMembers() { *alive_ = false; }

RehearsalMembers::Member& RehearsalMembers::member(const std::string& cluster) {
  auto& made = members_[cluster];
  if (made == nullptr) made = std::make_unique<Member>();
  return *made;
}

void RehearsalMembers::set_down(const std::string& cluster) {
  Member& failing = member(cluster);
  failing.down = true;
  for (const auto& watcher : std::exchange(failing.watchers, {})) {
    options_.executor->post_after(kLatency, [watcher] {
      if (std::exchange(watcher->ended, true)) return;
      watcher->on_end(Error{ErrorCode::kUnavailable, "the watch was cut off"});
    });
  }
}

void RehearsalMembers::on_folded(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    if (change.object.type != type::kWork || change.before["spec"] == change.after["spec"]) continue;
    filled(cluster_of_space(change.object.ns), changes);
  }
}

RehearsalMembers::Member& RehearsalMembers::filled(const std::string& cluster, const std::vector<Change>& changing) {
  Member& present = member(cluster);
  if (present.down || std::exchange(present.is_filled, true)) return present;
  const auto before = [&](const ObjectKey& key) -> const Value* {
    const auto changed = std::ranges::find(changing, key, &Change::object);
    return changed == changing.end() ? nullptr : &changed->before;
  };
  const std::string space = execution_space(cluster);
  for (const auto& [name, work] : options_.state->objects(type::kWork, space)) {
    const Value* old = before({type::kWork, name.ns, name.name});
    fill_from(cluster, present, old == nullptr ? work.value : *old);
  }
  for (const Change& change : changing) {
    if (change.removed() && change.object.type == type::kWork && change.object.ns == space) {
      fill_from(cluster, present, change.before);
    }
  }
  return present;
}

void RehearsalMembers::fill_from(const std::string& cluster, Member& into, const Value& work) {
  if (!condition_holds(work, "Applied")) return;
  for (const Value& manifest : work["spec"]["workload"]["manifests"].items()) {
    const auto served = served_kind(*options_.state, manifest["apiVersion"].as_string(), manifest["kind"].as_string());
    if (!served) continue;
    const ObjectKey key = served->key(manifest["metadata"]["namespace"].str(), manifest["metadata"]["name"].str());
    Contained contained;
    contained.value = dispatcher::stamped(manifest, Revision{}, to_string(siphash128(to_json(manifest))));
    const Value& status = collected_status(work, manifest);
    Value& metadata = contained.value.edit("metadata");
    metadata.set("uid", cluster + "/" + to_string(key));
    metadata.set("resourceVersion", "1");
    metadata.set("generation", generation_of(status));
    if (!status.is_null()) contained.value.set("status", status);
    into.objects.insert_or_assign(key, std::move(contained));
  }
}

RehearsalMembers::Addressed RehearsalMembers::address_of(std::string_view path) const {
  Addressed address;
  const auto segments = segments_of(path);
  const bool core = !segments.empty() && segments[0] == "api";
  const size_t head = core ? 2 : 3;
  if (segments.size() <= head || (!core && segments[0] != "apis")) return address;
  const std::string group{core ? std::string_view{} : segments[1]};
  address.api_version = core ? std::string{segments[1]} : group + "/" + std::string{segments[2]};
  size_t at = head;
  if (segments[at] == "namespaces" && segments.size() > at + 2) {
    address.key.ns = segments[at + 1];
    at += 2;
  }
  address.key.type = std::string{segments[at]} + (group.empty() ? "" : "." + group);
  if (segments.size() > at + 1) address.key.name = segments[at + 1];
  address.resource = true;
  return address;
}

void RehearsalMembers::request(const std::string& cluster, MemberRequest request,
                               std::function<void(Result<MemberResponse>)> done) {
  options_.executor->post_after(
      kLatency, [this, alive = alive_, cluster, request = std::move(request), done = std::move(done)] {
        if (!*alive) return;
        if (member(cluster).down || options_.state->cluster(cluster) == nullptr) {
          return done(Error{ErrorCode::kUnavailable, "cluster " + cluster + ": it does not answer in this rehearsal"});
        }
        done(handle(cluster, request));
      });
}

MemberResponse RehearsalMembers::handle(const std::string& cluster, const MemberRequest& request) {
  const Addressed address = address_of(request.path);
  if (!address.resource) return discovery(cluster, request.path);
  if (address.key.type == "nodes") return failure(503, "ServiceUnavailable", "nodes are not simulated");
  Member& asked = filled(cluster);
  const auto present = asked.objects.find(address.key);
  const bool reads = request.method == "GET";
  if (!reads && !std::exchange(asked.written, true) && options_.on_first_write) options_.on_first_write(cluster);
  if (address.key.name.empty() && reads) return list(asked, address);
  if (request.method == "POST") {
    ObjectKey key = address.key;
    key.name = request.body["metadata"]["name"].str();
    if (asked.objects.contains(key)) return failure(409, "AlreadyExists", to_string(key) + " already exists");
    return store(cluster, asked, key, request.body, true);
  }
  if (present == asked.objects.end()) return failure(404, "NotFound", to_string(address.key) + " not found");
  if (reads) return {200, present->second.value};
  if (request.method == "PUT") return store(cluster, asked, address.key, request.body, false);
  if (request.method == "DELETE") {
    drop(cluster, asked, address.key);
    return {200, Value::object({{"kind", "Status"}, {"status", "Success"}})};
  }
  return failure(405, "MethodNotAllowed", request.method + " is not simulated");
}

/// What the last probe of the real member has found.
MemberResponse RehearsalMembers::discovery(const std::string& cluster, std::string_view path) const {
  if (path == "/readyz" || path == "/healthz") return {200, "ok"};
  const Value& status = options_.state->value_of({type::kCluster, "", cluster})["status"];
  if (path == "/version") return {200, Value::object({{"gitVersion", status["kubernetesVersion"]}})};
  const bool core = path == "/api/v1";
  if (path != "/apis" && !core && !path.starts_with("/apis/")) return failure(404, "NotFound", "not simulated");
  const std::string_view wanted = core ? "v1" : path.substr(std::min(path.size(), std::string_view{"/apis/"}.size()));
  Value groups = Value::array();
  for (const Value& enabled : status["apiEnablements"].items()) {
    const Value& version = enabled["groupVersion"];
    if (!wanted.empty() && version.as_string() == wanted) {
      return {200, Value::object({{"groupVersion", version}, {"resources", enabled["resources"]}})};
    }
    if (version.as_string() == "v1") continue;
    groups.push_back(Value::object({{"versions", Value::array({Value::object({{"groupVersion", version}})})}}));
  }
  if (!wanted.empty()) return {200, Value::object({{"groupVersion", wanted}, {"resources", Value::array()}})};
  return {200, Value::object({{"groups", std::move(groups)}})};
}

/// What is asked for has the label karmada.io/managed; all of it in one page.
MemberResponse RehearsalMembers::list(Member& asked, const Addressed& address) const {
  Value items = Value::array();
  for (auto at = asked.objects.lower_bound({address.key.type, "", ""});
       at != asked.objects.end() && at->first.type == address.key.type; ++at) {
    const bool in_namespace = address.key.ns.empty() || at->first.ns == address.key.ns;
    if (in_namespace && managed(at->second.value)) items.push_back(at->second.value);
  }
  const std::string kind = items.size() > 0 ? items[0]["kind"].str() : "";
  return {200, Value::object({{"kind", kind + "List"},
                              {"apiVersion", address.api_version},
                              {"metadata", Value::object({{"resourceVersion", std::to_string(asked.revision)}})},
                              {"items", std::move(items)}})};
}

MemberResponse RehearsalMembers::store(const std::string& cluster, Member& into, const ObjectKey& key, Value object,
                                       bool created) {
  Contained& contained = into.objects[key];
  if (!created) count(contained);
  const Value before = contained.value;
  Value& metadata = object.edit("metadata");
  metadata.set("uid", created ? Value{cluster + "/" + to_string(key)} : before["metadata"]["uid"]);
  metadata.set("resourceVersion", std::to_string(++into.revision));
  const int64_t generation = before["metadata"]["generation"].as_int();
  metadata.set("generation", created || spec_differs(before, object) ? generation + 1 : generation);
  object.erase("status");
  if (before.contains("status")) object.set("status", before["status"]);
  contained.value = std::move(object);
  const uint64_t version = ++contained.version;
  emit(into, key, created ? "ADDED" : "MODIFIED", contained.value);
  options_.executor->post_after(options_.ready_after, [this, alive = alive_, cluster, key, version] {
    if (*alive) come_true(cluster, key, version);
  });
  return {created ? 201 : 200, contained.value};
}

void RehearsalMembers::drop(const std::string& cluster, Member& from, const ObjectKey& key) {
  const auto found = from.objects.find(key);
  count(found->second);
  use(from, found->second.request, -found->second.running);
  Value last = found->second.value;
  last.edit("metadata").set("resourceVersion", std::to_string(++from.revision));
  from.objects.erase(found);
  from.waiting.erase(key);
  emit(from, key, "DELETED", last);
  retry_waiting(cluster, from);
}

void RehearsalMembers::emit(Member& of, const ObjectKey& key, const char* event, const Value& object) {
  if (!managed(object)) return;
  for (const auto& watcher : of.watchers) {
    if (watcher->type != key.type) continue;
    options_.executor->post_after(kLatency, [watcher, message = Value::object({{"type", event}, {"object", object}})] {
      if (!watcher->ended) watcher->on_event(message);
    });
  }
}

/// The replicas that the object's present value had all of, and what each of them needs.
void RehearsalMembers::count(Contained& contained) const {
  if (std::exchange(contained.counted, true)) return;
  const auto replicas = interpreter::replicas(*options_.state, contained.value, options_.executor->now());
  if (!replicas || !replicas.value()) return;
  contained.wanted = contained.running = replicas.value()->count;
  contained.request = resource_list_from(replicas.value()->requirements["resourceRequest"]);
  contained.request["pods"] = Quantity::from_units(1);
}

int64_t RehearsalMembers::room_for(const std::string& cluster, Member& in, const ResourceList& request, int64_t most,
                                   std::string* short_of) const {
  const Value& summary = options_.state->value_of({type::kCluster, "", cluster})["status"]["resourceSummary"];
  if (!summary["allocatable"].is_object()) return most;
  // What the Cluster's status counts already is no longer in `used` (changed_summaries).
  const ResourceList allocatable = resource_list_from(summary["allocatable"]);
  const ResourceList allocated = resource_list_from(summary["allocated"]);
  const auto amount = [](const ResourceList& list, const std::string& name) {
    const auto found = list.find(name);
    return found == list.end() ? Quantity{} : found->second;
  };
  int64_t fitting = most;
  for (const auto& [name, each] : request) {
    if (each.is_zero() || each.negative() || !allocatable.contains(name)) continue;
    const Quantity free = amount(allocatable, name) - amount(allocated, name) - amount(in.used, name);
    const int64_t fit = free.negative() ? 0 : free.divided_by(each);
    if (fit >= fitting) continue;
    fitting = fit;
    if (short_of != nullptr) *short_of = name;
  }
  return fitting;
}

void RehearsalMembers::use(Member& by, const ResourceList& request, int64_t replicas) {
  if (replicas == 0) return;
  for (const auto& [name, each] : request) {
    Quantity& used = by.used[name];
    used = used + each * replicas;
  }
  by.summary_changed = true;
}

void RehearsalMembers::retry_waiting(const std::string& cluster, Member& in) {
  for (const ObjectKey& key : in.waiting) {
    options_.executor->post_after(options_.ready_after,
                                  [this, alive = alive_, cluster, key, version = in.objects.at(key).version] {
                                    if (*alive) come_true(cluster, key, version);
                                  });
  }
}

const Value& RehearsalMembers::status_elsewhere(const Value& object) const {
  static const Value kNone;
  for (const char* id_label : {label::kBindingId, label::kClusterBindingId}) {
    const ObjectKey work_key{type::kWork, std::string{annotation_of(object, annotation::kWorkNamespace)},
                             std::string{annotation_of(object, annotation::kWorkName)}};
    const auto id = label_of(options_.state->value_of(work_key), id_label);
    if (id.empty()) continue;
    for (const ObjectKey& labelled : options_.state->labelled(id_label, id)) {
      if (labelled.type != type::kWork) continue;
      const Value& status = collected_status(options_.state->value_of(labelled), object);
      if (!status.is_null()) return status;
    }
  }
  return kNone;
}

void RehearsalMembers::come_true(const std::string& cluster, const ObjectKey& key, uint64_t version) {
  Member& in = member(cluster);
  const auto found = in.objects.find(key);
  if (in.down || found == in.objects.end() || found->second.version != version) return;
  Contained& contained = found->second;
  const int64_t had = contained.counted ? contained.running : 0;
  contained.counted = false;
  contained.request.clear();
  contained.wanted = contained.running = 0;
  count(contained);
  contained.running = std::min(had, contained.wanted);
  contained.short_of.clear();
  const int64_t more = contained.wanted - contained.running;
  if (more > 0) contained.running += room_for(cluster, in, contained.request, more, &contained.short_of);
  use(in, contained.request, contained.running - had);
  contained.running < contained.wanted ? (void)in.waiting.insert(key) : (void)in.waiting.erase(key);
  const int64_t nodes =
      options_.state->value_of({type::kCluster, "", cluster})["status"]["nodeSummary"]["totalNum"].as_int();
  Value status = workload_status(contained.value, contained.wanted, contained.running, nodes);
  if (status.is_null()) {
    status = status_elsewhere(contained.value);
    if (status.contains("generation") || status.contains("observedGeneration")) {
      contained.value.edit("metadata").set("generation", generation_of(status));
    }
  }
  if (!status.is_null() && contained.value["status"] != status) {
    contained.value.set("status", std::move(status));
    contained.value.edit("metadata").set("resourceVersion", std::to_string(++in.revision));
    emit(in, key, "MODIFIED", contained.value);
  }
  if (contained.running < had) retry_waiting(cluster, in);
}

std::vector<std::pair<std::string, Value>> RehearsalMembers::changed_summaries() {
  std::vector<std::pair<std::string, Value>> changed;
  for (auto& [cluster, one] : members_) {
    if (!std::exchange(one->summary_changed, false)) continue;
    Value summary = options_.state->value_of({type::kCluster, "", cluster})["status"]["resourceSummary"];
    if (!summary["allocatable"].is_object()) continue;
    ResourceList allocated = resource_list_from(summary["allocated"]);
    for (const auto& [name, amount] : std::exchange(one->used, {})) {
      if (summary["allocatable"].contains(name)) allocated[name] = allocated[name] + amount;
    }
    std::erase_if(allocated, [](const auto& item) { return item.second.is_zero() || item.second.negative(); });
    summary.set("allocated", to_value(allocated));
    changed.emplace_back(cluster, std::move(summary));
  }
  return changed;
}

std::vector<RehearsalMembers::Shortage> RehearsalMembers::shortages() const {
  std::vector<Shortage> all;
  for (const auto& [cluster, one] : members_) {
    for (const ObjectKey& key : one->waiting) {
      const Contained& contained = one->objects.at(key);
      all.push_back({cluster, key, contained.wanted, contained.running, contained.short_of});
    }
  }
  return all;
}

std::unique_ptr<MemberWatch> RehearsalMembers::watch(const std::string& cluster, std::string path,
                                                     std::function<void(const Value&)> on_event,
                                                     std::function<void(Result<void>)> on_end) {
  struct Handle final : MemberWatch {
    std::shared_ptr<Watcher> watcher;
    ~Handle() override { watcher->ended = true; }
  };
  auto handle = std::make_unique<Handle>();
  handle->watcher = std::make_shared<Watcher>();
  handle->watcher->type = address_of(path).key.type;
  handle->watcher->on_event = std::move(on_event);
  handle->watcher->on_end = std::move(on_end);
  Member& watched = filled(cluster);
  if (watched.down) {
    options_.executor->post_after(kLatency, [watcher = handle->watcher, cluster] {
      if (std::exchange(watcher->ended, true)) return;
      watcher->on_end(Error{ErrorCode::kUnavailable, "cluster " + cluster + ": no watch"});
    });
    return handle;
  }
  std::erase_if(watched.watchers, [](const auto& watcher) { return watcher->ended; });
  watched.watchers.push_back(handle->watcher);
  return handle;
}

}  // namespace shiplog
