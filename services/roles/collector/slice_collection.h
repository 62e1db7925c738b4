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
#include "services/roles/collector/member_slices.h"
#include "services/roles/exported_slices.h"
#include "services/runtime/role.h"
#include "services/runtime/token_bucket.h"

namespace shiplog::collector {

/// Reports the EndpointSlices of members that are exported: of each Work that requests those of a Service, as its
/// status (services/roles/exported_slices.h). A member is listed and watched only while there is such a Work for it,
/// and only for slices of the Services that are exported. What a member may report is limited in number and in bytes,
/// and in bytes per second; the rest is left out, and the reported status names the limit. Requests take turns: a
/// Service whose slices change all the time does not hold the others back. One key for each member, which rests until
/// something arrives. Threads: the fold thread.
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
  using ServiceNames = std::set<MemberSlices::Name>;

  /// What one member has shown.
  struct Followed {
    explicit Followed(ServiceNames exported);
    std::string selector;  // of the list and the watch: of what was exported when it was listed
    std::unique_ptr<MemberWatch> stream;
    std::function<void()> wake;
    bool ended = false;
    bool heard = false;  // something since the last look, if only a bookmark
    UtcMillis since, heard_at, report_at;
    MemberSlices slices;
    TokenBucket budget;
    ObjectKey next;  // the request that reports begin with: the last one ended before it
  };
  struct Listing;

  static ObjectKey key_of(const std::string& cluster) { return {type::kWork, kSlices, cluster}; }
  ServiceNames exported_by(const std::string& cluster) const;
  static std::string selector_of(const ServiceNames& exported);
  void list(const TaskPtr& task, const std::shared_ptr<Listing>& listing);
  void listed(const TaskPtr& task, const std::shared_ptr<Listing>& listing);
  void follow(const TaskPtr& task, const std::shared_ptr<Followed>& followed, const std::string& version);
  void unavailable(const TaskPtr& task, Followed& followed, const std::string& problem);
  /// `at_latest`: when the key is to be looked at again in any case.
  void report(const TaskPtr& task, Followed& followed, std::optional<UtcMillis> at_latest = {});
  bool report_one(const TaskPtr& task, Followed& followed, const ObjectKey& request, const ExportedService& service,
                  DecisionBuilder& seen);
  void again_all(const std::string& cluster);

  static bool runs(Followed& followed, const std::string& cluster, UtcMillis now);

  Members& members_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);      // callbacks hold it weakly
  std::map<std::string, std::map<ObjectKey, ExportedService>> requests_;  // by cluster and Work
  std::map<std::string, std::shared_ptr<Followed>> followed_;             // by cluster
};

}  // namespace shiplog::collector
