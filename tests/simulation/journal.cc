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
  Pending pending{author, std::move(done), Offset{}, {}};
  if (file_) {
    pending.bytes = bytes;
  } else {
    disk_.write(bytes);
  }
  if (serve_unsynced) pending.offset = store(std::move(bytes), author);
  pending_.push_back(std::move(pending));
  if (std::exchange(syncing_, true)) return;
  timeline_.after(Millis{chance_.between(0, 3)}, [this] { tears_ ? fail() : sync(); });
}

void SimLog::sync() {
  syncing_ = false;
  if (file_) return sync_file();
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
  if (file_) {
    ++happened["tear"];
    file_->die_soon(chance);
    sync_file();
    restart_file(chance);
    return timeline_.after(time, [this] {
      if (!down()) come_back();
    });
  }
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

void SimLog::keep_in(std::string folder, Broken broken) {
  file_.emplace(std::move(folder));
  broken_ = std::move(broken);
  if (const auto opened = file_->open(); !opened) broken_("lost", opened.error().message);
}

void SimLog::trim(Offset before) {
  oldest_ = std::max(oldest_, before);
  // Failing is no error: what is left is not read.
  if (file_) static_cast<void>(file_->trim(oldest_.value));
}

/// As the journal's thread stores a group, and answers.
void SimLog::sync_file() {
  std::deque<Pending> pending = std::exchange(pending_, {});
  std::vector<std::string_view> group;
  for (const Pending& one : pending) group.emplace_back(one.bytes);
  const auto first = file_->store(group);
  if (first) {
    refused_.clear();
    if (first.value() != next_.value) broken_("lost", "the file has another end than what was acknowledged");
    for (Pending& one : pending) one.done(store(std::move(one.bytes), one.author));
    return;
  }
  ++happened["disk: append failed"];
  for (Pending& one : pending) {
    if (first.error().code != ErrorCode::kUnknownOutcome) refused_.insert(one.bytes);
    authors_[std::move(one.bytes)] = one.author;
    one.done(first.error());
  }
}

/// All that was acknowledged is there. What is there besides was not answered, or "unknown", or has come back.
void SimLog::restart_file(Chance& chance) {
  const bool power_fails = chance.permille(600);
  if (const auto opened = file_->restart(power_fails, chance); !opened) {
    return broken_("lost", "the journal after a failure of its disk: " + opened.error().message);
  }
  const auto all = file_->read(oldest_.value);
  if (!all) return broken_("lost", "the journal after a failure of its disk: " + all.error().message);
  auto read = all.value().begin();
  for (auto at = records_.lower_bound(oldest_); at != records_.end(); ++at, ++read) {
    if (read != all.value().end() && *read == at->second.bytes) continue;
    return broken_("lost", "after a failure of the journal's disk offset " + std::to_string(at->first.value) +
                               (read == all.value().end() ? " is gone" : " has another record"));
  }
  for (; read != all.value().end(); ++read) {
    const auto author = authors_.find(*read);
    if (author == authors_.end()) return broken_("lost", "the journal has a record that no process appended");
    if (refused_.contains(*read)) {
      if (!power_fails) broken_("lost", "a record that was answered as not stored is there after a crash");
      came_back_.insert(next_);
      ++happened["disk: refused record came back"];
    }
    store(*read, author->second);
  }
  refused_.clear();
}

void SimLog::check_file(Chance chance) {
  if (!file_) return;
  const auto all = file_->read(oldest_.value);
  if (!all) return broken_("lost", "the journal's file at the end: " + all.error().message);
  std::vector<std::string> expected;
  for (auto at = records_.lower_bound(oldest_); at != records_.end(); ++at) expected.push_back(at->second.bytes);
  if (all.value() != expected) return broken_("lost", "the journal's file has other records than were acknowledged");
  std::vector<std::string> found;
  const auto intact = file_->read_damaged(chance, oldest_.value, found);
  ++happened[intact ? "damage that hit nothing" : "damage found"];
  const auto differs = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  if (differs.first != found.end()) broken_("damage", "a damaged record is read as if it were none");
  if (intact && found.size() < expected.size()) {
    broken_("damage", std::to_string(expected.size() - found.size()) + " records are lost without an error");
  }
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

  void store(Sent one, const std::shared_ptr<Connection>& self, const std::shared_ptr<bool>& refused) {
    log.write(std::move(one.bytes), author, [self, refused, done = std::move(one.done)](const Result<Offset>& written) {
      *refused = !written && written.error().code != ErrorCode::kUnknownOutcome;
      self->answer(done, written, self);
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
      case Fate::kStoredTwice: {
        // What was certainly not stored is not delivered again.
        const auto refused = std::make_shared<bool>(false);
        timeline.after(Millis{chance.between(0, 2000)}, [again, refused] {
          if (!*refused) again();
        });
        return store(std::move(one), self, refused);
      }
      case Fate::kStored:
        store(std::move(one), self, std::make_shared<bool>(false));
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
