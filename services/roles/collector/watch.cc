#include "services/roles/collector/watch.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "events/base/json.h"
#include "events/state/failover_record.h"
#include "events/state/work.h"
#include "services/interpreter/interpreter.h"
#include "services/roles/applied_work.h"
#include "services/roles/collector/manifest_status.h"
#include "services/roles/exported_slices.h"
#include "services/runtime/log.h"

namespace shiplog::collector {

using interpreter::InterpreterOperation;

namespace {

constexpr Millis kFlushEvery{20};
constexpr size_t kMostAtOnce = 128;
/// Of what is reported of one Work; a binding holds that of all its members.
constexpr size_t kMostStatus = size_t{512} << 10U;
/// What one member may make the journal grow by through its objects' statuses; later ones wait and replace each other.
constexpr double kStatusBurst = 32.0 * 1024 * 1024;
constexpr double kStatusPerSecond = 1024.0 * 1024;

std::string_view binding_id(const Value& object) {
  const auto id = label_of(object, label::kBindingId);
  return id.empty() ? label_of(object, label::kClusterBindingId) : id;
}

/// The object is the one that the manifest describes.
bool is_of(const Value& object, const Value& manifest) {
  const Value& metadata = object["metadata"];
  return manifest["kind"] == object["kind"] && manifest["metadata"]["name"] == metadata["name"] &&
         manifest["metadata"]["namespace"].as_string() == metadata["namespace"].as_string();
}

}  // namespace

void MemberWatches::want(const State& state, const ObjectKey& work, const Value& value, std::vector<ObjectKey>& wake) {
  const std::string cluster = cluster_of_space(work.ns);
  if (cluster.empty() || only_kept(value)) return;
  const Cluster* known = state.cluster(cluster);
  const bool pull = known != nullptr && known->sync_mode == "Pull";
  for (const Value& manifest : manifests_of(value).items()) {
    const auto served = served_kind(state, manifest["apiVersion"].as_string(), manifest["kind"].as_string());
    if (!served) continue;
    const ObjectKey key{served->type(), kWatch, cluster};
    auto& wanted = slot_of_cluster(cluster).wanted;
    if (wanted.empty()) wake.push_back(flush_key(slot_of(cluster)));
    const auto [at, first] = wanted.try_emplace(key, Wanted{*served});
    if (first || (!at->second.begun && !pull)) wake.push_back(key);
  }
}

std::optional<int> MemberWatches::slot_of_key(const ObjectKey& key) {
  if (is_watch(key)) return slot_of(key.name);
  if (!is_flush(key)) return std::nullopt;
  int slot = 0;
  const std::string_view name = key.name;
  std::from_chars(name.data(), name.data() + name.size(), slot);
  return slot;
}

void MemberWatches::wake_cluster(const std::string& cluster, std::vector<ObjectKey>& wake) {
  for (const auto& [key, served] : slot_of_cluster(cluster).wanted) {
    if (key.name == cluster) wake.push_back(key);
  }
}

void MemberWatches::list_again(const std::string& type, std::vector<ObjectKey>& wake) {
  for (const Slot& slot : slots_) {
    for (const auto& [key, served] : slot.wanted) {
      if (key.type != type) continue;
      if (const auto watch = watches_.find(key); watch != watches_.end()) watch->second->ended = true;
      wake.push_back(key);
    }
  }
}

void MemberWatches::forget_cluster(const std::string& cluster) {
  std::erase_if(slot_of_cluster(cluster).wanted, [&](const auto& item) { return item.first.name == cluster; });
  std::erase_if(watches_, [&](const auto& item) { return item.first.name == cluster; });
  status_budgets_.erase(cluster);
}

void MemberWatches::forget_work(const ObjectKey& work) {
  slot_of_work(work).pending.erase(work);
  generations_.erase(work);
  slot_of_work(work).look_again.erase(work);
  slot_of_work(work).unlisted.erase(work);
  seen_.erase(work);
  const auto forget_in = [&](auto& places) {
    places.erase(places.lower_bound({work, 0}), places.upper_bound({work, SIZE_MAX}));
  };
  forget_in(asking_);
  forget_in(returning_);
}

void MemberWatches::forget_slot(int number) {
  slot(number) = {};  // what still arrives goes nowhere
  const auto of_work = [&](const ObjectKey& work) { return slot_of(cluster_of_space(work.ns)) == number; };
  std::erase_if(watches_, [&](const auto& item) { return slot_of(item.first.name) == number; });
  std::erase_if(generations_, [&](const auto& item) { return of_work(item.first); });
  std::erase_if(seen_, [&](const auto& item) { return of_work(item.first); });
  std::erase_if(asking_, [&](const auto& item) { return of_work(item.first.first); });
  std::erase_if(returning_, [&](const auto& item) { return of_work(item.first.first); });
  std::erase_if(status_budgets_, [&](const auto& item) { return slot_of(item.first) == number; });
}

void MemberWatches::follow_evictions(const State& state, const ObjectKey& binding, const Value& value, bool removed) {
  const std::string id{binding_id(value)};
  if (id.empty()) return;
  // A hand-over that waits for its old copy outlives the task.
  const bool waited_for =
      value["spec"]["gracefulEvictionTasks"].size() > 0 || failover_record_of(state, binding)["handovers"].size() > 0;
  if (removed || !waited_for || state.fold_version() < 4) {
    evicting_.erase(id);
    return;
  }
  evicting_.insert(id);
  const char* id_label = binding.type == type::kResourceBinding ? label::kBindingId : label::kClusterBindingId;
  for (const ObjectKey& labelled : state.labelled(id_label, id)) {
    if (labelled.type != type::kWork) continue;
    slot_of_work(labelled).look_again.insert(labelled);
    slot_of_work(labelled).inbox->rouse();
  }
}

void MemberWatches::look_again(const ObjectKey& work, const Value& value) {
  Slot& own = slot_of_work(work);
  const int64_t generation = value["metadata"]["generation"].as_int();
  if (applied(value)) {
    Seen& seen = seen_[work];
    if (seen.applied_generation != generation) {
      seen.applied_generation = generation;
      seen.applied_moment = ++moments_;
    }
  }
  if (evicting(value)) own.look_again.insert(work);
  doubt_unlisted(work, value);
  if (applied(value) && value["status"]["manifestStatuses"].size() < manifests_of(value).size()) {
    own.just_applied.push_back(work);
  }
  if (!own.look_again.empty() || !own.just_applied.empty()) own.inbox->rouse();
}

bool MemberWatches::evicting(const Value& work) const {
  return in_member_ || (!evicting_.empty() && evicting_.contains(std::string{binding_id(work)}));
}

/// The newest observed version of every object is of the manifest that the Work has now, and has been reported.
bool MemberWatches::seen_as_rendered(const ObjectKey& work, const Value& value) const {
  const Value& manifests = manifests_of(value);
  for (size_t ordinal = 0; ordinal < manifests.size(); ++ordinal) {
    const Baseline* known = baseline_of(work, ordinal);
    if (known == nullptr || known->manifest != manifests[ordinal]) return false;
    if (asking_.contains({work, ordinal})) return false;
  }
  return manifests.size() > 0;
}

/// Every object is there as it was written from the present revision of the Work: the Work is applied, whether or not
/// the dispatcher has reported it yet.
bool MemberWatches::seen_as_written(const State& state, const ObjectKey& work, const Value& value) const {
  const size_t manifests = manifests_of(value).size();
  const Value revision{std::to_string(state.revision_of(work).value)};
  for (size_t ordinal = 0; ordinal < manifests; ++ordinal) {
    const Baseline* known = baseline_of(work, ordinal);
    if (known == nullptr || known->altered || known->revision != revision) return false;
  }
  return manifests > 0;
}

void MemberWatches::name_generations(const State& state, int number) {
  for (const ObjectKey& work : std::exchange(slot(number).look_again, {})) {
    const Value& value = state.value_of(work);
    if (value.is_null() || deleting(value) || !evicting(value) || !seen_as_rendered(work, value)) continue;
    const int64_t generation = value["metadata"]["generation"].as_int();
    if (condition_of(value, kStatusCollectedCondition)["observedGeneration"].as_int() == generation) continue;
    Value statuses = statuses_of(state, work);
    slot(number).pending[work] = std::move(statuses);
    generations_[work] = generation;
  }
}

void MemberWatches::flush(const TaskPtr& task) {
  const int number = *slot_of_key(task->key());
  Slot& own = slot(number);
  if (own.wanted.empty()) return task->done();
  own.inbox->wake = nullptr;  // what arrives from here on is seen before it rests
  const State& state = task->state();
  // All of it: an object that is deleted and created again within one inbox has not vanished.
  std::deque<Arrived> waiting;
  std::deque<Arrived>& arrived = own.inbox->arrived;
  for (; !arrived.empty(); arrived.pop_front()) {
    if (too_early(state, arrived.front(), task->now())) {
      waiting.push_back(std::move(arrived.front()));
    } else {
      take_in(state, arrived.front(), task->now());
    }
  }
  arrived = std::move(waiting);
  std::deque<Answered>& answered = own.inbox->answered;
  for (; !answered.empty(); answered.pop_front()) take_in_answer(state, answered.front(), task->now());
  ask_due(state, number, task->now());
  doubt_unreported(state, number, task->now());
  name_generations(state, number);
  DecisionBuilder seen{2 * kMostAtOnce};
  size_t works = 0;
  for (auto entry = own.pending.begin(); entry != own.pending.end() && works < kMostAtOnce;) {
    const Value& work = state.value_of(entry->first);
    const auto named = generations_.find(entry->first);
    const int64_t generation = named == generations_.end() ? 0 : named->second;
    const bool unchanged = work["status"]["manifestStatuses"] == entry->second &&
                           (generation == 0 || generation != work["metadata"]["generation"].as_int() ||
                            condition_of(work, kStatusCollectedCondition)["observedGeneration"].as_int() == generation);
    if (work.is_null() || deleting(work) || unchanged) {
      if (named != generations_.end()) generations_.erase(named);
      entry = own.pending.erase(entry);
      continue;
    }
    const size_t size = to_json(entry->second).size();
    if (size > kMostStatus) {
      log::warn("collector.status_too_large",
                {log::kv("work", to_string(entry->first)), log::kv("bytes", static_cast<int64_t>(size))});
      entry = own.pending.erase(entry);
      continue;
    }
    auto& budget =
        status_budgets_.try_emplace(cluster_of_space(entry->first.ns), kStatusBurst, kStatusPerSecond).first->second;
    if (budget.take(static_cast<double>(size), task->now())) {
      const bool also_applied = !in_member_ && !applied(work) && seen_as_written(state, entry->first, work);
      // What does not fit is for the next turn.
      if (also_applied && !seen.try_add(applied_work(entry->first, work))) break;
      if (!seen.try_add(WorkStatusObserved{entry->first, entry->second, generation})) break;
      ++works;
    }
    ++entry;
  }
  if (seen.empty()) return rest(task);
  // What is folded is dropped from `pending` by the next turn. A refusal means that a Work was just removed: the next
  // turn sees that too.
  task->append_observation(std::get<Decision>(std::move(seen).build()),
                           [task](Result<Revision> appended) { task->done(appended ? Millis{1} : kFlushEvery); });
}

/// Until something arrives, or a time has come. Nothing is left to be done at once then.
void MemberWatches::rest(const TaskPtr& task) {
  const int number = *slot_of_key(task->key());
  const Slot& own = slot(number);
  const Inbox& inbox = *own.inbox;
  if (!inbox.arrived.empty() || !inbox.answered.empty() || !own.pending.empty() || !own.look_again.empty() ||
      !own.just_applied.empty()) {
    return task->done(kFlushEvery);
  }
  std::optional<UtcMillis> next;
  const auto look_at = [&](UtcMillis time) { next = next ? std::min(*next, time) : time; };
  if (!own.unreported.empty()) look_at(own.unreported.front().first + kSettled);
  for (const auto& [place, asking] : asking_) {
    if (slot_of(cluster_of_space(place.first.ns)) != number) continue;
    if (!asking.under_way && !asking.object.is_null()) look_at(asking.not_before);
  }
  own.inbox->wake = task->waker(kFlushEvery);
  if (!next) return task->done();
  task->done(std::max(*next - task->now(), kFlushEvery));
}

/// Written for a revision that this replica has not folded yet: another process dispatches, and the member was faster
/// than the journal. Judged by what is known here it would be lost. Not for ever, as a number may be of another fleet.
bool MemberWatches::too_early(const State& state, Arrived& arrived, UtcMillis now) const {
  if (in_member_ || arrived.what == Arrived::What::kListed) return false;
  if (cluster_of_space(annotation_of(arrived.object, annotation::kWorkNamespace)) != arrived.cluster) return false;
  const auto text = annotation_of(arrived.object, annotation::kRevision);
  uint64_t revision = 0;
  std::from_chars(text.data(), text.data() + text.size(), revision);
  if (revision <= state.revision().value) return false;
  if (arrived.since == UtcMillis{}) arrived.since = now;
  return now - arrived.since < kLongestLag;
}

/// The Work that the object names, or, as others may have taken that off or changed it, the one that has the name of a
/// Work of such an object (N-4).
ObjectKey MemberWatches::work_of(const State& state, const Arrived& arrived) {
  const Value& object = arrived.object;
  ObjectKey named{type::kWork, std::string{annotation_of(object, annotation::kWorkNamespace)},
                  std::string{annotation_of(object, annotation::kWorkName)}};
  if (cluster_of_space(named.ns) == arrived.cluster &&
      std::ranges::any_of(manifests_of(state.value_of(named)).items(),
                          [&](const Value& manifest) { return is_of(object, manifest); })) {
    return named;
  }
  const Value& metadata = object["metadata"];
  return {type::kWork, execution_space(arrived.cluster),
          work_name(object["kind"].as_string(), metadata["namespace"].as_string(), metadata["name"].as_string())};
}

void MemberWatches::take_in(const State& state, const Arrived& arrived, UtcMillis now) {
  if (arrived.what == Arrived::What::kListed) return take_in_list(state, arrived, now);
  const ObjectKey work = work_of(state, arrived);
  const Value& value = state.value_of(work);
  if (value.is_null() || deleting(value)) return;
  const Value& manifests = manifests_of(value);
  for (size_t ordinal = 0; ordinal < manifests.size(); ++ordinal) {
    const Value& manifest = manifests[ordinal];
    if (!is_of(arrived.object, manifest)) continue;
    if (arrived.what == Arrived::What::kGone) {
      const auto seen = seen_.find(work);
      if (seen != seen_.end() && ordinal < seen->second.baselines.size()) seen->second.baselines[ordinal] = {};
      asking_.erase({work, ordinal});
      gone(state, work, manifest);
      if (!applied(value)) doubt(arrived.type, work);
    } else {
      const auto watch = watches_.find({arrived.type, kWatch, arrived.cluster});
      if (watch != watches_.end() && manifests.size() == 1) watch->second->doubtful.erase(work);
      auto& unlisted = slot_of_work(work).unlisted;
      if (const auto found = unlisted.find(work); found != unlisted.end()) found->second.erase(arrived.type);
      present(state, work, ordinal, arrived, now);
    }
  }
}

const Value& MemberWatches::statuses_of(const State& state, const ObjectKey& work) const {
  const auto& all_pending = slots_[static_cast<size_t>(slot_of(cluster_of_space(work.ns)))].pending;
  const auto pending = all_pending.find(work);
  return pending != all_pending.end() ? pending->second : state.value_of(work)["status"]["manifestStatuses"];
}

const MemberWatches::Baseline* MemberWatches::baseline_of(const ObjectKey& work, size_t ordinal) const {
  const auto seen = seen_.find(work);
  if (seen == seen_.end() || ordinal >= seen->second.baselines.size()) return nullptr;
  const Baseline& known = seen->second.baselines[ordinal];
  return known.manifest.is_null() ? nullptr : &known;
}

void MemberWatches::present(const State& state, const ObjectKey& work, size_t ordinal, const Arrived& arrived,
                            UtcMillis now) {
  const Value& object = arrived.object;
  const auto status = interpreter::reflect_status(state, object, now);
  const auto healthy = interpreter::health(state, object, now);
  if ((!status && !status.error().questions.empty()) || (!healthy && !healthy.error().questions.empty())) {
    Asking& asking = asking_[{work, ordinal}];
    asking.object = object;
    asking.altered = altered(state, work, ordinal, arrived, now);
    return ask_due(state, slot_of(cluster_of_space(work.ns)), now);
  }
  asking_.erase({work, ordinal});  // there was a webhook
  if (!status)
    return report_unread(work, InterpreterOperation::kStatus, object,
                         status.error().error());  // T-3: it stays as it was
  if (!healthy) report_unread(work, InterpreterOperation::kHealth, object, healthy.error().error());
  const std::string health = altered(state, work, ordinal, arrived, now) ? "Unknown" : health_of(healthy);
  report(state, {work, ordinal}, status.value(), health);
}

void MemberWatches::report(const State& state, const ManifestRef& place, const Value& status,
                           const std::string& health) {
  const auto& [work, ordinal] = place;
  const Value& manifest = manifests_of(state.value_of(work))[ordinal];
  Value entry = manifest_status(static_cast<int64_t>(ordinal), manifest, status, health);
  Value statuses = statuses_of(state, work);
  Value::Array& entries = statuses.edit_items();
  std::erase_if(entries, [&](const Value& other) { return is_about(other, manifest); });
  entries.push_back(std::move(entry));
  std::ranges::sort(entries, {}, [](const Value& other) { return other["identifier"]["ordinal"].as_int(); });
  slot_of_work(work).pending[work] = std::move(statuses);
  look_again(work, state.value_of(work));
}

void MemberWatches::gone(const State& state, const ObjectKey& work, const Value& manifest) {
  Value statuses = statuses_of(state, work);
  std::erase_if(statuses.edit_items(), [&](const Value& entry) { return is_about(entry, manifest); });
  slot_of_work(work).pending[work] = std::move(statuses);
}

}  // namespace shiplog::collector
