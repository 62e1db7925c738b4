#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "events/journal/journal.h"

namespace shiplog {

/// The error that every backend returns for an entry of this size; nullopt if it is within the limit.
inline std::optional<Error> refuse_size(size_t bytes) {
  if (bytes <= kMaxEntryBytes) return std::nullopt;
  return Error{ErrorCode::kTooLarge, "an entry of " + std::to_string(bytes) + " bytes exceeds the journal's limit of " +
                                         std::to_string(kMaxEntryBytes) + " bytes; nothing was stored"};
}

/// The error of a tail if `wanted` is before the oldest record.
inline Error gone(const std::string& journal, Offset wanted, Offset oldest) {
  return {ErrorCode::kGone, "journal " + journal + ": the record at offset " + std::to_string(wanted.value) +
                                " was trimmed; the oldest record is at offset " + std::to_string(oldest.value) +
                                ": start from a snapshot taken at or after it"};
}

/// A tail's timeout, limited to one day so that adding it to a clock cannot overflow.
inline std::chrono::milliseconds longest_wait(Millis timeout) {
  return std::chrono::milliseconds(std::clamp<int64_t>(timeout.value, 0, 24 * 3600 * 1000));
}

}  // namespace shiplog
