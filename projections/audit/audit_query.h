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

namespace sqlite {
class Statement;
}

/// Summary of one event of an entry.
struct AuditEvent {
  std::string kind;        ///< "PlacementDecided"
  std::string family;      ///< "scheduling"
  ObjectKey subject;       ///< empty for control events
  std::string summary;     ///< one line of display text
  ObjectKey because = {};  ///< of a deletion: the object whose deletion caused it; empty: requested
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
  std::vector<ObjectKey> also_changed;  ///< changed objects that are not the subject of an event
  std::optional<Refusal> refusal;       ///< nullopt: accepted
  bool duplicate = false;               ///< a duplicate of an earlier entry
  Revision revision;                    ///< of the state afterwards

  /// The request was denied by an API server: the entry exists only for the audit trail.
  bool denied() const;
};

/// A selection of entries. All conditions must hold; empty ones are ignored.
struct AuditFilter {
  std::string user = {};
  std::string service = {};  ///< role of shiplogd
  std::string verb = {};
  std::string family = {};      ///< of at least one event
  std::string event_kind = {};  ///< of at least one event: "PlacementDecided"
  std::string trace = {};       ///< its id
  // At least one event has as its subject, or has changed, an object with all of these.
  std::string type = {};  ///< "deployments.apps"
  std::optional<std::string> ns = {};
  std::string name = {};
  std::optional<UtcMillis> since = {};  ///< inclusive
  std::optional<UtcMillis> until = {};  ///< exclusive
  bool only_refused = false;            ///< by the fold, or denied by an API server
  bool newest_first = true;
  /// Only entries after this one in the requested order: with newest_first, older ones.
  std::optional<Offset> after = {};
  size_t limit = 100;  ///< 0: all
};

/// The entry that settled a produced request, and what was answered.
struct SettledRequest {
  AuditRow entry;
  std::string id;      ///< the idempotency id
  std::string record;  ///< record_of() its source; empty: over HTTP
  int32_t status = 0;  ///< HTTP, of a request that was not carried out; 0: it was
  std::string reason, message;
};

/// The audit trail: requests and decisions with their actors, times and results.
class AuditQuery {
 public:
  explicit AuditQuery(const View& view) : view_{view} {}

  /// Error: kBadRequest, an unknown family.
  Result<std::vector<AuditRow>> find(const AuditFilter& filter) const;

  /// nullopt: no entry at this offset.
  Result<std::optional<AuditRow>> at(Offset offset) const;

  /// The entry that settled the request of a record ("TOPIC/PARTITION/OFFSET"); nullopt: none did.
  Result<std::optional<SettledRequest>> settled(const std::string& record) const;
  /// The first entry that carried out a user's request with this idempotency id; nullopt: none did.
  Result<std::optional<SettledRequest>> carried_out(const std::string& user, const std::string& id) const;

  /// The entry that a cause refers to; nullopt: not stored, or the cause is empty.
  Result<std::optional<AuditRow>> cause(const Cause& cause) const;
  /// The entries that name this one as their cause, oldest first, at most `limit`.
  Result<std::vector<AuditRow>> caused_by(const AuditRow& cause, size_t limit) const;

  /// The newest entry with this id among those at `from` and after, up to `before`; nullopt: none.
  Result<std::optional<AuditRow>> with_id(const EntryId& id, Offset from, Offset before) const;

 private:
  Result<std::optional<SettledRequest>> settled_by(sqlite::Statement row) const;

  const View& view_;
};

}  // namespace shiplog
