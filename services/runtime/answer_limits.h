#pragma once

#include <cstddef>

namespace shiplog {

/// The longest answer to a question that is recorded, as JSON; the answers of one entry have at most this size
/// together. An entry is limited to kMaxEntryBytes (events/journal/journal.h), and what is decided from an answer often
/// contains it.
inline constexpr size_t kMostAnswerBytes = size_t{1} << 20;
/// The longest reason of a failure that is recorded; longer ones are cut.
inline constexpr size_t kMostFailureBytes = size_t{4} << 10;

}  // namespace shiplog
