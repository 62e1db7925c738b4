#pragma once

#include <optional>
#include <string>
#include <vector>

#include "events/sqlite/unpacked.h"

namespace shiplog {

/// A text as a column contains it, kept.
struct PreparedText {
  std::string bytes;
  bool compressed = false;
  sqlite::PackedText view() const { return {bytes, compressed}; }
};

/// What rows of one entry follow from the entry alone, and take longest to make: on another thread than the one that
/// writes them.
struct PreparedRows {
  std::vector<std::optional<PreparedText>> bases;         ///< of each change that makes an object: its JSON
  std::vector<std::optional<PreparedText>> explanations;  ///< of each event that is a decision
};

}  // namespace shiplog
