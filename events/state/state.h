#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "events/base/hash.h"
#include "events/base/ids.h"
#include "events/base/newest_ids.h"
#include "events/base/time.h"
#include "events/state/leases.h"
#include "events/state/object.h"
#include "events/state/object_store.h"
#include "events/state/settled_offsets.h"
#include "events/state/views.h"

namespace shiplog {

/// The part of a state that is not objects, nor the windows of entry ids and requests: with these it can be restored.
struct StateMeta {
  Revision revision;
  UtcMillis time;  ///< of the last folded entry
  uint32_t fold_version = 1;
  Leases leases;
  SettledPartitions settled;  ///< of the topics of produced requests
  Hash128 hash;
  bool operator==(const StateMeta&) const = default;
};

/// The fleet as of one revision: what every decision reads. Its objects, leases and seen entry ids, and the views that
/// are derived from the objects (views.h). Only the fold changes it.
/// Threads: one thread folds and decides; others get copies of Values, never the State.
class State : public ObjectStore {
 public:
  /// Entry ids are remembered for this many entries: a retry later than that is not recognised as a duplicate.
  static constexpr size_t kSeenWindow = 65536;
  /// The same for produced requests that were carried out, counted by themselves.
  static constexpr size_t kRequestWindow = 65536;

  Revision revision() const { return meta_.revision; }
  /// When the last entry was written. Decisions that need "now" get it as an argument, they do not take it from here.
  UtcMillis time() const { return meta_.time; }
  /// Of all objects and the revision: leases may move without either. Equal histories give equal hashes.
  Hash128 hash() const;
  /// The hash as of an earlier revision, where it is still remembered (the last few thousand entries; while hashes are
  /// deferred, those that were settled).
  std::optional<Hash128> hash_at(Revision revision) const;
  /// For a replay, which needs the hashes of few revisions: from now on, the hash of an object that changes is computed
  /// by settle_hashes() or the end, not by the fold; its Change has no JSON. hash() remains right, and slow.
  void defer_hashes() { deferred_ = true; }
  /// Calls a function once with each number below a count. Several threads may take part.
  using ForEach = std::function<void(size_t count, const std::function<void(size_t)>& use)>;
  /// Brings the hashes up to date and remembers that of this revision.
  void settle_hashes(const ForEach& for_each = in_turn);
  void end_deferred_hashes(const ForEach& for_each = in_turn);
  bool hashes_deferred() const { return deferred_; }
  uint32_t fold_version() const { return meta_.fold_version; }
  StateMeta meta() const;

  /// A view by its type: view<QuotaView>().
  template <class View>  // a DerivedView: checked in views.cc, not in each of the files that read one
  const View& view() const {
    return std::get<View>(views_);
  }
  const Views& views() const { return views_; }

  // What many decisions read, by name.

  /// Objects whose metadata.ownerReferences name this uid, sorted by key.
  const std::set<ObjectKey>& dependents(std::string_view owner_uid) const {
    return view<OwnerIndex>().dependents(owner_uid);
  }
  /// Objects that carry one of the indexed labels (namespace label) with this value, sorted by key.
  const std::set<ObjectKey>& labelled(std::string_view label_key, std::string_view value) const {
    return view<LabelIndex>().labelled(label_key, value);
  }
  const std::map<std::string, Cluster>& clusters() const { return view<ClusterView>().all(); }
  /// nullptr when there is no such cluster.
  const Cluster* cluster(std::string_view name) const;
  const std::map<Name, Policy>& policies() const { return view<PolicyView>().all(); }
  const PolicyIndex& policy_index() const { return view<PolicyView>().index(); }
  const std::map<Name, OverridePolicy>& override_policies() const { return view<OverridePolicyView>().all(); }
  const DependencyIndex& dependencies() const { return view<DependencyIndex>(); }
  const AffinityIndex& affinities() const { return view<AffinityIndex>(); }
  const UnsettledIndex& unsettled() const { return view<UnsettledIndex>(); }
  const ServiceIndex& services() const { return view<ServiceIndex>(); }
  /// The gates that decisions read.
  FeatureGates gates() const;
  /// Those that were set, which is what a start with other settings changes.
  const FeatureGates& recorded_gates() const { return view<FeatureGatesView>().gates; }
  /// The options of the control plane that decisions read.
  const FleetOptions& options() const { return view<FleetOptionsView>().options; }
  const std::map<Name, Quota>& quotas() const { return view<QuotaView>().all(); }
  const ResourceList& quota_usage(std::string_view ns) const { return view<QuotaView>().usage(ns); }

  /// The empty lease (epoch 0) when the role never had one.
  const Lease& lease(std::string_view role) const;
  bool seen(const EntryId& id) const { return seen_.contains(id); }
  /// A hint: the entry of that id is folded soon.
  void expect(const EntryId& id) const { seen_.expect(id); }
  /// Whether one of the newest produced requests that were carried out has this request_key().
  bool carried_out(const EntryId& request) const { return requests_.contains(request); }
  /// Which records of the partition are settled; empty when none ever was.
  const SettledOffsets& settled(const std::string& topic, int32_t partition) const;

  /// Rebuilds a state from what a projection kept: its objects in any order, the meta, the newest entry ids and the
  /// newest request keys (oldest first). False when the hashes of the objects do not add up to meta.hash.
  static bool restore(const StateMeta& meta, std::vector<std::pair<ObjectKey, Object>> objects,
                      std::vector<EntryId> seen, State& into, const std::vector<EntryId>& requests = {});

 private:
  friend class Staged;
  friend class Folder;

  static void in_turn(size_t count, const std::function<void(size_t)>& use);

  void put(const ObjectKey& key, Object object);
  void erase(const ObjectKey& key);
  void remember_hash();

  StateMeta meta_;  // hash covers objects only; hash() adds the rest
  bool deferred_ = false;
  std::vector<ObjectKey> unhashed_;  // objects whose hash is 0, because it was not computed; also some that are gone
  Views views_;
  NewestIds seen_{kSeenWindow};
  NewestIds requests_{kRequestWindow};
  std::deque<std::pair<Revision, Hash128>> recent_hashes_;
};

}  // namespace shiplog
