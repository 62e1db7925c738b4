#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "projections/audit/audit_query.h"
#include "projections/store/reader.h"

namespace shiplog {

enum class Operation { kCreated, kUpdated, kRemoved };
/// "created", "updated", "removed".
const char* name_of(Operation operation);

/// One version of one object.
struct VersionRow {
  ObjectKey object;
  Revision revision;
  Operation operation = Operation::kCreated;
  std::string json;  ///< of a removal: the last state, with resourceVersion = `revision`
  /// The entry that made it: who, when, why. Its events say what it was in the domain's words.
  AuditRow entry;
  /// Which of entry.events was about this object; -1: it changed because of an event about another one.
  int event_index = -1;
};

/// One step of a watch.
struct ChangeRow {
  ObjectKey object;
  Revision revision;
  Operation operation = Operation::kCreated;
  std::string json;      ///< as VersionRow::json
  std::string previous;  ///< the version before; empty when created, or when not asked for
};

/// Which changes: of one type (empty: all types) and namespace (nullopt: all), after a revision.
struct ChangeList {
  std::string type = {};
  std::optional<std::string> ns = {};
  Revision after = {};
  size_t limit = 1000;
  bool with_previous = false;
};

/// Every version of every object.
class HistoryQuery {
 public:
  explicit HistoryQuery(const View& view) : view_{view} {}

  /// Versions of one object, also of a removed one and across removals. `limit` 0: all. With `from`: only that
  /// revision and newer (oldest first) or older (newest first).
  Result<std::vector<VersionRow>> versions(const ObjectKey& key, bool newest_first = true, size_t limit = 0,
                                           std::optional<Revision> from = {}) const;

  /// What made one revision; nullopt: not held (any more).
  Result<std::optional<VersionRow>> version(Revision revision) const;

  /// In revision order, without gaps or repeats: go on with `after` = the last row's revision. Fewer than `limit`
  /// rows: nothing more up to the view's revision. Error: kGone, `after` is before oldest().
  Result<std::vector<ChangeRow>> changes(const ChangeList& which) const;

  /// Objects can be asked for as of this revision and later, and changes after it are complete.
  Result<Revision> oldest() const;

  /// What the newest revision was at a time: after the entry with the newest time not after `at`. 0: before the
  /// first entry.
  Result<Revision> revision_at(UtcMillis at) const;

 private:
  const View& view_;
};

}  // namespace shiplog
