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

enum class VersionOperation { kCreated, kUpdated, kRemoved };
/// "created", "updated", "removed".
const char* name_of(VersionOperation operation);

/// One version of one object.
struct VersionRow {
  ObjectKey object;
  Revision revision;
  VersionOperation operation = VersionOperation::kCreated;
  std::string json;  ///< of a removal: the last state, with resourceVersion = `revision`
  /// The entry that created the version, with actor, time and cause. Its events describe the change.
  AuditRow entry;
  /// The index in entry.events of the event about this object; -1: it changed because of an event about another object.
  int event_index = -1;
};

/// One step of a watch.
struct ChangeRow {
  ObjectKey object;
  Revision revision;
  VersionOperation operation = VersionOperation::kCreated;
  std::string json;      ///< as VersionRow::json
  std::string previous;  ///< the previous version; empty if created, or not requested
};

/// A selection of changes: of one type (empty: all types) and namespace (nullopt: all), after a revision.
struct ChangeList {
  std::string type = {};
  std::optional<std::string> ns = {};
  Revision after = {};
  std::optional<Revision> upto = {};  ///< nullopt: the view's revision
  size_t limit = 1000;
  bool with_previous = false;
};

/// Every version of every object.
class HistoryQuery {
 public:
  explicit HistoryQuery(const View& view) : view_{view} {}

  /// Versions of one object, including removed objects and versions before a removal. `limit` 0: all. With `from`: only
  /// that revision and newer (oldest first) or older (newest first).
  Result<std::vector<VersionRow>> versions(const ObjectKey& key, bool newest_first = true, size_t limit = 0,
                                           std::optional<Revision> from = {}) const;

  /// The entries that made the versions of one object after a revision, oldest first, without the versions themselves.
  Result<std::vector<AuditRow>> entries_after(const ObjectKey& key, Revision after, size_t limit) const;

  /// The version with this revision; nullopt: not stored, or no longer stored.
  Result<std::optional<VersionRow>> version(Revision revision) const;

  /// In revision order, without gaps or repeats: continue with `after` = the last row's revision. Fewer than `limit`
  /// rows: there are no more up to the view's revision. Error: kGone, `after` is before oldest().
  Result<std::vector<ChangeRow>> changes(const ChangeList& which) const;

  /// Objects can be read as of this revision and later, and the changes after it are complete.
  Result<Revision> oldest() const;

  /// The newest revision at a time: after the entry with the newest time not after `at`. 0: before the
  /// first entry.
  Result<Revision> revision_at(UtcMillis at) const;

 private:
  const View& view_;
};

}  // namespace shiplog
