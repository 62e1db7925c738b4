#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "services/adapters/members/members.h"
#include "services/api/selector/selector.h"

namespace shiplog::testing {

/// Runs something later, in virtual time.
using Schedule = std::function<void(Millis delay, std::function<void()> run)>;

/// One Kubernetes API in memory: the built-in kinds with resourceVersions, generations, finalizers, label selectors,
/// paged lists, watches, discovery and health. No admission, no defaults, unless `on_write` adds some.
class FakeMember {
 public:
  FakeMember(std::string name, Schedule schedule);

  // Faults.
  bool down = false;                   ///< nothing answers; use FakeMembers::set_down so that watches end too
  int refuse = 0;                      ///< every request to an object is answered with this status; 0: none
  Millis latency = {1};                ///< of every answer and watch event
  std::set<std::string> unserved;      ///< types that this cluster does not know
  std::set<std::string> undiscovered;  ///< paths of discovery that are answered with 503, or whose versions are stale
  /// How discovery answers a client that can read the aggregated form.
  enum class Discovery { kAggregated, kPlain, kRefused };
  Discovery discovery = Discovery::kAggregated;
  bool etags = true;        ///< it states them, and answers 304
  bool etag_stays = false;  ///< and they are always the same
  /// Workloads become ready this long after each change of them; not set: they stay as they are.
  std::optional<Millis> ready_after;
  /// May change an object before it is stored, as defaulting does.
  std::function<void(Value& object)> on_write;
  int readyz = 200;
  std::string git_version = "v1.34.0";
  int probed = 0;                   ///< reads of readyz so far
  bool hangs = false;               ///< takes requests, and never answers
  bool mute = false;                ///< watches go on, but nothing is sent any more: the stream is dead
  std::set<std::string> unwatched;  ///< types that may be listed, but not watched
  /// Watches from a version before the present one are answered with 410 from now on.
  void forget_history() { oldest_ = revision_; }

  /// Null when there is none.
  const Value& find(const ObjectKey& key) const;
  const std::map<ObjectKey, Value>& objects() const { return objects_; }
  /// A user of the member writes (creates or replaces), sets a status, or deletes, past the fleet.
  void put(const ObjectKey& key, Value object);
  void set_status(const ObjectKey& key, Value status);
  void erase(const ObjectKey& key);

  MemberResponse handle(const MemberRequest& request);

 private:
  friend class FakeMembers;
  struct Target;
  struct Watcher {
    std::string type, ns;
    api::ParsedLabelSelector selector;
    std::function<void(const Value&)> on_event;
    std::function<void(Result<void>)> on_end;
    std::deque<Value> on_its_way;  // in order: it is one stream, however long each message takes
    bool ended = false;
  };

  MemberResponse discover(const MemberRequest& request, const std::vector<std::string>& segments) const;
  Value aggregated(bool core) const;
  Value plain(const std::vector<std::string>& segments) const;
  MemberResponse list(const Target& target) const;
  MemberResponse create(const Target& target, Value object);
  MemberResponse replace(const Target& target, Value object);
  MemberResponse remove(const Target& target, const Value& options);
  void store(const ObjectKey& key, Value object, const char* event);
  void drop(const ObjectKey& key);
  void emit(const ObjectKey& key, const char* event, const Value& object, const Value& before);
  void send(const std::shared_ptr<Watcher>& watcher, const char* event, const Value& object);
  void come_true(const ObjectKey& key);
  void watch(std::shared_ptr<Watcher> watcher, int64_t since);

  std::string name_;
  Schedule schedule_;
  std::map<ObjectKey, Value> objects_;
  struct Past {
    int64_t revision;
    ObjectKey key;
    std::string event;
    Value object, before;
  };
  std::vector<Past> history_;
  std::vector<std::shared_ptr<Watcher>> watchers_;
  int64_t revision_ = 100;
  int64_t oldest_ = 0;
  int64_t made_ = 0;
};

/// The members of a fleet, in memory, in virtual time.
class FakeMembers final : public Members {
 public:
  explicit FakeMembers(Schedule schedule) : schedule_{std::move(schedule)} {}

  /// The member of that name; made, with its usual namespaces, when it is not there.
  FakeMember& member(const std::string& cluster);
  /// Its address no longer leads anywhere: requests answer kNotFound.
  void forget(const std::string& cluster);
  void set_down(const std::string& cluster, bool down);
  /// Ends all watches of a member; they may be started again at once.
  void break_watches(const std::string& cluster);
  size_t watch_count(const std::string& cluster);

  /// "m1 POST /api/v1/namespaces/default/configmaps", in order of arrival, without reads of health and discovery.
  std::vector<std::string> log;
  size_t count(const std::string& part) const;
  /// "m1 /apis 304": what was answered to reads of discovery.
  std::vector<std::string> discovered;

  void request(const std::string& cluster, MemberRequest request,
               std::function<void(Result<MemberResponse>)> done) override;
  std::unique_ptr<MemberWatch> watch(const std::string& cluster, std::string path,
                                     std::function<void(const Value&)> on_event,
                                     std::function<void(Result<void>)> on_end) override;
  std::unique_ptr<MemberWatch> watch_parts(const std::string& cluster, std::string path, const ObjectParts& parts,
                                           std::function<void(const Value&)> on_event,
                                           std::function<void(Result<void>)> on_end) override;

 private:
  Schedule schedule_;
  std::map<std::string, std::unique_ptr<FakeMember>> members_;
};

}  // namespace shiplog::testing
