#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/journal/journal.h"
#include "events/proof/checkpoint.h"

namespace shiplog {

/// Something that is not what it was, or does not follow from the journal.
struct FoundDifference {
  std::string where;             ///< "the journal", or a file
  std::optional<Offset> offset;  ///< of a record
  std::string what;              ///< a sentence, which names table and key of a row
};

struct VerificationProgress {
  uint64_t records = 0;
  Offset at, end;
};

struct VerificationOptions {
  Journal* journal = nullptr;
  /// Checkpoints that were kept elsewhere, with valid signatures and one origin.
  std::vector<proof::TreeHead> checkpoints = {};
  /// What proves single records, with the tree heads of their checkpoints.
  std::vector<std::pair<proof::InclusionProof, proof::TreeHead>> proofs = {};
  /// Snapshots and projections of this journal, with the same offsets. One that covers what was trimmed is needed if
  /// records were trimmed.
  std::vector<std::string> files = {};
  std::string work_folder = {};  ///< exists; the projection is made again in it if there are files
  std::function<void(const FoundDifference&)> found = {};
  std::function<void(const std::string&)> note = {};               ///< what is no difference, but should be known
  std::function<void(const VerificationProgress&)> progress = {};  ///< after each batch
};

struct VerificationReport {
  uint64_t records = 0;   ///< that were read
  uint64_t bytes = 0;     ///< of them
  uint64_t size = 0;      ///< of the tree
  uint64_t covered = 0;   ///< records that the largest checkpoint with the right root vouches for
  uint64_t proven = 0;    ///< inclusion proofs that hold
  uint64_t files = 0;     ///< that are what the journal makes
  uint64_t rows = 0;      ///< of files, compared
  uint64_t findings = 0;  ///< 0: nothing was altered, removed or inserted
  proof::Digest root = {};
};

/// Reads a journal from its first record to its present end; computes the tree of its records, and compares its root
/// with those of the checkpoints; folds it, and compares every row of the files with what that makes. Damage does not
/// end it: all that can be read is. Errors: kGone, records were trimmed and no file covers them; kInvalid, a file is
/// not of this journal, or checkpoints are of different trees; those of the work folder.
Result<VerificationReport> verify_journal(const VerificationOptions& options);

}  // namespace shiplog
