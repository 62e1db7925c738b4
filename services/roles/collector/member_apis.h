#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "services/adapters/members/members.h"
#include "services/roles/collector/cluster_status.h"
#include "services/roles/collector/common_values.h"
#include "services/runtime/trace.h"

namespace shiplog::collector {

/// The version and the APIs of one member, read again only as far as they may have changed (decision 0127):
///   - the groups and their resources with every look, as one document (aggregated discovery), for which the server
///     usually answers that it is the one that is known: by its ETag, or by the same text;
///   - the core group and the version, which change with the server, every 5 minutes, when the groups have changed, and
///     after doubt(); the lists of group versions of a server that has no such document every minute;
///   - everything as if nothing were known, every half hour: against ETags that do not change.
/// What cannot be read has no resources until it can be, and is read again with the next look.
/// Threads: the fold thread.
class MemberApis : public std::enable_shared_from_this<MemberApis> {
 public:
  MemberApis(Members& members, std::string cluster, std::shared_ptr<CommonValues> common)
      : members_{members}, cluster_{std::move(cluster)}, common_{std::move(common)} {}

  /// `then` is called when it is done, never within the call. One look at a time.
  void look(const TraceContext& trace, UtcMillis now, std::function<void()> then);

  /// The next look is a thorough one: perhaps another server answers from now on.
  void doubt() { doubtful_ = true; }

  /// Null: not known yet.
  const Value& version() const { return version_; }
  /// CL-20; null: nothing could be read so far.
  const Value& enablements() const { return enablements_; }
  /// CL-19.
  const Health& completeness() const { return completeness_; }
  /// Grows whenever one of these changes.
  uint64_t changes() const { return changes_; }

 private:
  enum class Form { kAggregated, kPlain };
  struct Document {
    Edition edition;  // none: it could never be read
    DiscoveredApis apis;
    bool failed = false;  // the last time
  };
  struct Look {
    TraceContext trace;
    std::function<void()> then;
    bool whole = false;     // nothing counts as known
    bool thorough = false;  // reads also what rarely changes
    bool plain = false;     // asks for no aggregated groups
    std::deque<std::string> paths;
  };
  using LookPtr = std::shared_ptr<Look>;
  using OnRead = std::function<void(Result<MemberResponse>)>;
  using ReadApis = std::function<std::optional<DiscoveredApis>(const Value& body)>;

  void read(const LookPtr& look, const std::string& path, const std::string& accept, bool other_form, OnRead then);
  bool take(const std::string& path, const Result<MemberResponse>& response, const ReadApis& apis);
  void read_groups(const LookPtr& look);
  void take_groups(const LookPtr& look, const Result<MemberResponse>& response);
  void read_core(const LookPtr& look);
  void read_lists(const LookPtr& look);
  void read_version(const LookPtr& look);
  void end(const LookPtr& look);
  void sum_up();

  Members& members_;
  const std::string cluster_;
  const std::shared_ptr<CommonValues> common_;
  Form form_ = Form::kAggregated;              // of the groups that are known
  std::map<std::string, Document> documents_;  // by path
  std::set<std::string> group_versions_;       // paths of their lists, of a server with the plain form
  bool looked_ = false, doubtful_ = false;
  UtcMillis whole_at_ = {}, thorough_at_ = {};
  bool changed_ = false;  // a document, since the last sum
  Value version_, enablements_;
  Health completeness_;
  uint64_t changes_ = 0;
};

}  // namespace shiplog::collector
