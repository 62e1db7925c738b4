#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "events/entry.h"
#include "events/journal/journal.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/stored_journal.h"
#include "tests/simulation/timeline.h"

namespace shiplog::simulation {

/// How often, of a thousand appends, the journal does what a journal may do.
struct JournalFaults {
  uint64_t lost_ack = 0;                   ///< stored, and answered "unknown"
  uint64_t lost_append = 0;                ///< not stored, and answered "unknown"
  uint64_t late_append = 0;                ///< answered "unknown", and stored some time later
  uint64_t refused = 0;                    ///< certainly not stored
  uint64_t stored_twice = 0;               ///< a producer's retry that the broker did not recognise
  int64_t latency_ms = 2;                  ///< at most
  uint64_t gaps = 0;                       ///< offsets left out
  std::map<std::string, UtcMillis> muted;  ///< processes that do not reach it, by name, and until when
};

/// What all processes share: the records, and nothing else. A record is written to the disk, then synced together with
/// others, then seen and acknowledged. Everything ever stored is kept for the checks, also what was trimmed for
/// everybody else.
class SimLog {
 public:
  struct Stored {
    Offset offset;
    std::string bytes;
    std::string author;                  ///< the process, with its life: "p2.1"
    std::shared_ptr<const Entry> entry;  ///< the bytes, decoded once for all; nullptr when they do not decode
  };
  /// Told of each record as it is stored; of nullptr when there may be more to read, after a failure.
  using Listener = std::function<void(const Stored*)>;
  using Written = std::function<void(const Result<Offset>&)>;

  SimLog(Timeline& timeline, Chance chance) : timeline_{timeline}, chance_{chance} {}
  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }
  /// The records are kept there from now on; `broken` is called when that file lacks something.
  using Broken = std::function<void(const char* rule, std::string text)>;
  void keep_in(std::string folder, Broken broken);
  /// At the end: all acknowledged records are in the file, and damage of it is found when it is read.
  void check_file(Chance chance);

  void write(std::string bytes, const std::string& author, Written done);
  /// The journal fails as it next writes: of what is not synced a part is there, and down to some byte. When it comes
  /// back it drops the record that was torn, and all after it.
  void tear(Millis down, uint64_t seed) { tears_ = {down, seed}; }
  /// Comes back at once.
  void repair();
  bool down() const { return timeline_.now() < down_until_; }
  /// For the process with this identity, "p2.1".
  bool muted(const std::string& author) const;

  /// Nothing before is read by any process.
  void trim(Offset before);
  Offset head() const { return next_; }
  Offset oldest() const { return oldest_; }
  /// By offset.
  const std::map<Offset, Stored>& records() const { return records_; }
  uint64_t torn_records() const { return torn_records_; }
  /// Whether the record was answered "not stored", and is stored all the same: after a failed sync a loss of power can
  /// bring it back, until the next sync that succeeds.
  bool came_back(Offset offset) const { return came_back_.contains(offset); }

  JournalFaults faults;
  std::map<std::string, uint64_t> happened;  ///< by what went wrong with an append
  /// Rules broken on purpose: what a broken disk does; and readers that see what is not synced.
  void lose(Offset offset) { records_.erase(offset); }
  bool serve_unsynced = false;

 private:
  struct Pending {
    std::string author;
    Written done;
    Offset offset;      // only when it was served already
    std::string bytes;  // only with a file
  };
  Offset store(std::string bytes, const std::string& author);
  void sync();
  void sync_file();
  void fail();
  void restart_file(Chance& chance);
  void come_back();

  Timeline& timeline_;
  Chance chance_;
  SimDisk disk_;
  std::deque<Pending> pending_;  // one for each record that the disk has not synced
  bool syncing_ = false;
  std::optional<std::pair<Millis, uint64_t>> tears_;
  uint64_t torn_records_ = 0;
  UtcMillis down_until_;
  std::map<Offset, Stored> records_;
  std::optional<StoredJournal> file_;
  Broken broken_;
  std::map<std::string, std::string> authors_;  // of what is not in records_ and may be in the file, by its bytes
  std::set<std::string> refused_;               // the same, which was answered "not stored"
  std::set<Offset> came_back_;
  std::vector<Listener> listeners_;
  Offset next_;
  Offset oldest_;
};

/// The journal as one life of one process sees it. When it is destroyed, what was under way may still be stored, but
/// no process is notified.
class SimJournal final : public Journal {
 public:
  /// May change what is about to be stored: how the tests of the checks break the rules.
  using Tamper = std::function<void(std::string& bytes)>;

  SimJournal(Timeline& timeline, Chance& chance, SimLog& log, std::string author);
  ~SimJournal() override;

  void append(std::string bytes, Appended done) override;
  Result<std::unique_ptr<Tail>> tail(Offset from) override;
  Result<Offset> head() override;
  Result<Offset> oldest() override { return log_.oldest(); }
  Result<void> trim(Offset before) override;
  std::string describe() const override { return "simulated"; }

  Tamper tamper;

 private:
  struct Connection;
  Timeline& timeline_;
  SimLog& log_;
  std::shared_ptr<Connection> connection_;
};

}  // namespace shiplog::simulation
