#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "events/base/hash.h"
#include "events/base/ids.h"
#include "events/slots.h"
#include "events/state/served_kind.h"
#include "events/state/work.h"
#include "services/adapters/members/members.h"
#include "services/interpreter/customizations.h"
#include "services/interpreter/interpreted.h"
#include "services/runtime/question_resolver.h"
#include "services/runtime/role.h"
#include "services/runtime/token_bucket.h"

namespace shiplog::collector {

/// Follows the members' objects that Works have made, and reports what becomes of them as WorkStatusObserved:
///   changed    the reflected status and health (T-2 to T-4);
///   vanished   no entry any more; the dispatcher then makes the object anew;
///   altered    health "Unknown": it is no longer what was written (E-15); the dispatcher then writes it again.
/// With the first report of a Work it says that the Work is applied (WorkApplied), if that is seen and not reported
/// yet.
///
/// One watch for each cluster and type, on the label karmada.io/managed; each begins with a list. What arrives waits in
/// an inbox until the flush key's next turn, which reports for many Works in one entry. The key of a watch rests while
/// it runs, but for a look now and then whether it is still alive.
/// Members of different slots have nothing in common: each slot has an inbox and a flush key of its own. The key rests
/// while there is nothing to report; the first of what arrives then wakes it, a moment later.
/// Everything here is memory of this process and is rebuilt by listing. Threads: the fold thread.
class MemberWatches {
 public:
  /// Called with what could not be interpreted of an object, its status or its health; the error has upstream's words
  /// (T-3, T-4).
  using Unread =
      std::function<void(const ObjectKey& work, interpreter::InterpreterOperation operation, const Error& error)>;
  /// `in_member`: see CollectorSettings.
  MemberWatches(Members& members, QuestionResolver* resolver, Unread unread, bool in_member = false)
      : members_{members}, resolver_{resolver}, unread_{std::move(unread)}, in_member_{in_member} {}

  static bool is_watch(const ObjectKey& key) { return key.ns == kWatch; }
  static bool is_flush(const ObjectKey& key) { return key.ns == kFlush; }
  static ObjectKey flush_key(int slot) { return {type::kWork, kFlush, std::to_string(slot)}; }
  /// The slot of a watch or flush key; nullopt: it is another one.
  static std::optional<int> slot_of_key(const ObjectKey& key);

  /// The watches a Work needs that have not begun yet, and the flush key with the first of them. After a start they
  /// wait among many others: a change of a Work brings them forward.
  void want(const State& state, const ObjectKey& work, const Value& value, std::vector<ObjectKey>& wake);
  /// The watches of a cluster that became ready.
  void wake_cluster(const std::string& cluster, std::vector<ObjectKey>& wake);
  /// Evaluates every object of a type again: the rules that interpret them have changed.
  void list_again(const std::string& type, std::vector<ObjectKey>& wake);
  void forget_cluster(const std::string& cluster);
  void forget_work(const ObjectKey& work);
  /// While the binding is being evicted from a cluster, reports of its Works name the generation that they are of, as
  /// soon as all of a Work's objects have been observed with the manifests of that generation.
  void follow_evictions(const State& state, const ObjectKey& binding, const Value& value, bool removed = false);
  /// A Work has changed: what is reported of it may have to name its generation now.
  void look_again(const ObjectKey& work, const Value& value);
  /// Ends the watches of the slot's members, and drops what was observed of them.
  void forget_slot(int slot);

  /// Lists and watches, or sees that the watch still runs.
  void reconcile_watch(const TaskPtr& task);
  /// Reports what the inbox holds.
  void flush(const TaskPtr& task);

