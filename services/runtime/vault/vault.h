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
/// seal to equal texts, so that an update without difference stays one. Threads: any.
class Vault final : public Observer {
 public:
  /// Opens or makes `<folder>/keys.db` and the fleet's key `<folder>/fleet.key` (mode 0600). Errors: kIo; kCorrupt, the
  /// fleet's key is not the one that wrapped the keys.
  static Result<std::unique_ptr<Vault>> open_folder(const std::string& folder);
  /// Keeps keys in a log instead (JournalKeyStore), and only the fleet's key in the folder. It is made when the log is
  /// new. Errors: those of the journal; kInvalid, the fleet's key is missing or another one.
  static Result<std::unique_ptr<Vault>> open_log(const std::string& folder, std::shared_ptr<Journal> keys);
  ~Vault() override;

  /// Before an object is appended: seals what is plain in a Secret, and in the Secrets that a Work carries. Objects of
  /// other types pass unchanged.
  Result<Value> seal(const ObjectKey& key, Value object);
  /// Before an object is served or used: opens what is sealed, at any depth (a Work carries Secrets as manifests).
  /// Text whose key is destroyed becomes empty.
  Result<Value> open(Value object);
  /// False: open() would leave the object with this JSON as it is.
  static bool may_hold_sealed(std::string_view json);

  /// The last states of an object, at each of its removals.
  using Removals = std::function<Result<std::vector<Value>>(const ObjectKey&)>;
  /// Destroys what on_folded() should have, of removals that this process will not fold any more: whoever did may have
  /// been killed before it was done. Once, after everything is folded.
  void look_after(const Removals& removals);

  /// Destroys the keys of Secrets that are gone.
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

 private:
  struct Impl;
  explicit Vault(std::unique_ptr<Impl> impl);
  Result<Value> seal_manifests(Value work);
  void destroy_keys_in(const ObjectKey& object, const Value& state);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
