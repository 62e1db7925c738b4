#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/entry.h"
#include "events/fold/fold.h"
#include "projections/store/reader.h"

namespace shiplog {

/// One event of an entry, in short.
struct AuditEvent {
  std::string kind;        ///< "PlacementDecided"
  std::string family;      ///< "scheduling"
  ObjectKey subject;       ///< empty for control events
  std::string summary;     ///< one line for people
  ObjectKey because = {};  ///< of a deletion: what it follows from; empty: somebody asked for it
};

/// One entry, accepted or refused, in the order of the journal.
struct AuditRow {
  Offset offset;
  EntryId id;
  UtcMillis time;
  Actor actor;
  Request request;
  Cause cause;
  Revision as_of;
  std::vector<AuditEvent> events;
  std::vector<ObjectKey> also_changed;  ///< objects that no event is about
  std::optional<Refusal> refusal;       ///< nullopt: accepted
  bool duplicate = false;               ///< the twin of an earlier entry
  Revision revision;                    ///< of the state afterwards

  /// The request was denied by an API server: the entry is here for the audit trail alone.
  bool denied() const;
};

/// Which entries: all conditions hold together; an empty one does not count.
struct AuditFilter {
  std::string user = {};
  std::string service = {};  ///< role of shiplogd
  std::string verb = {};
  std::string family = {};      ///< some event is of it
  std::string event_kind = {};  ///< some event is of it: "PlacementDecided"
  // Some event is about, or has changed, an object with all of these.
  std::string type = {};  ///< "deployments.apps"
  std::optional<std::string> ns = {};
  std::string name = {};
  std::optional<UtcMillis> since = {};  ///< inclusive
  std::optional<UtcMillis> until = {};  ///< exclusive
  bool only_refused = false;            ///< by the fold, or denied by an API server
  bool newest_first = true;
  /// Only entries behind this one in the order asked for: with newest_first, older ones.
  std::optional<Offset> after = {};
  size_t limit = 100;  ///< 0: all
};

/// Who did or asked what, when, and what came of it.
class AuditQuery {
 public:
  explicit AuditQuery(const View& view) : view_{view} {}

  /// Error: kBadRequest, an unknown family.
  Result<std::vector<AuditRow>> find(const AuditFilter& filter) const;

  /// nullopt: no entry at this offset.
  Result<std::optional<AuditRow>> at(Offset offset) const;

  /// The entry a cause points to; nullopt: not held, or the cause is empty.
  Result<std::optional<AuditRow>> cause(const Cause& cause) const;

 private:
  const View& view_;
};

}  // namespace shiplog
