#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "projections/scrub/scrub.h"
#include "projections/store/folded_entry.h"

namespace shiplog {

/// Writes what is damaged in a projection again: what an entry made of what the fold makes of it again, and then what
/// follows from other rows of the projection (names of objects, revisions of workloads, indexes).
/// Threads: one; the projection may be written and read meanwhile.
class ProjectionRepair {
 public:
  /// Errors: kIo; kCorrupt.
  static Result<ProjectionRepair> open(const std::string& projection, const ProjectionDamage& damage);
  ProjectionRepair(ProjectionRepair&&) noexcept;
  ProjectionRepair& operator=(ProjectionRepair&&) = delete;
  ~ProjectionRepair();

  /// Entries have to be folded for it: the next one is expected by take().
  bool needs_journal() const;
  /// The next entry of the journal, from its first one on, what the fold made of it, and the leaf hash of its record,
  /// which only a journal with a Merkle tree needs.
  Result<void> take(Offset offset, const Entry& entry, const Folded& folded,
                    const std::optional<proof::Digest>& leaf = {});
  /// What needs no journal: the last step.
  Result<void> finish();

  /// What was repaired so far. The rest was deleted since by its age, or is damaged in its key, so that it cannot be
  /// told from another row.
  size_t repaired() const;

 private:
  struct Impl;
  explicit ProjectionRepair(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
