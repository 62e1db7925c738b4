#include "projections/history/version_scrub.h"

#include <set>

#include "events/sqlite/connection.h"
#include "projections/history/history_projection.h"
#include "projections/history/stored_version.h"
#include "projections/store/checkpoint.h"
#include "projections/store/open.h"

namespace shiplog {

Result<ScrubbedVersions> scrub_versions(const View& view, Revision after, size_t most) {
  SHIPLOG_TRY(auto row, view.connection().prepare("SELECT " + version_columns("v") +
                                                  " FROM version v WHERE v.revision > ? ORDER BY v.revision LIMIT ?"));
  row.bind_all(static_cast<int64_t>(after.value), static_cast<int64_t>(most));
  ScrubbedVersions read;
  while (true) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) return read;
    read.last = Revision{static_cast<uint64_t>(row.integer(0))};
    ++read.rows;
    read.bytes += row.text(kVersionColumns - 2).size();
    if (!stored_version(view.connection(), row)) read.damaged.push_back(read.last);
  }
}

struct VersionRepair::Impl {
  std::unique_ptr<sqlite::Connection> connection;
  store::TypeIds types;
  std::set<Revision> damaged;

  Result<void> write(const FoldedEntry& folded, size_t index) {
    const ObjectKey& key = folded.folded.changes[index].object;
    SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(*connection));
    SHIPLOG_TRY(const int64_t type, types.id(key.type));
    SHIPLOG_TRY(auto object, connection->prepare("SELECT id FROM object WHERE type = ? AND ns = ? AND name = ?"));
    object.bind_all(type, key.ns, key.name);
    SHIPLOG_TRY(const bool found, object.next());
    if (!found) return ok();  // trimmed since, with all its versions
    const int64_t id = object.integer(0);
    object.reset();
    SHIPLOG_TRY(replace_version(*connection, version_of(folded, index, type, id)));
    return transaction.commit();
  }
};

VersionRepair::VersionRepair(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
VersionRepair::VersionRepair(VersionRepair&&) noexcept = default;
VersionRepair::~VersionRepair() = default;

Result<VersionRepair> VersionRepair::open(const std::string& projection, const std::vector<Revision>& damaged) {
  SHIPLOG_TRY(auto connection, store::open_writer(projection));
  sqlite::Connection& used = *connection;
  return VersionRepair{std::make_unique<Impl>(
      Impl{std::move(connection), store::TypeIds{used}, std::set<Revision>{damaged.begin(), damaged.end()}})};
}

Result<void> VersionRepair::take(Offset offset, const Entry& entry, const Folded& folded) {
  FoldedEntry applied{offset, entry, folded};
  for (const Event& event : entry.events) applied.subjects.push_back(subject_of(event));
  for (size_t index = 0; index < folded.changes.size(); ++index) {
    const auto damaged = impl_->damaged.find(folded.changes[index].revision);
    if (damaged == impl_->damaged.end()) continue;
    SHIPLOG_TRY(impl_->write(applied, index));
    impl_->damaged.erase(damaged);
  }
  return ok();
}

bool VersionRepair::complete() const { return impl_->damaged.empty(); }

}  // namespace shiplog
