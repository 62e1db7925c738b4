#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/journal/journal.h"
#include "projections/store/reader.h"
#include "services/feeds/cloud_event.h"

namespace shiplog::feeds {

/// Some families of events, or all.
class FamilySet {
 public:
  static FamilySet all() { return FamilySet{~uint64_t{0}}; }
  static FamilySet none() { return FamilySet{0}; }
  void add(Family family) { bits_ |= bit(family); }
  bool has(Family family) const { return (bits_ & bit(family)) != 0; }
  bool meets(uint64_t families) const { return (bits_ & families) != 0; }
  bool operator==(const FamilySet&) const = default;

 private:
  explicit FamilySet(uint64_t bits) : bits_{bits} {}
  static uint64_t bit(Family family) { return uint64_t{1} << static_cast<unsigned>(family); }
  uint64_t bits_;
};
/// All of them, in the order of their numbers.
const std::vector<Family>& all_families();
/// "api", ..., or "all". Error: kNotFound, naming those that there are.
Result<FamilySet> parse_families(std::string_view name);

/// The source of a fleet's events: the uid of its namespace kube-system, by which Kubernetes identifies a cluster. It
/// is in the journal, so every process and every copy of the journal gives the same one. Error: kUnavailable, the
/// namespace does not exist (yet).
Result<std::string> source_of_fleet(const View& view);

/// Reads the feeds of a fleet: entries from its journal, what became of them and the objects from the projection. Keeps
/// a place, and at most a few records. Threads: one at a time.
class FeedReader {
 public:
  /// Both outlive it.
  FeedReader(Journal& journal, std::string source) : journal_{journal}, source_{std::move(source)} {}

  /// From the entry that made this revision, or else the next one: with revision 0, everything. Errors: kGone, the
  /// journal or the history does not reach back so far any more; kBadRequest, the revision is in the future.
  Result<void> begin_at(const View& view, Revision from);
  /// After this event. Errors: kGone, as above; kBadRequest, the journal is not that long.
  Result<void> begin_after(const View& view, const Sequence& event);
  /// From the entry at this offset. Errors: as above.
  Result<void> begin_at(const View& view, Offset offset);

  struct Limits {
    size_t entries = 256;
    size_t bytes = size_t{1} << 20U;  ///< of JSON; what is read may exceed it by one entry
  };
  struct Batch {
    std::vector<CloudEvent> events;
    size_t entries = 0;      ///< read, whether or not they have events of the families
    bool caught_up = false;  ///< there are no more in this view
  };
  /// The next events of these families, in order. After an error the place is that of the last batch.
  /// Errors: kGone, the next one was trimmed; kCorrupt; kUnavailable and kIo: may be retried.
  Result<Batch> read(const View& view, const FamilySet& families, const Limits& limits);

  /// All entries before this offset have been read.
  Offset next() const { return next_; }

 private:
  Result<void> check_retention(const View& view) const;
  Result<JournalRecord> record_at(Offset offset);
  Result<std::vector<CloudEvent>> events_of(const View& view, Offset offset, Revision revision);

  Journal& journal_;
  std::string source_;
  std::unique_ptr<Journal::Tail> tail_;
  std::deque<JournalRecord> records_;  // read from the tail, not used yet
  Offset next_;
  Revision revision_;  // before the entry at next_
  Sequence after_{Offset{-1}, 0};
};

}  // namespace shiplog::feeds
