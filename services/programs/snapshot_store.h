#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "services/programs/snapshot_files.h"

namespace shiplog {

/// Named bytes somewhere else: a folder, or a server that takes PUT and GET. Threads: any.
class BlobStore {
 public:
  virtual ~BlobStore() = default;
  /// Whole or not at all, and replaces what has this name. Errors: kIo, kUnavailable.
  virtual Result<void> put(const std::string& name, std::string bytes) = 0;
  /// Errors: kNotFound; kIo, kUnavailable.
  virtual Result<std::string> get(const std::string& name) = 0;
  /// It need not exist. A store that cannot delete keeps it.
  virtual void remove(const std::string& name) = 0;
};

/// "file:///DIR", "http(s)://HOST/PATH". Error: kInvalid.
Result<std::unique_ptr<BlobStore>> open_blob_store(const std::string& address);

/// Keeps the newest two snapshots of each journal of a fleet in a BlobStore, so that a process on another machine can
/// start from them. A snapshot is cut into parts, and named in `<journal>/manifest.json` once all of them are stored;
/// every part has its SHA-256 there. Snapshots contain Secrets sealed, and no key. Threads: any.
class SnapshotStore {
 public:
  explicit SnapshotStore(std::unique_ptr<BlobStore> blobs) : blobs_{std::move(blobs)} {}

  /// `journal`: "journal" or "ephemera". Does nothing when the newest one there covers as much.
  Result<void> publish(const std::string& journal, const VerifiedSnapshot& snapshot);
  /// Fetches the newest snapshot that covers everything before `from` and nothing at or after `to` into `folder`, where
  /// it appears once it is complete and verified; nullopt: there is none. What is damaged is logged and left out.
  Result<std::optional<VerifiedSnapshot>> fetch(const std::string& journal, const std::string& folder, Offset from,
                                                Offset to);

 private:
  struct Entry;
  Result<std::vector<Entry>> list(const std::string& journal);
  Result<VerifiedSnapshot> fetch_one(const std::string& journal, const Entry& entry, const std::string& folder);

  const std::unique_ptr<BlobStore> blobs_;
  std::mutex mutex_;  // one call at a time
};

}  // namespace shiplog
