#include "tests/simulation/journal.h"

#include <algorithm>
#include <utility>

namespace shiplog::simulation {

Offset SimLog::store(std::string bytes, const std::string& author) {
  if (chance_.permille(faults.gaps)) next_.value += chance_.between(1, 3);
  const Offset offset = next_;
  next_.value += 1;
  const auto [at, added] = records_.emplace(offset, Stored{offset, std::move(bytes), author});
  for (const Listener& listener : listeners_) listener(at->second);
  return offset;
}

/// Appends wait here in their order. It outlives the process: what was sent arrives.
struct SimJournal::Connection {
  enum class Fate { kStored, kStoredTwice, kAckLost, kLost, kLate, kRefused };
  struct Sent {
    std::string bytes;
    Fate fate;
    Appended done;
  };
  Timeline& timeline;
  Chance& chance;
  SimLog& log;
  std::string author;
  std::deque<Sent> sent;
  bool alive = true;

  void answer(Appended done, Result<Offset> result, const std::shared_ptr<Connection>& self) {
    timeline.after(Millis{chance.between(0, log.faults.latency_ms)},
                   [self, done = std::move(done), result = std::move(result)] {
                     if (self->alive) done(result);
                   });
  }

  void arrive(const std::shared_ptr<Connection>& self) {
    Sent one = std::move(sent.front());
    sent.pop_front();
    // A process that dies takes some of what it has not been told about with it.
    if (!alive && chance.permille(300)) return;
    const Error unknown{ErrorCode::kUnknownOutcome, "the connection broke before the answer"};
    switch (one.fate) {
      case Fate::kRefused:
        return answer(std::move(one.done), Error{ErrorCode::kUnavailable, "the journal takes nothing now"}, self);
      case Fate::kLost:
        return answer(std::move(one.done), unknown, self);
      case Fate::kLate:
        timeline.after(Millis{chance.between(1, 4000)},
                       [self, bytes = std::move(one.bytes)] { self->log.store(bytes, self->author); });
        return answer(std::move(one.done), unknown, self);
      case Fate::kAckLost:
        log.store(std::move(one.bytes), author);
        return answer(std::move(one.done), unknown, self);
      case Fate::kStoredTwice:
        timeline.after(Millis{chance.between(0, 2000)},
                       [self, bytes = one.bytes] { self->log.store(bytes, self->author); });
        [[fallthrough]];
      case Fate::kStored:
        return answer(std::move(one.done), log.store(std::move(one.bytes), author), self);
    }
  }
};

SimJournal::SimJournal(Timeline& timeline, Chance& chance, SimLog& log, std::string author)
    : timeline_{timeline},
      chance_{chance},
      log_{log},
      connection_{std::make_shared<Connection>(Connection{timeline, chance, log, std::move(author), {}, true})} {}

SimJournal::~SimJournal() { connection_->alive = false; }

void SimJournal::append(std::string bytes, Appended done) {
  using Fate = Connection::Fate;
  if (bytes.size() > kMaxEntryBytes) {
    return connection_->answer(std::move(done), Error{ErrorCode::kTooLarge, "the entry is too large"}, connection_);
  }
  if (tamper) tamper(bytes);
  const JournalFaults& faults = log_.faults;
  Fate fate = Fate::kStored;
  uint64_t drawn = chance_.below(1000);
  for (const auto& [often, what] :
       {std::pair{faults.lost_ack, Fate::kAckLost}, std::pair{faults.lost_append, Fate::kLost},
        std::pair{faults.late_append, Fate::kLate}, std::pair{faults.refused, Fate::kRefused},
        std::pair{faults.stored_twice, Fate::kStoredTwice}}) {
    if (drawn < often) {
      fate = what;
      break;
    }
    drawn -= often;
  }
  connection_->sent.push_back({std::move(bytes), fate, std::move(done)});
  timeline_.after(Millis{chance_.between(0, faults.latency_ms)},
                  [connection = connection_] { connection->arrive(connection); });
}

namespace {

class SimTail final : public Journal::Tail {
 public:
  SimTail(SimLog& log, Offset from) : log_{log}, from_{from} {}

  /// Waits for nothing: time does not pass inside a call.
  Result<std::vector<JournalRecord>> next(size_t max_records, Millis) override {
    std::vector<JournalRecord> read;
    if (stopped_) return read;
    if (from_ < log_.oldest()) {
      return Error{ErrorCode::kGone, "offset " + std::to_string(from_.value) + " was trimmed"};
    }
    for (auto at = log_.records().lower_bound(from_); at != log_.records().end() && read.size() < max_records; ++at) {
      read.push_back({at->first, at->second.bytes});
      from_ = Offset{at->first.value + 1};
    }
    return read;
  }
  void stop() override { stopped_ = true; }

 private:
  SimLog& log_;
  Offset from_;
  bool stopped_ = false;
};

}  // namespace

Result<std::unique_ptr<Journal::Tail>> SimJournal::tail(Offset from) {
  const Offset first = from.value <= 0 ? log_.oldest() : from;
  return std::unique_ptr<Tail>(std::make_unique<SimTail>(log_, first));
}

Result<void> SimJournal::trim(Offset before) {
  log_.trim(std::min(before, log_.head()));
  return ok();
}

}  // namespace shiplog::simulation
