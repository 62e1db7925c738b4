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
  /// JSON, as in events/explain/json.h, with reason and message where the event has them. For events without an
  /// explanation of their own: {reason, message} as far as they have them.
  std::string explanation;
};

/// The decisions about an object.
class DecisionQuery {
 public:
  explicit DecisionQuery(const View& view) : view_{view} {}

  /// Decisions about one object, newest first. `limit` 0: all.
  Result<std::vector<DecisionRow>> of(const ObjectKey& subject, size_t limit = 0) const;

 private:
  const View& view_;
};

}  // namespace shiplog
