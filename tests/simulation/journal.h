#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "events/journal/journal.h"
#include "tests/simulation/timeline.h"

namespace shiplog::simulation {

/// How often, of a thousand appends, the journal does what a journal may do.
struct JournalFaults {
  uint64_t lost_ack = 0;      ///< stored, and answered "unknown"
  uint64_t lost_append = 0;   ///< not stored, and answered "unknown"
  uint64_t late_append = 0;   ///< answered "unknown", and stored some time later
  uint64_t refused = 0;       ///< certainly not stored
  uint64_t stored_twice = 0;  ///< a producer's retry that the broker did not recognise
  int64_t latency_ms = 2;     ///< at most
  uint64_t gaps = 0;          ///< offsets left out
};

/// What all processes share: the records, and nothing else. Everything ever stored is kept for the checks, also what
/// was trimmed for everybody else.
class SimLog {
 public:
  struct Stored {
    Offset offset;
    std::string bytes;
    std::string author;  ///< the process, with its life: "p2.1"
  };
  /// Told of each record as it is stored.
  using Listener = std::function<void(const Stored&)>;

  explicit SimLog(Chance& chance) : chance_{chance} {}
  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }

  Offset store(std::string bytes, const std::string& author);
  /// Everything before is no longer read by anybody.
  void trim(Offset before) { oldest_ = std::max(oldest_, before); }
  Offset head() const { return next_; }
  Offset oldest() const { return oldest_; }
  /// By offset.
  const std::map<Offset, Stored>& records() const { return records_; }

  JournalFaults faults;
  /// What a broken disk does; only the tests of the checks themselves use it.
  void lose(Offset offset) { records_.erase(offset); }

 private:
  Chance& chance_;
  std::map<Offset, Stored> records_;
  std::vector<Listener> listeners_;
  Offset next_;
  Offset oldest_;
};

/// The journal as one life of one process sees it. When it is destroyed, what was under way may still be stored, but
/// nobody is told.
class SimJournal final : public Journal {
 public:
  /// May change what is about to be stored: how the tests of the checks break the rules.
  using Tamper = std::function<void(std::string& bytes)>;

  SimJournal(Timeline& timeline, Chance& chance, SimLog& log, std::string author);
  ~SimJournal() override;

  void append(std::string bytes, Appended done) override;
  Result<std::unique_ptr<Tail>> tail(Offset from) override;
  Result<Offset> head() override { return log_.head(); }
  Result<Offset> oldest() override { return log_.oldest(); }
  Result<void> trim(Offset before) override;
  std::string describe() const override { return "simulated"; }

  Tamper tamper;

 private:
  struct Connection;
  Timeline& timeline_;
  Chance& chance_;
  SimLog& log_;
  std::shared_ptr<Connection> connection_;
};

}  // namespace shiplog::simulation
