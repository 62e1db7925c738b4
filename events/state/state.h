#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/hash.h"
#include "events/base/ids.h"
#include "events/base/newest_ids.h"
#include "events/base/quantity.h"
#include "events/base/time.h"
#include "events/state/affinity_index.h"
#include "events/state/cluster.h"
#include "events/state/dependency_index.h"
#include "events/state/feature_gates.h"
#include "events/state/fleet_options.h"
#include "events/state/name_table.h"
#include "events/state/object.h"
#include "events/state/override_policy.h"
#include "events/state/policy.h"
#include "events/state/policy_index.h"
#include "events/state/quota.h"
#include "events/state/service_index.h"
#include "events/state/unsettled_index.h"

namespace shiplog {

/// Who decides for a service, by the newest LeaseTaken.
struct Lease {
  std::string holder;
  uint64_t epoch = 0;
  bool operator==(const Lease&) const = default;
};

/// The part of a state that is not objects, nor the window of seen entry ids: with these it can be restored.
struct StateMeta {
  Revision revision;
  UtcMillis time;  ///< of the last folded entry
  uint32_t fold_version = 1;
  std::map<std::string, Lease> leases;
  Hash128 hash;
  bool operator==(const StateMeta&) const = default;
};

/// The fleet as of one revision: what every decision reads. Only the fold changes it.
/// Threads: one thread folds and decides; others get copies of Values, never the State.
class State {
 public:
  struct Name {
    std::string ns;
    std::string name;
    auto operator<=>(const Name&) const = default;
  };
  /// A Name, or a pair of views for looking one up without making it.
  struct NameLess {
    using is_transparent = void;
    using Views = std::pair<std::string_view, std::string_view>;
    static Views views(const Name& name) { return {name.ns, name.name}; }
    static Views views(const Views& name) { return name; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return views(a) < views(b);
    }
  };
  using Objects = std::map<Name, Object, NameLess>;

  /// Entry ids are remembered for this many entries: a retry later than that is not recognised as a twin.
  static constexpr size_t kSeenWindow = 65536;

  Revision revision() const { return meta_.revision; }
  /// When the last entry was written. Decisions that need "now" are handed it, they do not take it from here.
  UtcMillis time() const { return meta_.time; }
  /// Of all objects and the revision: leases may move without either. Equal histories give equal hashes.
  Hash128 hash() const;
  /// The hash as of an earlier revision, where it is still remembered (the last few thousand entries).
  std::optional<Hash128> hash_at(Revision revision) const;
  uint32_t fold_version() const { return meta_.fold_version; }
  StateMeta meta() const;

  /// nullptr when there is no such object.
  const Object* find(const ObjectKey& key) const;
  /// The object's value, or null.
  const Value& value_of(const ObjectKey& key) const;
  /// 0 when there is no such object.
  Revision revision_of(const ObjectKey& key) const;
  /// All objects of a type, sorted by namespace and name.
  const Objects& objects(std::string_view type) const;
  /// Those of one namespace.
  std::ranges::subrange<Objects::const_iterator> objects(std::string_view type, std::string_view ns) const;
  /// Types that have ever had an object, sorted.
  std::vector<std::string> types() const;
  size_t object_count() const;

  /// Objects whose metadata.ownerReferences name this uid, sorted by key.
  const std::set<ObjectKey>& dependents(std::string_view owner_uid) const;
  /// Objects that carry one of the indexed labels (namespace label) with this value, sorted by key.
  const std::set<ObjectKey>& labelled(std::string_view label_key, std::string_view value) const;

  /// Typed views, kept up to date by the fold. By name; policies by "namespace/name" or, cluster-scoped, "name".
  const std::map<std::string, Cluster>& clusters() const { return clusters_; }
  const std::map<State::Name, Policy>& policies() const { return policies_; }
  /// Finds those of them that may select an object.
  const PolicyIndex& policy_index() const { return policy_index_; }
  const std::map<State::Name, OverridePolicy>& override_policies() const { return override_policies_; }
  /// Names of those of `policy_ns` (empty: cluster-scoped ones) that may select such an object, sorted; match() has the
  /// last word.
  std::vector<std::string_view> override_candidates(std::string_view policy_ns, std::string_view kind,
                                                    std::string_view ns, std::string_view name) const;
  /// Which bindings follow which.
  const DependencyIndex& dependencies() const { return dependencies_; }
  /// Which bindings are to stay together or apart.
  const AffinityIndex& affinities() const { return affinities_; }
  /// What is placed but not healthy yet; empty unless the gate SchedulingOvercommitProtection is on.
  const UnsettledIndex& unsettled() const { return unsettled_; }
  /// The feature gates in force.
  const FeatureGates& gates() const { return gates_; }
  /// What options of the control plane say that decisions read.
  const FleetOptions& options() const { return options_; }
  /// Which Services hold which addresses.
  const ServiceIndex& services() const { return services_; }
  const std::map<State::Name, Quota>& quotas() const { return quotas_; }
  const Cluster* cluster(std::string_view name) const;
  /// What the bindings of a namespace use; empty when the namespace has no FederatedResourceQuota.
  const ResourceList& quota_usage(std::string_view ns) const;

  /// The empty lease (epoch 0) when nobody ever took it.
  const Lease& lease(std::string_view service) const;
  bool seen(const EntryId& id) const { return seen_.contains(id); }

  /// Rebuilds a state from what a projection kept: its objects in any order, the meta and the newest entry ids (oldest
  /// first). False when the hashes of the objects do not add up to meta.hash.
  static bool restore(const StateMeta& meta, std::vector<std::pair<ObjectKey, Object>> objects,
                      std::vector<EntryId> seen, State& into);

 private:
  friend class Staged;
  friend class Folder;

  void put(const ObjectKey& key, Object object);
  void erase(const ObjectKey& key);
  void reindex(const ObjectKey& key, const Value& before, const Value& after);
  void reindex_views(const ObjectKey& key, const Value& before, const Value& after);
  void set_gates(const FeatureGates& gates);
  void remember_hash();

  StateMeta meta_;  // hash covers objects only; hash() adds the rest
  /// All of one type: to be walked in order, and to be found at once.
  struct OfType {
    OfType() = default;
    OfType(const OfType& other) : sorted{other.sorted} {
      for (auto& node : sorted) table.insert(&node);
    }
    OfType(OfType&&) noexcept = default;
    OfType& operator=(OfType&&) noexcept = default;
    OfType& operator=(const OfType& other) { return *this = OfType{other}; }
    ~OfType() = default;

    Objects sorted;
    NameTable<Objects::value_type> table;
  };
  std::map<std::string, OfType, std::less<>> objects_;
  std::map<std::string, std::set<ObjectKey>, std::less<>> dependents_;
  std::map<std::pair<std::string, std::string>, std::set<ObjectKey>> labelled_;
  std::map<std::string, Cluster> clusters_;
  std::map<Name, Policy> policies_;
  PolicyIndex policy_index_;
  std::map<Name, OverridePolicy> override_policies_;
  PolicyIndex override_index_;
  DependencyIndex dependencies_;
  AffinityIndex affinities_;
  UnsettledIndex unsettled_;
  FeatureGates gates_;
  FleetOptions options_;
  ServiceIndex services_;
  std::map<Name, Quota> quotas_;
  std::map<std::string, ResourceList, std::less<>> quota_usage_;
  NewestIds seen_{kSeenWindow};
  std::deque<std::pair<Revision, Hash128>> recent_hashes_;
};

}  // namespace shiplog
