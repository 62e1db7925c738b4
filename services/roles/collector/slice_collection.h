#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/base/hash.h"
#include "services/adapters/members/members.h"
#include "services/roles/exported_slices.h"
#include "services/runtime/role.h"
#include "services/runtime/token_bucket.h"

namespace shiplog::collector {

/// Reports the EndpointSlices of members that are exported: of each Work that requests those of a Service, as its
/// status (services/roles/exported_slices.h). A member is listed and watched only while there is such a Work for it,
/// and only for slices of the Services that are exported. What a member may report is limited in number and in bytes,
/// and in bytes per second; what is beyond is left out, and the status says so.
/// One key for each member, which rests until something arrives. Threads: the fold thread.
class SliceCollection {
 public:
  explicit SliceCollection(Members& members) : members_{members} {}

  static bool is_slices(const ObjectKey& key) { return key.ns == kSlices; }
  /// The slot of the key's member; nullopt: it is none of these keys.
  static std::optional<int> slot_of_key(const ObjectKey& key);

  /// A Work is there, has changed, or is gone (null).
  void note(const ObjectKey& work, const Value& value, std::vector<ObjectKey>& wake);
  /// A member became ready, or is no longer.
  void wake_cluster(const std::string& cluster, std::vector<ObjectKey>& wake) const;
  void forget_cluster(const std::string& cluster);
  void forget_slot(int slot);

  /// Lists and watches what is requested of the key's member, and reports what has changed.
  void reconcile(const TaskPtr& task);

 private:
  static constexpr const char* kSlices = "@endpointslices";
  using SliceName = std::pair<std::string, std::string>;  // namespace and name

  /// What one member has shown.
  struct Followed {
    std::set<SliceName> exported;  // Services, when it was listed
    std::string selector;          // of the list and the watch
    std::unique_ptr<MemberWatch> stream;
    std::function<void()> wake;
    bool ended = false;
    bool heard = false;  // something since the last look, if only a bookmark
    UtcMillis since, heard_at, report_at;
    std::map<SliceName, Value> slices;
    size_t bytes = 0;
    std::string problem;  // why not all are here
    TokenBucket budget;
    Followed();
  };
  struct Listing;

  static ObjectKey key_of(const std::string& cluster) { return {type::kWork, kSlices, cluster}; }
  std::set<SliceName> exported_by(const std::string& cluster) const;
  static std::string selector_of(const std::set<SliceName>& exported);
  static void take_in(Followed& followed, const Value& slice, bool gone);
  void list(const TaskPtr& task, const std::shared_ptr<Listing>& listing);
  void listed(const TaskPtr& task, const std::shared_ptr<Listing>& listing);
  void follow(const TaskPtr& task, const std::shared_ptr<Followed>& followed, const std::string& version);
  void unavailable(const TaskPtr& task, Followed& followed, const std::string& problem);
  void report(const TaskPtr& task, Followed& followed);

  static bool runs(Followed& followed, const std::string& cluster, UtcMillis now);

  Members& members_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);      // callbacks hold it weakly
  std::map<std::string, std::map<ObjectKey, ExportedService>> requests_;  // by cluster and Work
  std::map<std::string, std::shared_ptr<Followed>> followed_;             // by cluster
};

}  // namespace shiplog::collector
