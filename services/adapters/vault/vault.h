#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/value.h"
#include "events/journal/journal.h"
#include "services/runtime/replica.h"

namespace shiplog {

/// Keeps what must be forgotten out of the journal (design rule 8). The data of a Secret, and kubectl's copy of it in
/// the last-applied annotation, are stored as sealed text: AES-256-GCM under a key of the object's own. Keys live in a
/// store of their own (KeyStore), wrapped by the fleet's key, and are destroyed when the object goes; every copy of the
/// sealed text, in the journal, in old versions, in snapshots, is noise from then on. Equal plain texts of one object
/// seal to equal texts, so that an update without difference stays one. A key that is missing while its object exists
/// is lost: an error wherever the object is opened (decision 0029). Threads: any.
class Vault final : public Observer {
 public:
  /// Opens or makes `<folder>/keys.db` and the fleet's key `<folder>/fleet.key` (mode 0600). Errors: kIo; kInvalid, the
  /// fleet's key is missing although there are keys, or is not the one that wrapped them.
  static Result<std::unique_ptr<Vault>> open_folder(const std::string& folder);
  /// Keeps keys in a log instead (JournalKeyStore), and only the fleet's key in the folder. It is made when the log is
  /// new. Errors: those of the journal; kInvalid, the fleet's key is missing or another one.
  static Result<std::unique_ptr<Vault>> open_log(const std::string& folder, std::shared_ptr<Journal> keys);
  /// Keeps all keys in memory, for objects that end with the process.
  static std::unique_ptr<Vault> in_memory();
  ~Vault() override;

  /// Before an object is appended: seals what is plain in a Secret, and in the Secrets that a Work carries. Objects of
  /// other types pass unchanged.
  Result<Value> seal(const ObjectKey& key, Value object);
  /// Before an object that exists is served or used: opens what is sealed, at any depth (a Work carries Secrets as
  /// manifests). Errors: kCorrupt, a key is lost or the text was altered, naming the object; kGone, the key was
  /// destroyed, as the object it belongs to was removed meanwhile; those of the store.
  Result<Value> open(Value object);
  /// The same for a version from the past: text whose key was destroyed along with its object becomes empty.
  Result<Value> open_version(Value object);
  /// The same for an object that carries copies of others: what cannot be opened stays sealed, which no one takes for
  /// data.
  Result<Value> open_partly(Value object);
  /// Before a new state of such an object is appended: what was sealed in the stored one is sealed with the same key.
  /// Errors: kInvalid, sealed text that the stored one does not have in this place; kCorrupt, the key is lost.
  Result<Value> seal_like(const Value& stored, Value object);
  /// False: open() would leave the object with this JSON as it is.
  static bool may_hold_sealed(std::string_view json);
  /// Some text in it is, or looks, sealed: nothing that a client sends may.
  static bool has_sealed(const Value& object);

  /// Takes the objects that exist when this process begins to fold. On the fold thread, before the first on_folded().
  void load(const State& state);
  /// From now on looks every `every` whether the keys of existing objects are there, on a thread of its own. Keys that
  /// were removed from the store while this process had them in memory are put back; objects whose keys are lost are
  /// logged and passed to `lost`, once each.
  void watch_keys(Millis every, std::function<void(const std::vector<ObjectKey>& lost)> lost);
  /// Ends watch_keys().
  void stop();
  /// Existing objects whose keys are lost, as of the last look.
  size_t lost() const;

  /// The last states of an object, at each of its removals.
  using Removals = std::function<Result<std::vector<Value>>(const ObjectKey&)>;
  /// Destroys what on_folded() should have, for removals that this process will not fold again: the process that
  /// folded them may have been killed before it destroyed the keys. Once, after everything is folded.
  void destroy_removed_keys(const Removals& removals);

  /// Destroys the keys of deleted Secrets.
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

 private:
  struct Impl;
  explicit Vault(std::unique_ptr<Impl> impl);
  Result<Value> seal_manifests(Value work);
  void destroy_keys_in(const ObjectKey& object, const Value& state);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
