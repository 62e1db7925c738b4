#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/value.h"
#include "services/runtime/replica.h"

namespace shiplog {

/// Keeps what must be forgotten out of the journal (design rule 8). The data of a Secret, and kubectl's copy of it in
/// the last-applied annotation, are stored as sealed text: AES-256-GCM under a key of the object's own. Keys live in a
/// small SQLite file, wrapped by the fleet's key, and are destroyed when the object goes; every copy of the sealed
/// text, in the journal, in old versions, in snapshots, is noise from then on. Equal plain texts of one object seal to
/// equal texts, so that an update without difference stays one. Threads: any.
class Vault final : public Observer {
 public:
  /// Opens or makes `<folder>/keys.db` and the fleet's key `<folder>/fleet.key` (mode 0600). Errors: kIo; kCorrupt, the
  /// fleet's key is not the one that wrapped the keys.
  static Result<std::unique_ptr<Vault>> open_folder(const std::string& folder);
  ~Vault() override;

  /// Before an object is appended: seals what is plain. Objects of other types pass unchanged.
  Result<Value> seal(const ObjectKey& key, Value object);
  /// Before an object is served or used: opens what is sealed, at any depth (a Work carries Secrets as manifests).
  /// Text whose key is destroyed becomes empty.
  Result<Value> open(Value object);

  /// Destroys the keys of Secrets that are gone.
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

 private:
  struct Impl;
  explicit Vault(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
