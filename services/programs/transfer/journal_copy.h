#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "events/base/hash.h"
#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/journal/journal.h"
#include "events/state/state.h"

namespace shiplog {

/// How far a copy has come, and what it amounted to.
struct CopyProgress {
  uint64_t found = 0;        ///< records that the target held already, equal to the first ones of the source
  uint64_t entries = 0;      ///< copied
  uint64_t bytes = 0;        ///< of these
  Offset at;                 ///< in the source: the next record
  Offset end;                ///< in the source: where the copy ends
  bool same_offsets = true;  ///< every record has the offset in the target that it has in the source
};

struct CopyOptions {
  std::optional<Offset> end = {};  ///< the first offset that is not copied; nullopt: the source's present head
  bool from_snapshot = false;      ///< the source may be trimmed: a snapshot covers what is missing
  size_t most_bytes_under_way = 8 * 1024 * 1024;
  std::function<void(const CopyProgress&)> progress = {};  ///< after every record
};

/// Copies records with their bytes unchanged, so that revisions, entry ids and hashes are those of the source; offsets
/// may differ, and nothing that is folded depends on them. Records that are written to the source meanwhile are not
/// copied. A target that holds the first records of the source, as an interrupted copy leaves it, is continued.
/// Errors: kConflict, the target holds anything else; kGone, the source is trimmed; those of both journals: the copy
/// can be repeated and continues.
Result<CopyProgress> copy_records(Journal& from, Journal& to, const CopyOptions& options);

/// What tells two journals apart, whatever their offsets.
struct JournalDigest {
  uint64_t entries = 0;
  uint64_t bytes = 0;
  Hash128 content;  ///< of all records' bytes, in their order
  Offset last;      ///< offset of the last record
  EntryId last_id;  ///< its entry; empty: there is none
  UtcMillis last_time;
  bool folded = false;
  Revision revision;  ///< if it was folded, as the state hash
  Hash128 state;
};

struct DigestOptions {
  std::optional<Offset> end = {};  ///< the first offset that is not read; nullopt: the present head
  bool fold = true;
  /// What to fold on from, and the first offset that it does not cover; nullopt: from nothing.
  const State* base = nullptr;
  Offset base_next = {};
};

/// Reads a journal from its first record, and folds it. Errors: those of reading; kCorrupt: a record is no entry, or
/// the state hash differs from one that the journal records, naming the offset.
Result<JournalDigest> digest_of(Journal& journal, const DigestOptions& options);

/// Computes both digests, at the same time, and compares them. Error: kCorrupt, naming the first thing that differs.
Result<JournalDigest> verify_copy(Journal& from, Journal& to, const DigestOptions& of_source);

}  // namespace shiplog
