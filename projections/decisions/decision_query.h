#pragma once

#include <optional>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "projections/audit/audit_query.h"
#include "projections/store/reader.h"

namespace shiplog {

/// One decision of a role, whether or not the fold accepted it.
struct DecisionRow {
  ObjectKey subject;
  std::string kind;  ///< "PlacementDecided"
  Offset offset;
  uint32_t event_index = 0;
  EntryId entry_id;
  UtcMillis time;
  std::string service;
  Revision revision;  ///< of the state after its entry
  Revision as_of;     ///< the state it was computed from
  Cause cause;
  std::optional<Refusal> refusal;
  std::string summary;
  /// JSON, as events/explain/json.h has it, with reason and message where the event has them. For events without an
  /// explanation of their own: {reason, message} as far as they have them.
  std::string explanation;
};

/// The decisions about an object, and the chain of causes of its state.
class DecisionQuery {
 public:
  explicit DecisionQuery(const View& view) : view_{view} {}

  /// Decisions about one object, newest first. `limit` 0: all.
  Result<std::vector<DecisionRow>> of(const ObjectKey& subject, size_t limit = 0) const;

  /// The causes of a version of the object (the newest at or before `at`; nullopt: the newest): the entry that created
  /// the version first, then its cause, and so on back to a request of a user. Ends early if an entry is not stored.
  /// Empty: no such object.
  Result<std::vector<AuditRow>> causes(const ObjectKey& key, std::optional<Revision> at = {}) const;

 private:
  const View& view_;
};

}  // namespace shiplog
