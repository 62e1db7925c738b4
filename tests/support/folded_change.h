#pragma once

#include <utility>

#include "events/fold/fold.h"

namespace shiplog::test {

/// What the fold reports of one change to an object, for observers that a test calls without a journal.
inline Folded folded_change(const ObjectKey& key, const Value& before, const Value& after) {
  Folded folded;
  Change change;
  change.object = key;
  change.before = before;
  change.after = after;
  folded.changes.push_back(std::move(change));
  return folded;
}

}  // namespace shiplog::test
