#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/random.h"
#include "events/fold/fold.h"
#include "events/proof/tree.h"
#include "events/sqlite/connection.h"
#include "projections/runner.h"
#include "projections/store/open.h"
#include "tests/support/must.h"
#include "tests/support/projection_rows.h"
#include "tests/support/test_directory.h"

// Shared by the tests of projections. Only they include it.
namespace shiplog {

using TemporaryFolder = TestDirectory;

inline ObjectKey config_map(const std::string& ns, const std::string& name) { return {"configmaps", ns, name}; }

inline Value object_value(const ObjectKey& key, const std::string& text = {}) {
  Value metadata = Value::object({{"name", key.name}});
  if (!key.ns.empty()) metadata.set("namespace", key.ns);
  return Value::object({{"metadata", std::move(metadata)}, {"data", Value::object({{"text", text}})}});
}

/// A journal in memory, folded and projected entry by entry.
class TestFleet {
 public:
  TestFleet() {
    open();
    for (const char* ns : {"default", "other"}) create({type::kNamespace, "", ns});
  }

  /// Stores, folds and applies one entry. Its time is a minute after the last one's.
  Folded write(Entry entry) {
    if (entry.id.empty()) entry.id = new_entry_id(random_);
    if (entry.time == UtcMillis{}) entry.time = now();
    if (entry.actor.user.empty()) entry.actor = {"alice", {"dev", "ops"}, "api", "10.0.0.1", "kubectl"};
    // Offsets with gaps, as Kafka's are.
    journal_.emplace_back(Offset{static_cast<int64_t>(journal_.size()) * 3}, std::move(entry));
    const auto& [offset, stored] = journal_.back();
    Folded folded = fold(state_, stored);
    const FoldedEntry batch[] = {{offset, stored, folded, leaf_of(stored)}};
    must(projections_->apply(batch, state_.meta()));
    return folded;
  }
  Folded write(std::vector<Event> events) {
    Entry entry;
    entry.events = std::move(events);
    return write(std::move(entry));
  }
  Folded create(const ObjectKey& key, const std::string& text = {}) {
    return write({ObjectCreated{key, object_value(key, text)}});
  }
  Folded update(const ObjectKey& key, const std::string& text) {
    return write({ObjectUpdated{key, object_value(key, text)}});
  }
  Folded remove(const ObjectKey& key) { return write({DeletionRequested{key}}); }

  /// The tree does not look into records: what tells them apart stands for their bytes here.
  static proof::Digest leaf_of(const Entry& entry) { return proof::leaf_hash(to_string(entry.id)); }

  /// Of the next entry.
  UtcMillis now() const { return {1'700'000'000'000 + static_cast<int64_t>(journal_.size()) * 60'000}; }

  /// Folds the journal from `restored` on into a file, `batch` entries at a time, and returns the resulting state.
  State follow(Projections& projections, const Restored& restored, size_t batch = 7) const {
    State state;
    EXPECT_TRUE(State::restore(restored.meta, restored.objects, restored.seen, state));
    std::vector<Folded> folded;
    std::vector<FoldedEntry> entries;
    folded.reserve(batch);
    for (const auto& [offset, entry] : journal_) {
      if (offset < restored.next) continue;
      folded.push_back(fold(state, entry));
      entries.push_back({offset, entry, folded.back(), leaf_of(entry)});
      if (entries.size() < batch && &entry != &journal_.back().second) continue;
      must(projections.apply(entries, state.meta()));
      entries.clear();
      folded.clear();
    }
    return state;
  }

  /// Closes the file and opens it again, as a restarted process does.
  Restored reopen() {
    projections_.reset();
    return open();
  }

  const std::string path() const { return folder.file("projection.db"); }
  Reader reader() const { return must(projections_->reader()); }
  Projections& projections() { return *projections_; }
  const State& state() const { return state_; }
  Revision revision() const { return state_.revision(); }
  const std::vector<std::pair<Offset, Entry>>& journal() const { return journal_; }
  Random& random() { return random_; }

  TemporaryFolder folder;

 private:
  Restored open() {
    auto opened = must(Projections::open(path()));
    projections_ = std::move(opened.projections);
    return std::move(opened.restored);
  }

  SeededRandom random_{7};
  std::vector<std::pair<Offset, Entry>> journal_;
  State state_;
  std::unique_ptr<Projections> projections_;
};

/// Every row of every table as text, to compare files.
inline std::vector<std::string> dump(const std::string& path) { return must(projection_rows(path)); }

}  // namespace shiplog
