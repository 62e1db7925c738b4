#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "events/base/result.h"
#include "events/journal/journal.h"
#include "services/programs/shiplogctl/replay.h"
#include "services/programs/shiplogctl/shared_work.h"

namespace shiplog::ctl {

/// Threads that decode beside the one that takes the records: one processor is that one's.
size_t decoding_threads();

/// The record whose bytes these are. `undecoded`: a decision is left undecoded, if its bytes permit it. Errors: those
/// of decode().
Result<ReplayRecord> record_from(Offset offset, std::string bytes, bool undecoded);

struct DecodingOptions {
  /// From there on decisions are left undecoded (ReplayRecord); nullopt: all are decoded.
  std::optional<Offset> undecoded_from = {};
  /// What the decoding threads take part in; nullptr: nothing. It outlives the records.
  SharedWork* work = nullptr;
  size_t threads = decoding_threads();
};

/// The records of the journal from `from` up to what is its end now, decoded by threads beside the one that takes them,
/// and by that one when it would wait; in their order. An entry that cannot be decoded is an error after all before it.
/// The journal must outlive it.
Result<Records> read_decoded(Journal& journal, Offset from, const DecodingOptions& options = {});

}  // namespace shiplog::ctl
