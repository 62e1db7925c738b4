#pragma once

#include <utility>
#include <vector>

#include "events/entry.h"

namespace shiplog::samples {

/// For tests: one event of every kind, every field set to something other than its default. A kind without a sample
/// does not compile.
///
/// Samples are also what the bytes in tests/replay/golden are compared with, so a sample never changes. A field added
/// to a kind later is set from the next generation on: `if (generation >= 2) event.added = ...`, with
/// kNewestGeneration raised. A kind that a generation leaves alone needs no new bytes.
inline constexpr int kNewestGeneration = 9;

std::vector<Event> every_kind(int generation = kNewestGeneration);

/// An entry with every field set, around these events.
Entry entry_of(std::vector<Event> events, int generation = kNewestGeneration);

/// An entry of a produced request, every field of its source set. Since generation 7.
Entry produced_entry();

}  // namespace shiplog::samples
