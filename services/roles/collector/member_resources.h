#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/adapters/members/members.h"
#include "services/roles/collector/member_totals.h"
#include "services/runtime/trace.h"

namespace shiplog::collector {

/// Pages of lists that are read at the same time, of all members together: what they hold is limited for the whole
/// process, and after a start all members are listed at once. A page takes no longer than its request may.
class PageGate {
 public:
  /// Runs it now, or once others have left.
  void enter(std::function<void()> run);
  void leave();

 private:
  size_t free_ = 16;
  std::deque<std::function<void()>> waiting_;
};

/// The nodes and pods of one member: each collection is listed once, page by page, and then watched. Of the objects
/// only rows are kept (MemberTotals).
///
///   list ──complete──► watch ──ended, or silent──► watch from the last version seen
///     ▲                  │
///     └──────────────────┴── that version is too old (410); the watch fails time and again; every half hour
///
/// Nothing runs by itself: follow(), called with every probe, sees to what has ended. Threads: the fold thread.
class MemberResources : public std::enable_shared_from_this<MemberResources> {
 public:
  MemberResources(Members& members, std::shared_ptr<PageGate> gate, std::string cluster);

  /// `then` is called when the figures are known, or cannot be had at present; if they were known before, within the
  /// call.
  void follow(const TraceContext& trace, UtcMillis now, std::function<void()> then);
  /// Ends the watches. What waits is called back.
  void close();
  /// Drops the callbacks that wait, without calling them: for a process that ends without a stop. A probe that waits
  /// refers to this, and its callback to the probe, so that neither would be freed.
  void abandon();

  /// Both collections have been listed completely, and no list is under way.
  bool known() const;
  MemberTotals& totals() { return totals_; }
  /// Watches that have ended so far: servers end them when they stop, and now and then.
  uint64_t ends() const { return ends_; }

 private:
  enum class Which : size_t { kNodes, kPods };
  struct Collection {
    Which which;
    const char* path;
    int limit;    // of a page
    size_t most;  // objects
    std::string version = {}, token = {};
    std::unique_ptr<MemberWatch> watch = {};
    uint64_t watch_number = 0;  // of the present one: what an earlier one still reports does not count
    size_t taken = 0;
    int page_limit = 0;
    int list_failures = 0, watch_failures = 0;  // one after the other; of watches that ended without an event
    UtcMillis not_before = {}, listed_at = {}, heard_at = {};
    bool listing = false, listed = false, running = false, heard = false, list_again = false;
  };

  void see_to(Collection& collection, const TraceContext& trace, UtcMillis now);
  void begin_list(Collection& collection, const TraceContext& trace, UtcMillis now);
  void list(Collection& collection, const TraceContext& trace, UtcMillis now);
  void take_page(Collection& collection, const TraceContext& trace, UtcMillis now, const Result<MemberResponse>& page);
  void end_list(Collection& collection, bool complete, UtcMillis now);
  void begin_watch(Collection& collection, UtcMillis now);
  void take_event(Collection& collection, const Value& event);
  void take(const Collection& collection, const Value& object, bool gone = false);
  void answer_if_settled();

  Members& members_;
  const std::shared_ptr<PageGate> gate_;
  const std::string cluster_;
  MemberTotals totals_;
  uint64_t ends_ = 0;
  std::array<Collection, 2> collections_;
  std::vector<std::function<void()>> waiting_;
  bool closed_ = false;
};

}  // namespace shiplog::collector
