#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "events/base/time.h"
#include "events/journal/journal.h"
#include "services/adapters/vault/key_store.h"

namespace shiplog {

/// Wrapped keys in a log that processes on several machines share: `<fleet>.keys`, a keyed topic of Kafka
/// (KafkaJournalOptions::keyed), whose records are overwritten and removed by their keys:
///
///   key/ID  {"object": "secrets/NAMESPACE/NAME", "wrapped": BASE64}   a tombstone destroys it
///   fleet/FINGERPRINT  {}                                             of the fleet's own key; the first one counts
///   roll  {}                                                          see below
///
/// Every process holds all of it in memory. Before it reports that a key does not exist, it reads up to the log's end,
/// so that no lag can make a Secret look destroyed. Destroying runs behind, on a thread of its own, and is tried until
/// it is done; a process that ends meanwhile leaves keys to to_look_after(). Once tombstones have lain for
/// `roll_after`, one more record is appended: a broker only compacts what it no longer writes to, and this makes it
/// begin a new file.
class JournalKeyStore final : public KeyStore {
 public:
  /// Reads all of it. Errors: of the journal.
  static Result<std::unique_ptr<JournalKeyStore>> open(std::shared_ptr<Journal> log,
                                                       Millis roll_after = Millis{65'000});
  ~JournalKeyStore() override;

  /// No fleet's key has been used with this log.
  bool is_new();
  /// Error: kInvalid, this log is of another key.
  Result<void> claim(const std::string& fingerprint);

  Result<std::optional<std::string>> find(std::string_view id) override;
  Result<bool> destroyed(std::string_view id) override;
  Result<std::string> newest_of(const ObjectKey& object) override;
  Result<void> add(const std::string& id, const ObjectKey& object, const std::string& wrapped) override;
  Result<void> destroy(const std::vector<std::string>& ids) override;
  /// Error: kCorrupt, the log is shorter than it was: it was created anew, and the keys are lost.
  Result<bool> changed() override;
  Result<std::vector<std::pair<std::string, std::string>>> all() override;
  Result<std::vector<StoredKey>> list() override;
  Result<std::string> fingerprint() override;
  Result<void> adopt(const std::string& fingerprint) override { return claim(fingerprint); }
  std::vector<ObjectKey> to_look_after() override;
  std::string describe() const override { return log_->describe(); }

 private:
  struct Stored {
    std::string object;
    std::string wrapped;
    int64_t offset = 0;
  };

  JournalKeyStore(std::shared_ptr<Journal> log, std::unique_ptr<Journal::Tail> tail, Millis roll_after)
      : log_{std::move(log)}, tail_{std::move(tail)}, roll_after_{roll_after} {}
  // Those below are called with the lock held.
  Result<void> refresh();
  Result<void> fold(const JournalRecord& record);
  void insert(const std::string& id, Stored key);
  void erase(const std::string& id);

  Result<Offset> append_now(std::string bytes);
  void run();
  /// Without the lock.
  Result<void> bury_some();

  const std::shared_ptr<Journal> log_;
  const std::unique_ptr<Journal::Tail> tail_;
  const Millis roll_after_;

  std::mutex mutex_;  // guards what follows
  std::map<std::string, Stored, std::less<>> keys_;
  std::map<std::string, std::map<int64_t, std::string>> by_object_;  // offset, id
  std::map<int64_t, std::string> fleets_;                            // offset, fingerprint
  std::set<std::string, std::less<>> absent_;     // read up to the end and not found: for ever, as ids are random
  std::set<std::string, std::less<>> buried_;     // of these: a tombstone was read
  int64_t read_to_ = 0;                           // the offset after the last record read
  int64_t looked_at_ = -1;                        // read_to_ at the last changed()
  std::set<std::string, std::less<>> condemned_;  // destroyed here; the log may not record it yet
  std::deque<std::string> to_bury_;               // of the condemned: want a tombstone
  std::set<std::string> unseen_;                  // of the condemned: not read yet, or destroyed long ago
  bool tombstones_ = false;                       // there are some that no `roll` has followed
  bool closing_ = false;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace shiplog
