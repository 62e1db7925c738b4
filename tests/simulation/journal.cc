#include "tests/simulation/journal.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "events/codec/codec.h"

namespace shiplog::simulation {

bool SimLog::muted(const std::string& author) const {
  const auto found = faults.muted.find(author.substr(0, author.find('.')));
  return found != faults.muted.end() && timeline_.now() < found->second;
}

void SimLog::write(std::string bytes, const std::string& author, Written done) {
  if (down()) return done(Error{ErrorCode::kUnknownOutcome, "the journal went away"});
  disk_.write(bytes);
  Pending pending{author, std::move(done), Offset{}};
  if (serve_unsynced) pending.offset = store(std::move(bytes), author);
  pending_.push_back(std::move(pending));
  if (std::exchange(syncing_, true)) return;
  timeline_.after(Millis{chance_.between(0, 3)}, [this] { tears_ ? fail() : sync(); });
}

void SimLog::sync() {
  syncing_ = false;
  std::deque<Pending> pending = std::exchange(pending_, {});
  for (std::string& bytes : disk_.sync()) {
    const Pending one = std::move(pending.front());
    pending.pop_front();
    one.done(serve_unsynced ? one.offset : store(std::move(bytes), one.author));
  }
}

void SimLog::fail() {
  const auto [time, seed] = *std::exchange(tears_, std::nullopt);
  Chance chance{seed};
  syncing_ = false;
  down_until_ = timeline_.now() + time;
  disk_.tear(chance);
  std::deque<Pending> pending = std::exchange(pending_, {});
  // Recovered at once, read when it is back: no reader observes the difference.
  for (std::string& bytes : disk_.recover()) {
    if (!serve_unsynced) store(std::move(bytes), pending.front().author);
    pending.front().done(Error{ErrorCode::kUnknownOutcome, "the journal went away"});
    pending.pop_front();
  }
  ++happened["tear"];
  torn_records_ += pending.size();
  for (const Pending& lost : pending) {
    if (serve_unsynced) lose(lost.offset);
    lost.done(Error{ErrorCode::kUnknownOutcome, "the journal went away"});
  }
  timeline_.after(time, [this] {
    if (!down()) come_back();
  });
}

void SimLog::repair() {
  down_until_ = std::min(down_until_, timeline_.now());
  tears_.reset();
  come_back();
}

void SimLog::come_back() {
  for (const Listener& listener : listeners_) listener(nullptr);
}

Offset SimLog::store(std::string bytes, const std::string& author) {
  if (chance_.permille(faults.gaps)) next_.value += chance_.between(1, 3);
  const Offset offset = next_;
  next_.value += 1;
  auto decoded = decode(bytes);
  auto entry = decoded ? std::make_shared<const Entry>(std::move(decoded).value()) : nullptr;
  const auto [at, added] = records_.emplace(offset, Stored{offset, std::move(bytes), author, std::move(entry)});
  for (const Listener& listener : listeners_) listener(&at->second);
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
  Chance chance;
  SimLog& log;
  std::string author;
  std::deque<Sent> sent;
  bool alive = true;

  Fate draw() {
    const JournalFaults& faults = log.faults;
    if (log.muted(author)) {
      ++log.happened["append of a process apart"];
      return chance.permille(500) ? Fate::kRefused : Fate::kLost;
    }
    uint64_t drawn = chance.below(1000);
    for (const auto& [often, fate, name] : {std::tuple{faults.lost_ack, Fate::kAckLost, "lost-ack"},
                                            std::tuple{faults.lost_append, Fate::kLost, "lost-append"},
                                            std::tuple{faults.late_append, Fate::kLate, "late"},
                                            std::tuple{faults.refused, Fate::kRefused, "unavailable"},
                                            std::tuple{faults.stored_twice, Fate::kStoredTwice, "stored-twice"}}) {
      if (drawn < often) {
        ++log.happened[name];
        return fate;
      }
      drawn -= often;
    }
    return Fate::kStored;
  }

  void answer(Appended done, Result<Offset> result, const std::shared_ptr<Connection>& self) {
    timeline.after(Millis{chance.between(0, log.faults.latency_ms)},
                   [self, done = std::move(done), result = std::move(result)] {
                     if (self->alive) done(result);
                   });
  }

  void arrive(const std::shared_ptr<Connection>& self) {
    Sent one = std::move(sent.front());
    sent.pop_front();
    // A process that dies loses some of what is not acknowledged.
    if (!alive && chance.permille(300)) return;
    const Error unknown{ErrorCode::kUnknownOutcome, "the connection broke before the answer"};
    const auto again = [self, bytes = one.bytes] { self->log.write(bytes, self->author, [](const auto&) {}); };
    switch (one.fate) {
      case Fate::kRefused:
        return answer(std::move(one.done), Error{ErrorCode::kUnavailable, "the journal takes nothing now"}, self);
      case Fate::kLost:
        return answer(std::move(one.done), unknown, self);
      case Fate::kLate:
        timeline.after(Millis{chance.between(1, 4000)}, again);
        return answer(std::move(one.done), unknown, self);
      case Fate::kAckLost:
        again();
        return answer(std::move(one.done), unknown, self);
      case Fate::kStoredTwice:
        timeline.after(Millis{chance.between(0, 2000)}, again);
        [[fallthrough]];
      case Fate::kStored:
        log.write(std::move(one.bytes), author, [self, done = std::move(one.done)](const Result<Offset>& written) {
          self->answer(done, written, self);
        });
    }
  }
};

SimJournal::SimJournal(Timeline& timeline, Chance& chance, SimLog& log, std::string author)
    : timeline_{timeline},
      log_{log},
      connection_{std::make_shared<Connection>(
          Connection{timeline, Chance{chance.random().next()}, log, std::move(author), {}, true})} {}

SimJournal::~SimJournal() { connection_->alive = false; }

void SimJournal::append(std::string bytes, Appended done) {
  if (bytes.size() > kMaxEntryBytes) {
    return connection_->answer(std::move(done), Error{ErrorCode::kTooLarge, "the entry is too large"}, connection_);
  }
  if (tamper) tamper(bytes);
  connection_->sent.push_back({std::move(bytes), connection_->draw(), std::move(done)});
  timeline_.after(Millis{connection_->chance.between(0, log_.faults.latency_ms)},
                  [connection = connection_] { connection->arrive(connection); });
}

namespace {

class SimTail final : public Journal::Tail {
 public:
  SimTail(SimLog& log, Offset from) : log_{log}, from_{from} {}

  /// Waits for nothing: time does not pass inside a call.
  Result<std::vector<JournalRecord>> next(size_t max_records, Millis) override {
    std::vector<JournalRecord> read;
    if (stopped_ || log_.down()) return read;
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

Result<Offset> SimJournal::head() {
  if (log_.down() || log_.muted(connection_->author)) return Error{ErrorCode::kUnavailable, "the journal is away"};
  return log_.head();
}

Result<void> SimJournal::trim(Offset before) {
  log_.trim(std::min(before, log_.head()));
  return ok();
}

}  // namespace shiplog::simulation
