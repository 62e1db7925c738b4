#include "services/programs/agent/fleet_copy.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "events/base/path_segment.h"
#include "events/control.h"
#include "events/fold/fold.h"
#include "events/state/condition.h"
#include "events/state/served_kind.h"
#include "events/state/work.h"
#include "services/interpreter/customizations.h"
#include "services/roles/dispatcher/role.h"
#include "services/runtime/log.h"

namespace shiplog::agent {

using interpreter::kCustomizationType;

namespace {

/// Conflicts of one step after the other, before it is checked whether the copy is behind.
constexpr int kDoubtfulConflicts = 4;

Revision revision_in(const Value& object) {
  const std::string_view text = object["metadata"]["resourceVersion"].as_string();
  uint64_t revision = 0;
  std::from_chars(text.data(), text.data() + text.size(), revision);
  return Revision{revision};
}

bool is_definition(const Value& manifest) {
  return manifest["kind"].as_string() == "CustomResourceDefinition" &&
         manifest["apiVersion"].as_string().starts_with("apiextensions.k8s.io/");
}

}  // namespace

FleetCopy::FleetCopy(Options options)
    : options_{std::move(options)},
      space_{execution_space(options_.cluster)},
      cluster_key_{type::kCluster, "", options_.cluster} {
  uplink_ = std::make_unique<Uplink>(
      Uplink::Options{.server = options_.control_plane,
                      .name = options_.control_plane_name,
                      .executor = options_.executor,
                      .random = options_.random,
                      .at_once = 8,
                      .plan = [this](const ObjectKey& key) { return plan(key); },
                      .accepted = [this](const ObjectKey& key, const Value& object) { accepted(key, object); },
                      .failed =
                          [this](const ObjectKey& key, const Error& error) {
                            if (options_.failed) options_.failed("report", key, error);
                          }});
  roles_ = std::make_unique<RoleLoop>(RoleLoop::Options{
      .state = &state_,
      .executor = options_.executor,
      .seed = options_.random->next(),
      .steps_under_way = options_.works_at_once + 4,  // of the collector: its watches
      .append_latency = Millis{0},
      .timer_step = Millis{0},
      .collect_clusters = Millis{0},
      // What is decided of bindings and namespaces is decided by the control plane.
      .admits =
          [](const Role&, const ObjectKey& key, const Change*) {
            return key.type == type::kWork || key.type == type::kCluster || key.ns == "@watch";
          },
      .on_folded = [this](const Entry&, const Folded& folded) { on_folded(folded); },
      .on_retry = [this](const Role& role, const ObjectKey& key, const Error& error) { on_retry(role, key, error); }});
  write({FoldVersionActivated{kFoldVersion}});
  write({ObjectCreated{{type::kNamespace, "", space_},
                       Value::object({{"metadata", Value::object({{"name", space_}})}})}});
  roles_->add(make_dispatcher_role(*options_.member, {}, options_.resolver,
                                   [this](const ObjectKey& work, Revision) { return revision_of(work); }));
  const auto unread = [this](const ObjectKey& work, interpreter::InterpreterOperation, const Error& error) {
    if (options_.failed) options_.failed("interpret", work, error);
  };
  CollectorSettings collector = options_.collector;
  collector.in_member = true;
  roles_->add(make_collector_role(*options_.member, options_.resolver, unread, collector));
}

FleetCopy::~FleetCopy() { *alive_ = false; }

void FleetCopy::write(std::vector<Event> events) {
  Entry entry;
  entry.actor.service = "agent";
  entry.events = std::move(events);
  const bool before = std::exchange(mirroring_, true);
  const Folded folded = roles_->write(std::move(entry));
  mirroring_ = before;
  if (folded.refusal) log::error("agent.copy_refused", {log::kv("reason", folded.refusal->reason)});
}

void FleetCopy::write(const Entries& entries) {
  for (const auto& events : entries) write(events);
}

void FleetCopy::on_folded(const Folded& folded) {
  for (const Change& change : folded.changes) {
    const ObjectKey& key = change.object;
    if (key.type == type::kCluster) {
      uplink_->wake(key);
      if (change.before["status"]["apiEnablements"] != change.after["status"]["apiEnablements"] &&
          !kinds_unknown_.empty()) {
        options_.executor->post([this, alive = alive_] {
          if (*alive) know_kinds_again();
        });
      }
    } else if (key.type == type::kWork) {
      const auto remote = remote_works_.find(key.name.str());
      const bool gave_back = !mirroring_ && deleting(change.before) && has_finalizer(change.before, finalizer::kWork) &&
                             !has_finalizer(change.after, finalizer::kWork);
      if (gave_back && remote != remote_works_.end()) remote->second.given_back = true;
      uplink_->wake(key);
    }
  }
}

bool FleetCopy::ready() const {
  const Cluster* cluster = state_.cluster(options_.cluster);
  return cluster != nullptr && cluster->ready();
}

// --- from the control plane ------------------------------------------------------------------------------------------

void FleetCopy::take_cluster(const Value& remote) {
  remote_cluster_ = remote;
  const Object* copy = state_.find(cluster_key_);
  write(take_in_cluster(cluster_key_, copy == nullptr ? nullptr : &copy->value, remote));
  uplink_->wake(cluster_key_);
}

void FleetCopy::take_works(const std::vector<Value>& all) {
  std::set<std::string> there;
  for (const Value& remote : all) {
    there.insert(remote["metadata"]["name"].str());
    copy_newest(remote);
    Remote& known = remote_works_[remote["metadata"]["name"].str()];
    if (known.conflicts >= kDoubtfulConflicts) known.confirmed = known.revision;
  }
  std::vector<std::string> gone;
  for (const auto& [name, remote] : remote_works_) {
    if (!there.contains(name)) gone.push_back(name);
  }
  for (const std::string& name : gone) work_gone(name);
}

/// The watch may bring what the answer to a write has brought before, and what was before that.
void FleetCopy::take_work(const Value& remote) {
  const auto known = remote_works_.find(remote["metadata"]["name"].str());
  const bool older = known != remote_works_.end() && revision_in(remote).value < known->second.revision.value &&
                     known->second.object["metadata"]["uid"] == remote["metadata"]["uid"];
  if (!older) copy_newest(remote);
}

void FleetCopy::copy_newest(const Value& remote) {
  const std::string name = remote["metadata"]["name"].str();
  Remote& known = remote_works_[name];
  if (known.object["metadata"]["uid"] != remote["metadata"]["uid"]) known = {};
  if (known.object["spec"] != remote["spec"]) known.conflicts = 0;
  known.object = remote;
  known.revision = revision_in(remote);
  copy_work(name);
  uplink_->wake(work_key(name));
}

void FleetCopy::copy_work(const std::string& name) {
  const Remote& remote = remote_works_[name];
  if (remote.given_back) return;
  know_kinds(remote.object);
  const ObjectKey key = work_key(name);
  const Object* copy = state_.find(key);
  write(take_in_work(key, copy == nullptr ? nullptr : &copy->value, remote.object));
}

void FleetCopy::work_gone(const std::string& name) {
  remote_works_.erase(name);
  kinds_unknown_.erase(name);
  if (state_.find(work_key(name)) != nullptr) write({ObjectRemoved{work_key(name)}});
}

void FleetCopy::take_customizations(const std::string& type, const std::vector<Value>& all) {
  std::set<std::string> there;
  for (const Value& object : all) {
    there.insert(object["metadata"]["name"].str());
    take_customization(type, "MODIFIED", object);
  }
  std::vector<ObjectKey> gone;
  for (const auto& [name, object] : state_.objects(type)) {
    if (!there.contains(name.name.str())) gone.push_back({type, "", name.name});
  }
  for (const ObjectKey& key : gone) write({ObjectRemoved{key}});
}

void FleetCopy::take_customization(const std::string& type, std::string_view event, const Value& remote) {
  const ObjectKey key{type, "", remote["metadata"]["name"].str()};
  const Object* copy = state_.find(key);
  if (event == "DELETED") {
    if (copy != nullptr) write({ObjectRemoved{key}});
    return;
  }
  Value object = remote;
  if (const auto known = quarantined_.find(key.name.str()); known != quarantined_.end() && type == kCustomizationType) {
    if (known->second.uid == remote["metadata"]["uid"] && known->second.spec == remote["spec"]) {
      for (const auto& [overrun, since] : known->second.overruns) {
        object = with_quarantine(std::move(object), overrun, since);
      }
    } else {
      quarantined_.erase(known);
    }
  }
  if (copy == nullptr) {
    write({ObjectCreated{key, std::move(object)}});
  } else {
    write({ObjectUpdated{key, std::move(object)}});
  }
}

void FleetCopy::quarantine(const Question& question, const interpreter::Overrun& overrun) {
  const Value& of = question.address;
  const ObjectKey key{kCustomizationType, "", of["name"].str()};
  const Object* customization = state_.find(key);
  // What overran is not there any more, or is another text by now.
  if (customization == nullptr || customization->value["metadata"]["uid"] != of["uid"] ||
      customization->value["metadata"]["generation"].as_int() != of["generation"].as_int()) {
    return;
  }
  const UtcMillis now = options_.executor->now();
  Value after = with_quarantine(customization->value, overrun, now);
  if (after == customization->value) return;
  log::warn("interpreter.quarantined",
            {log::kv("customization", key.name), log::kv("operation", overrun.operation),
             log::kv("namespace", overrun.ns), log::kv("reason", overrun.reason), log::kv("message", overrun.message)});
  Quarantined& kept = quarantined_[key.name.str()];
  if (kept.uid != after["metadata"]["uid"] || kept.spec != after["spec"]) {
    kept = {after["metadata"]["uid"], after["spec"], {}};
  }
  kept.overruns.emplace_back(overrun, now);
  write({StatusUpdated{key, std::move(after)}});
}

// --- kinds -----------------------------------------------------------------------------------------------------------

/// Before a Work is copied: the roles must know how to address its objects.
void FleetCopy::know_kinds(const Value& work) {
  const std::string name = work["metadata"]["name"].str();
  kinds_unknown_.erase(name);
  for (const Value& manifest : work["spec"]["workload"]["manifests"].items()) {
    if (is_definition(manifest) && !deleting(work)) define(slim_definition(manifest));
    if (served_kind(state_, manifest["apiVersion"].as_string(), manifest["kind"].as_string())) continue;
    const auto definition = definition_for(state_.value_of(cluster_key_), manifest);
    if (!definition || !define(*definition)) kinds_unknown_.insert(name);
  }
}

/// The member serves other kinds now. Roles look at the kinds of a Work when it appears.
void FleetCopy::know_kinds_again() {
  const auto unknown = kinds_unknown_;
  for (const std::string& name : unknown) {
    const auto remote = remote_works_.find(name);
    if (remote == remote_works_.end()) continue;
    know_kinds(remote->second.object);
    if (kinds_unknown_.contains(name) || state_.find(work_key(name)) == nullptr) continue;
    Value copy = state_.value_of(work_key(name));
    write({ObjectRemoved{work_key(name)}});
    write({ObjectCreated{work_key(name), std::move(copy)}});
  }
}

bool FleetCopy::define(const Value& definition) {
  const ObjectKey key{type::kCustomResourceDefinition, "", definition["metadata"]["name"].str()};
  const Object* known = state_.find(key);
  if (known == nullptr) {
    write({ObjectCreated{key, definition}});
    return true;
  }
  Value extended = known->value;
  for (const Value& version : definition["spec"]["versions"].items()) {
    const auto same = [&](const Value& other) { return other["name"] == version["name"]; };
    if (std::ranges::none_of(extended["spec"]["versions"].items(), same)) {
      extended.edit("spec").edit("versions").push_back(version);
    }
  }
  if (extended != known->value) write({ObjectUpdated{key, std::move(extended)}});
  return true;
}

// --- to the member and back to the control plane ---------------------------------------------------------------------

dispatcher::WorkRevision FleetCopy::revision_of(const ObjectKey& work) const {
  const auto remote = remote_works_.find(work.name.str());
  if (remote == remote_works_.end()) return {};
  return {remote->second.revision, remote->second.confirmed == remote->second.revision};
}

void FleetCopy::on_retry(const Role& role, const ObjectKey& key, const Error& error) {
  if (error.code != ErrorCode::kConflict) {
    if (options_.failed) options_.failed(std::string{role.name()}, key, error);
    return;
  }
  // An object that another agent has written from a newer Work, which is read soon; or from a history that a restored
  // control plane no longer has.
  const auto remote = remote_works_.find(key.name.str());
  if (key.type != type::kWork || remote == remote_works_.end()) return;
  if (++remote->second.conflicts >= kDoubtfulConflicts && options_.doubts_works) options_.doubts_works();
}

std::optional<MemberRequest> FleetCopy::plan(const ObjectKey& key) const {
  MemberRequest request;
  const Object* copy = state_.find(key);
  if (key == cluster_key_) {
    if (copy == nullptr || remote_cluster_.is_null()) return std::nullopt;
    auto body = cluster_with_status(copy->value, remote_cluster_, options_.executor->now());
    if (!body) return std::nullopt;
    request.method = "PUT";
    request.path = "/apis/cluster.karmada.io/v1alpha1/clusters/" + key.name + "/status";
    request.body = std::move(*body);
    return request;
  }
  const auto remote = remote_works_.find(key.name.str());
  if (remote == remote_works_.end()) return std::nullopt;
  const std::string path = "/apis/work.karmada.io/v1alpha1/namespaces/" + space_ + "/works/" + path_segment(key.name);
  if (remote->second.given_back) {
    auto body = released_work(remote->second.object);
    if (!body) return std::nullopt;
    request.method = "PUT";
    request.path = path;
    request.body = std::move(*body);
    return request;
  }
  if (copy == nullptr || deleting(remote->second.object)) return std::nullopt;
  auto patch = work_status_patch(copy->value, remote->second.object);
  if (!patch) return std::nullopt;
  request.method = "PATCH";
  request.path = path + "/status";
  request.content_type = "application/merge-patch+json";
  request.body = std::move(*patch);
  return request;
}

/// The answer is newer than what the watch has brought so far, or the same.
void FleetCopy::accepted(const ObjectKey& key, const Value& object) {
  if (key == cluster_key_) {
    if (!remote_cluster_.is_null() && revision_in(object).value > revision_in(remote_cluster_).value) {
      take_cluster(object);
    }
    return;
  }
  const auto remote = remote_works_.find(key.name.str());
  if (remote == remote_works_.end()) return;
  if (object["metadata"]["uid"] != remote->second.object["metadata"]["uid"]) return;
  if (remote->second.given_back) {  // the answer may be the Work as it was last, of the revision it had before
    remote->second.object = object;
    return;
  }
  if (revision_in(object).value > remote->second.revision.value) take_work(object);
}

}  // namespace shiplog::agent