 private:
  static constexpr const char* kWatch = "@watch";
  static constexpr const char* kFlush = "@flush";
  /// So long after Applied an object must have been observed; before that its first event may not have arrived yet.
  static constexpr Millis kSettled{5000};
  /// How far this replica may be behind the one that dispatches.
  static constexpr Millis kLongestLag{60'000};

  struct Watch {
    std::unique_ptr<MemberWatch> stream;
    std::function<void()> wake;  // triggers its key, a moment later
    bool ended = false;
    bool heard = false;  // something since the last look, if only a bookmark
    UtcMillis since, heard_at;
    // Works with an object that its list missed: it may not have been sent yet, or may have vanished before.
    std::set<ObjectKey> doubtful = {};
  };
  struct Arrived {
    std::string cluster, type;
    enum class What { kPresent, kGone, kListed } what;
    Value object;                                          // kPresent, kGone
    std::set<std::pair<std::string, std::string>> listed;  // kListed: namespace and name of all there are
    UtcMillis since = {};                                  // first processed; set for what had to wait
    uint64_t asked = 0;                                    // of a list's objects: the moment of its request
  };
  /// What the member's own controllers and server do not touch between two writes of ours.
  struct Content {
    int64_t generation = 0;
    Hash128 metadata;
    Hash128 rest;
    bool operator==(const Content& other) const { return metadata == other.metadata && rest == other.rest; }
  };
  /// What an object was when it was last written by the dispatcher, to detect later changes by others.
  struct Baseline {
    Value revision;
    Content content;  // as it was seen last
    Hash128 written;  // content.rest of what was written
    bool altered = false;
    bool literal = false;  // the member spells it as the manifest does
    Value manifest;        // of the Work then, and its hash: every report of the object needs it. Null: not seen
    Hash128 manifest_hash;
  };
  /// What others have added to an object last, and how often it has come back.
  struct Returning {
    Hash128 added;  // the rest, with it
    int times = 0;
    UtcMillis last = {};
  };
  struct Listing;
  using ManifestRef = std::pair<ObjectKey, size_t>;  // a Work, and which of its manifests
  /// An object that interpreter webhooks have to be called for: one call at a time, and only about its newest version.
  struct Asking {
    Value object;          // of the next call; null: none
    bool altered = false;  // that one
    bool under_way = false;
    UtcMillis not_before = {};
    int failures = 0;
    uint64_t number = 0;  // of the request: answers to an earlier one are ignored
  };
  struct Answered {
    ManifestRef place;
    uint64_t number = 0;
    Value object;
    bool altered = false;
    interpreter::Interpreted<Value> status;
    interpreter::Interpreted<std::optional<bool>> health;
  };

  void list(const TaskPtr& task, std::shared_ptr<Listing> listing);
  void begin(const TaskPtr& task, const std::shared_ptr<Listing>& listing);
  bool too_early(const State& state, Arrived& arrived, UtcMillis now) const;
  static ObjectKey work_of(const State& state, const Arrived& arrived);
  void take_in(const State& state, const Arrived& arrived, UtcMillis now);
  void take_in_list(const State& state, const Arrived& arrived, UtcMillis now);
  void doubt(const std::string& type, const ObjectKey& work);
  bool in_doubt(const State& state, Watch& watch) const;
  void doubt_unlisted(const ObjectKey& work, const Value& value);
  void doubt_unreported(const State& state, int slot, UtcMillis now);
  void present(const State& state, const ObjectKey& work, size_t ordinal, const Arrived& arrived, UtcMillis now);
  void report(const State& state, const ManifestRef& place, const Value& status, const std::string& health);
  void ask_due(const State& state, int slot, UtcMillis now);
  void ask(const State& state, const ManifestRef& place, Asking& asking, UtcMillis now);
  void take_in_answer(const State& state, const Answered& answered, UtcMillis now);
  void report_unread(const ObjectKey& work, interpreter::InterpreterOperation operation, const Value& object,
                     const Error& error) const;
  static std::string health_of(const interpreter::Interpreted<std::optional<bool>>& healthy);
  static const Value& manifests_of(const Value& work) { return work["spec"]["workload"]["manifests"]; }
  void gone(const State& state, const ObjectKey& work, const Value& manifest);
  bool altered(const State& state, const ObjectKey& work, size_t ordinal, const Arrived& arrived, UtcMillis now);
  bool keeps_returning(const ManifestRef& place, const Hash128& added, UtcMillis now);
  bool asked_before_applied(const ObjectKey& work, const Arrived& arrived) const;
  const Value& statuses_of(const State& state, const ObjectKey& work) const;
  /// nullptr: the object has not been seen.
  const Baseline* baseline_of(const ObjectKey& work, size_t ordinal) const;
  bool evicting(const Value& work) const;
  bool seen_as_rendered(const ObjectKey& work, const Value& value) const;
  bool seen_as_written(const State& state, const ObjectKey& work, const Value& value) const;
  void name_generations(const State& state, int slot);
  void rest(const TaskPtr& task);
  /// What has come from outside since the last flush. Callbacks hold it weakly: it ends when the slot is lost.
  struct Inbox {
    std::deque<Arrived> arrived;
    std::deque<Answered> answered;
    std::function<void()> wake;  // while the flush key rests

    void put(Arrived one) {
      arrived.push_back(std::move(one));
      rouse();
    }
    void put(Answered one) {
      answered.push_back(std::move(one));
      rouse();
    }
    void rouse() {
      if (const auto run = std::exchange(wake, nullptr)) run();
    }
  };
  struct Wanted {
    Served served;
    bool begun = false;  // its first list
  };
  /// Of the members of one slot.
  struct Slot {
    std::map<ObjectKey, Wanted> wanted;  // by the key of the watch
    std::shared_ptr<Inbox> inbox = std::make_shared<Inbox>();
    std::map<ObjectKey, Value> pending;   // manifestStatuses to be reported, by Work
    std::set<ObjectKey> look_again;       // Works of bindings with evictions, to be processed by the next flush
    std::vector<ObjectKey> just_applied;  // Works with objects that are not reported yet
    std::deque<std::pair<UtcMillis, ObjectKey>> unreported;  // the same, since when
    std::map<ObjectKey, std::set<std::string>>
        unlisted;  // Works not applied yet; of which types the list had no object
  };
  Slot& slot(int number) { return slots_[static_cast<size_t>(number)]; }
  Slot& slot_of_cluster(std::string_view cluster) { return slot(slot_of(cluster)); }
  Slot& slot_of_work(const ObjectKey& work) { return slot_of_cluster(cluster_of_space(work.ns)); }

  Members& members_;
  QuestionResolver* const resolver_;
  const Unread unread_;
  const bool in_member_;
  std::array<Slot, kSlots> slots_;
  std::map<ObjectKey, std::shared_ptr<Watch>> watches_;
  std::unordered_map<ObjectKey, int64_t> generations_;  // that the pending reports are known to be of, by Work
  std::set<std::string> evicting_;                      // permanent ids of the bindings with evictions
  /// What is known of a Work from its member.
  struct Seen {
    // When the Work was seen to be applied first, for a generation. 0: it was not.
    int64_t applied_generation = 0;
    uint64_t applied_moment = 0;
    std::vector<Baseline> baselines;  // by the number of the manifest; ends with the last one that was seen
  };
  uint64_t moments_ = 0;                      // counts what is put in an order by it
  std::unordered_map<ObjectKey, Seen> seen_;  // by Work
  std::map<ManifestRef, Asking> asking_;
  std::map<ManifestRef, Returning> returning_;  // of the few objects that others have added something to
  uint64_t askings_ = 0;
  std::map<std::string, TokenBucket> status_budgets_;  // by cluster, in bytes
};

}  // namespace shiplog::collector
