#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "projections/store/folded_entry.h"
#include "projections/store/reader.h"

namespace shiplog {

/// What scrub_versions() read.
struct ScrubbedVersions {
  std::vector<Revision> damaged;  ///< their checksums differ
  Revision last;                  ///< of the rows read: continue after it
  size_t rows = 0;                ///< 0: there are no more
  size_t bytes = 0;
};

/// Reads the versions after a revision, at most `most` of them, and compares their checksums.
/// Error: kCorrupt, SQLite cannot read the table, so no single version can be named.
Result<ScrubbedVersions> scrub_versions(const View& view, Revision after, size_t most);

/// Writes damaged versions of a projection again, as the fold makes them of their entries.
/// Threads: one; the projection may be written and read meanwhile.
class VersionRepair {
 public:
  /// Errors: kIo; kCorrupt.
  static Result<VersionRepair> open(const std::string& projection, const std::vector<Revision>& damaged);
  VersionRepair(VersionRepair&&) noexcept;
  VersionRepair& operator=(VersionRepair&&) = delete;
  ~VersionRepair();

  /// The next entry of the journal, from its first one on, and what the fold made of it.
  Result<void> take(Offset offset, const Entry& entry, const Folded& folded);
  /// Every damaged version has been written again.
  bool complete() const;

 private:
  struct Impl;
  explicit VersionRepair(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
