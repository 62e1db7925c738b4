#include "services/roles/dispatcher/apply_work.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "events/base/api_version.h"
#include "events/base/json.h"
#include "events/dispatch.h"
#include "events/fold/staged.h"
#include "events/state/condition.h"
#include "events/state/drift.h"
#include "events/state/new_work.h"
#include "events/state/sealed.h"
#include "events/state/served_kind.h"
#include "events/state/work.h"
#include "services/roles/applied_work.h"
#include "services/roles/dispatcher/decide.h"
#include "services/roles/dispatcher/member_object.h"
#include "services/roles/dispatcher/render.h"
#include "services/runtime/metrics.h"

namespace shiplog::dispatcher {
namespace {

constexpr int kConflictTries = 5;  // E-7
constexpr Millis kLookAfterRestoring{1'000};

bool good(const MemberResponse& response) { return response.status >= 200 && response.status < 300; }

/// A member's response about an object that is sealed here may quote what it was sent in clear text.
Error refused(const MemberResponse& response, const Value& manifest) {
  if (is_sealed(manifest)) {
    return {response.status == 404 ? ErrorCode::kNotFound : ErrorCode::kInvalid,
            "HTTP status " + std::to_string(response.status) +
                "; the member's message is not shown, as it may quote data of the " + manifest["kind"].str()};
  }
  std::string message = response.body.is_string() ? response.body.str() : response.body["message"].str();
  if (message.empty()) message = "HTTP status " + std::to_string(response.status);
  return {response.status == 404 ? ErrorCode::kNotFound : ErrorCode::kInvalid, std::move(message)};
}

/// How a member serves the manifest's kind; nullopt: not at all, so that no object of it can exist there.
std::optional<Served> served_by(const Value& cluster, const Value& manifest) {
  const std::string api_version = manifest["apiVersion"].str();
  for (const Value& enabled : cluster["status"]["apiEnablements"].items()) {
    if (enabled["groupVersion"].as_string() != api_version) continue;
    for (const Value& resource : enabled["resources"].items()) {
      if (resource["kind"] != manifest["kind"] || resource["name"].is_empty()) continue;
      const auto [group, version] = split_api_version(api_version);
      return Served{std::string{group}, std::string{version}, resource["name"].str(),
                    !manifest["metadata"]["namespace"].is_empty()};
    }
  }
  return std::nullopt;
}

/// The member answers that it has no such object (E-19). A 404 about another object, or that of a proxy in between,
/// does not state that; only of a kind that the member does not serve, the answer has no name.
bool states_absence(const MemberResponse& response, const Value& cluster, const Value& manifest) {
  if (response.status != 404) return false;
  const Value& name = response.body["details"]["name"];
  if (!name.is_empty()) return name == manifest["metadata"]["name"];
  return response.body["kind"].as_string() == "Status" || !served_by(cluster, manifest);
}

/// A write to a member has ended (OBS-6). Kinds are served here, so there are not many.
void count_write(const std::string& method, const Value& manifest, const std::string& cluster, bool succeeded,
                 bool recreated) {
  static const metrics::CounterFamily creates{"create_resource_to_cluster",
                                              "Objects created in members.",
                                              {"result", "apiversion", "kind", "member_cluster", "recreate"}};
  static const metrics::CounterFamily updates{"update_resource_to_cluster",
                                              "Objects updated in members.",
                                              {"result", "apiversion", "kind", "member_cluster", "operationResult"}};
  static const metrics::CounterFamily deletes{"delete_resource_from_cluster",
                                              "Objects deleted from members.",
                                              {"result", "apiversion", "kind", "member_cluster"}};
  const char* result = succeeded ? "success" : "error";
  const std::string_view api_version = manifest["apiVersion"].as_string();
  const std::string_view kind = manifest["kind"].as_string();
  if (method == "POST") creates.with({result, api_version, kind, cluster, recreated ? "true" : "false"}).add();
  if (method == "PUT") updates.with({result, api_version, kind, cluster, succeeded ? "updated" : "none"}).add();
  if (method == "DELETE") deletes.with({result, api_version, kind, cluster}).add();
}

class WorkDispatch : public std::enable_shared_from_this<WorkDispatch> {
 public:
  WorkDispatch(TaskPtr task, Members& members, const Open& open, WorkReportsPtr reports, RevertsPtr reverts,
               QuestionResolver* resolver, const RevisionOf& revision_of)
      : task_{std::move(task)},
        members_{members},
        open_{open},
        reports_{std::move(reports)},
        reverts_{std::move(reverts)},
        resolver_{resolver},
        key_{task_->key()},
        cluster_{cluster_of_space(key_.ns)},
        work_{task_->state().value_of(key_)},
        revision_{task_->state().revision_of(key_)},
        mark_{revision_of ? revision_of(key_, revision_) : WorkRevision{revision_}},
        manifests_{work_["spec"]["workload"]["manifests"]} {}

  void start() {
    const bool held = reports_->take_held(key_, work_["metadata"]["generation"].as_int());
    if (work_.is_null() || cluster_.empty()) return task_->done();
    const Cluster* cluster = task_->state().cluster(cluster_);
    if (cluster != nullptr && cluster->sync_mode == "Pull" && !abandoned(*cluster)) return task_->done();
    if (deleting(work_)) return take_back(cluster);
    if (cluster == nullptr) return task_->done();
    if (held && !applied(work_)) return reports_->append(task_, applied_work(key_, work_));
    const bool suspended = work_["spec"]["suspendDispatching"].as_bool();
    const Value& dispatching = condition_of(work_, "Dispatching");
    if (suspended != (dispatching["status"].as_string() == "False")) return note_dispatching(suspended);
    if (suspended || !cluster->ready()) return task_->done();  // a change of either triggers the Work
    if (doubtful(work_)) {
      const Millis pause = reverts_->pause(key_, cluster_, task_->now());
      if (pause.value > 0 && !reverts_limited(work_)) return note_limited(true);
      if (pause.value > 0) return task_->done(pause);
    } else if (reverts_limited(work_) && applied(work_)) {
      const Millis calm = reverts_->calm_in(key_, task_->now());
      return calm.value > 0 ? task_->done(calm) : note_limited(false);
    } else if (!wants_dispatch(work_)) {
      return task_->done();
    }
    apply_next();
  }

 private:
  /// Its agent does what is to be done for a Pull cluster, unless the cluster leaves without its agent (1.12.2).
  bool abandoned(const Cluster& pull) const { return deleting(work_) && pull.deleting && !pull.ready(); }

  // --- create and update -------------------------------------------------------------------------------------------

  void apply_next() {
    if (index_ == manifests_.size()) return report();
    manifest_ = manifests_[index_];
    conflicts_ = 0;
    const State& state = task_->state();
    served_ = served_kind(state, manifest_["apiVersion"].as_string(), manifest_["kind"].as_string());
    if (!served_) {
      return failed({ErrorCode::kNotFound,
                     "no kind " + manifest_["kind"].str() + " is served in version " + manifest_["apiVersion"].str()});
    }
    if (namespace_missing(state) || definition_missing(state)) return task_->done(Millis{1000});
    hash_ = to_string(siphash128(to_json(manifest_)));
    // Only there may anything sealed be: text that looks like it elsewhere was put there to be opened.
    auto opened = open_ && is_sealed(manifest_) ? open_(manifest_) : Result<Value>{manifest_};
    if (!opened) return failed(opened.error());
    desired_ = stamped(std::move(opened.value()), mark_.revision, hash_);
    // Nearly always the first write finds nothing: one request instead of two.
    condition_of(work_, "Applied").is_null() ? create() : look();
  }

  /// B-27: the namespace's own Work is not dispatched yet; its Applied condition triggers this one. A Work that the
  /// member refused is not waited for: a namespace that exists there already belongs to the member, but takes objects
  /// all the same, and where there is none the member's answer to this Work is the cause to report.
  bool namespace_missing(const State& state) const {
    const auto ns = manifest_["metadata"]["namespace"].as_string();
    if (ns.empty() || !condition_of(work_, "Applied").is_null()) return false;
    const Value& template_ns = state.value_of({type::kNamespace, "", std::string{ns}});
    if (template_ns.is_null() || deleting(template_ns) || !synced_namespace(state.options(), template_ns)) {
      return false;
    }
    const Value& work = state.value_of({type::kWork, key_.ns, work_name("Namespace", "", ns)});
    // There is none when it could not be rendered: then the member reports what is missing.
    if (work.is_null() && condition_of(template_ns, kWorksSyncedCondition)["status"].as_string() == "False")
      return false;
    return !applied(work) && condition_of(work, "Applied")["status"].as_string() != "False";
  }

  /// The definition of the manifest's kind is being applied to the same member, and has no answer yet (decision 0033).
  bool definition_missing(const State& state) const {
    if (served_->group.find('.') == std::string::npos || !condition_of(work_, "Applied").is_null()) return false;
    const Value& work =
        state.value_of({type::kWork, key_.ns, work_name("CustomResourceDefinition", "", served_->type())});
    return !work.is_null() && !deleting(work) && !work["spec"]["suspendDispatching"].as_bool() && !applied(work) &&
           condition_of(work, "Applied")["status"].as_string() != "False";
  }

  void create() {
    send("POST", served_->collection(manifest_ns()), desired_, [this](const MemberResponse& response) {
      if (good(response)) return next();
      if (response.status == 409) return look();
      failed(refused(response, manifest_));
    });
  }

  void look() {
    if (++conflicts_ > kConflictTries) return failed({ErrorCode::kConflict, "the object keeps changing on the member"});
    send("GET", path(), {}, [this](const MemberResponse& response) {
      if (response.status == 404) return create();
      if (!good(response)) return failed(refused(response, manifest_));
      update(response.body);
    });
  }

  void update(const Value& observed) {
    if (!may_update(observed, manifest_)) {
      const std::string ns = manifest_["metadata"]["namespace"].str();
      return failed({ErrorCode::kAlreadyExists,
                     "resource(kind=" + manifest_["kind"].str() + ", " + (ns.empty() ? "" : ns + "/") +
                         manifest_["metadata"]["name"].str() + ") already exists in the cluster " + cluster_ +
                         " and the work.karmada.io/conflict-resolution strategy value is empty, Karmada will not "
                         "manage this resource"});
    }
    if (!mark_.newest && written_later(observed, manifest_, mark_.revision)) return stale(observed);
    retain_and_write(observed, nullptr);
  }

  /// `answer`: the answer of an interpreter webhook on what to retain; nullptr before it is called.
  void retain_and_write(const Value& observed, const Value* answer) {
    auto kept = retained(task_->state(), desired_, observed, task_->now(), answer);
    if (!kept && kept.error().questions.size() == 1 && resolver_ != nullptr) {
      return resolver_->ask(task_->state(), kept.error().questions.front(), task_->trace(),
                            [self = shared_from_this(), observed](Result<Value> response) {
                              response ? self->retain_and_write(observed, &response.value())
                                       : self->failed(response.error());
                            });
    }
    if (!kept) return failed(kept.error().error());
    Value desired = std::move(kept).value();
    // A doubtful object is written in any case: the member's answer to that is what the collector starts from again.
    const bool complete = up_to_date(observed, desired);
    if (!doubtful(work_) && complete) return next();
    send("PUT", path(), std::move(desired), [this, observed, complete](const MemberResponse& response) {
      if (response.status == 422 && complete) return confirm(observed);
      answered(response);
    });
  }

  /// Others have added something that the member does not permit to take back. The collector starts from the object as
  /// it is, once it is marked as written now.
  void confirm(const Value& observed) {
    send("PUT", path(), stamped(observed, mark_.revision, hash_),
         [this](const MemberResponse& response) { answered(response); });
  }

  /// To an update.
  void answered(const MemberResponse& response) {
    if (good(response)) return next();
    if (response.status == 409 || response.status == 404) return look();
    failed(refused(response, manifest_));
  }

  void next() {
    if (doubtful(work_)) reverts_->restored(key_, task_->now());
    ++succeeded_;
    ++index_;
    apply_next();
  }

  void failed(const Error& error) {
    errors_ += (errors_.empty() ? "" : "; ") + error.message;
    ++index_;
    apply_next();
  }

  /// Condition Applied, if it differs now (E-5).
  void report() {
    const int64_t generation = work_["metadata"]["generation"].as_int();
    const Value& condition = condition_of(task_->state().value_of(key_), "Applied");
    if (errors_.empty()) {
      if (applied(task_->state().value_of(key_))) {
        if (!doubtful(work_)) return task_->done();
        // Changed again before the collector has observed it restored, nothing would trigger it.
        return task_->done(std::max(kLookAfterRestoring, reverts_->due_in(key_, task_->now())));
      }
      // A status that is there may stay as it is, and then the collector has nothing to report.
      const bool has_status = task_->state().value_of(key_)["status"]["manifestStatuses"].size() > 0;
      return has_status ? reports_->append(task_, applied_work(key_, work_))
                        : reports_->add(task_, applied_work(key_, work_));
    }
    const std::string message = "Failed to apply all manifests (" + std::to_string(succeeded_) + "/" +
                                std::to_string(manifests_.size()) + "): " + errors_;
    const Error error{ErrorCode::kUnavailable, to_string(key_) + ": " + message};
    if (condition["status"].as_string() == "False" && condition["message"].as_string() == message &&
        condition["observedGeneration"].as_int() == generation) {
      return task_->retry(error);
    }
    Decision seen{{WorkApplyFailed{key_, generation, "AppliedFailed", message, errors_}}, {}};
    task_->append_observation(std::move(seen), [task = task_, error](Result<Revision>) { task->retry(error); });
  }

  // --- delete ------------------------------------------------------------------------------------------------------

  void take_back(const Cluster* cluster) {
    if (!has_finalizer(work_, finalizer::kWork)) return task_->done();
    if (cluster == nullptr || (cluster->deleting && !cluster->ready())) return release();  // E-17
    if (!cluster->ready()) return task_->done();
    delete_next();
  }

  void delete_next() {
    if (index_ == manifests_.size()) return release();
    manifest_ = manifests_[index_++];
    conflicts_ = 0;
    served_ = served_kind(task_->state(), manifest_["apiVersion"].as_string(), manifest_["kind"].as_string());
    // A definition can be deleted here and still exist in the member, with the objects that were dispatched.
    if (!served_) served_ = served_by(task_->state().value_of({type::kCluster, "", cluster_}), manifest_);
    if (!served_) return delete_next();
    look_before_deleting();
  }

  void look_before_deleting() {
    if (++conflicts_ > kConflictTries) {
      return give_up({ErrorCode::kConflict, "the member answers that the object does not exist, and still returns it"});
    }
    send("GET", path(), {}, [this](const MemberResponse& response) {
      if (absent(response)) return delete_next();
      if (!good(response)) return give_up(refused(response, manifest_));
      take_away(response.body);
    });
  }

  bool absent(const MemberResponse& response) const {
    return states_absence(response, task_->state().value_of({type::kCluster, "", cluster_}), manifest_);
  }

  void take_away(const Value& observed) {
    if (label_of(observed, label::kManaged) != "true") return delete_next();  // E-18: not ours
    if (!mark_.newest && written_later(observed, manifest_, mark_.revision)) return stale(observed);
    if (work_["spec"]["preserveResourcesOnDeletion"].as_bool()) {
      return send("PUT", path(), preserved(observed), [this](const MemberResponse& response) {
        // Gone meanwhile: nothing is left to preserve. (Upstream never finishes then.)
        if (good(response) || absent(response)) return delete_next();
        give_up(refused(response, manifest_));
      });
    }
    Value options = Value::object({{"kind", "DeleteOptions"},
                                   {"apiVersion", "v1"},
                                   {"propagationPolicy", "Background"},
                                   {"preconditions", Value::object({{"uid", observed["metadata"]["uid"]}})}});
    send("DELETE", path(), std::move(options), [this](const MemberResponse& response) {
      if (good(response)) return delete_next();
      // Servers exist that return this when something else vanished, and keep the object.
      if (response.status == 404) return look_before_deleting();
      give_up(refused(response, manifest_));
    });
  }

  void release() {
    Value without = work_;
    Value::Array& finalizers = without.edit("metadata").edit("finalizers").edit_items();
    std::erase_if(finalizers, [](const Value& entry) { return entry.as_string() == finalizer::kWork; });
    if (finalizers.empty()) return observe({WorkRemoved{key_}});
    observe({ObjectUpdated{key_, std::move(without)}});
  }

  // --- shared ------------------------------------------------------------------------------------------------------

  std::string manifest_ns() const { return manifest_["metadata"]["namespace"].str(); }
  std::string path() const { return served_->path(manifest_ns(), manifest_["metadata"]["name"].as_string()); }

  template <class Then>
  void send(const char* method, std::string request_path, Value body, Then then) {
    // An answer can take long: what was deleted or left to the member meanwhile, maybe by another process, stays so.
    const Value& now = task_->state().value_of(key_);
    if (now.is_null() || deleting(now) != deleting(work_)) return task_->done();
    MemberRequest request;
    request.method = method;
    request.path = std::move(request_path);
    request.body = std::move(body);
    request.trace = task_->trace();
    // Of a write only a refusal is read; what the object has become, the collector sees.
    request.only_errors = request.method != "GET";
    members_.request(cluster_, std::move(request),
                     [self = shared_from_this(), then, method](Result<MemberResponse> response) {
                       self->count(method, response);
                       if (response) return then(response.value());
                       deleting(self->work_) ? self->give_up(response.error()) : self->failed(response.error());
                     });
  }

  /// Not what is tried again in this step: an object that exists already, or that has changed since it was read.
  void count(const char* method, const Result<MemberResponse>& response) const {
    const int status = response ? response.value().status : 0;
    if (status == 409) return;
    const bool gone = status == 404 && deleting(work_);
    const bool recreated = !condition_of(work_, "Applied").is_null();
    count_write(method, manifest_, cluster_, gone || (status >= 200 && status < 300), recreated);
  }

  void give_up(const Error& error) { task_->retry(error.context(to_string(key_))); }

  /// Another writer has already acted upon a newer revision than the one this step began with.
  void stale(const Value& observed) {
    task_->retry({ErrorCode::kConflict, to_string(key_) + ": the member's object was written from revision " +
                                            std::string{annotation_of(observed, annotation::kRevision)} +
                                            ", this step began at " + std::to_string(mark_.revision.value)});
  }

  /// E-3. A Work begins with the condition (decide.cc); here it flips.
  void note_dispatching(bool suspended) {
    Value noted = work_;
    Value& status = noted.edit("status");
    remove_condition(status, "Dispatching");
    status.edit("conditions").push_back(dispatching_condition(suspended, task_->now()));
    Decision seen{{StatusUpdated{key_, std::move(noted)}}, {{key_, revision_}}};
    task_->append_observation(std::move(seen), [task = task_](Result<Revision> appended) {
      appended ? task->done(Millis{1}) : task->retry(appended.error());
    });
  }

  void note_limited(bool limited) {
    Value noted = work_;
    set_condition(noted, kRevertsLimited, limited ? "True" : "False", limited ? "ChangedRepeatedly" : "LeftAlone",
                  limited ? "the object is changed or deleted in cluster " + cluster_ +
                                " by others again and again; it is restored after growing pauses of up to " +
                                std::to_string(Reverts::kLongestPause.value / 60'000) + " minutes while that lasts"
                          : "the object has been left alone in cluster " + cluster_ + " for " +
                                std::to_string(Reverts::kCalm.value / 60'000) + " minutes",
                  task_->now());
    Decision seen{{StatusUpdated{key_, std::move(noted)}}, {{key_, revision_}}};
    task_->append_observation(std::move(seen), [task = task_](Result<Revision> appended) {
      appended ? task->done(Millis{1}) : task->retry(appended.error());
    });
  }

  void observe(std::vector<Event> events) {
    // Refused as outdated: the change that made it so has triggered the key, and retry() runs it again at once.
    task_->append_observation({std::move(events), {}}, [task = task_](Result<Revision> appended) {
      appended ? task->done() : task->retry(appended.error());
    });
  }

  const TaskPtr task_;
  Members& members_;
  const Open open_;  // a copy: an answer may arrive when the role is destroyed
  const WorkReportsPtr reports_;
  const RevertsPtr reverts_;
  QuestionResolver* const resolver_;
  const ObjectKey key_;
  const std::string cluster_;
  const Value work_;         // as this step found it
  const Revision revision_;  // of it
  const WorkRevision mark_;
  const Value manifests_;
  size_t index_ = 0;
  size_t succeeded_ = 0;
  int conflicts_ = 0;
  std::string errors_;
  // Of the manifest at hand:
  Value manifest_;
  Value desired_;
  std::string hash_;
  std::optional<Served> served_;
};

}  // namespace

bool doubtful(const Value& work) {
  const Value* statuses = work["status"].find("manifestStatuses");
  if (statuses == nullptr || !applied(work)) return false;
  return statuses->size() == 0 || std::ranges::any_of(statuses->items(), [](const Value& status) {
           return status["health"].as_string() == "Unknown";
         });
}

bool wants_dispatch(const Value& work) { return deleting(work) || !applied(work) || doubtful(work); }

void apply_work(const TaskPtr& task, Members& members, const Open& open, const WorkReportsPtr& reports,
                const RevertsPtr& reverts, QuestionResolver* resolver, const RevisionOf& revision_of) {
  std::make_shared<WorkDispatch>(task, members, open, reports, reverts, resolver, revision_of)->start();
}

}  // namespace shiplog::dispatcher
