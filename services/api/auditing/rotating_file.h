#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "events/base/result.h"
#include "events/base/time.h"

namespace shiplog::api {

/// A log file that is renamed when it is full, as the library lumberjack does for kube-apiserver: audit.log becomes
/// audit-2006-01-02T15-04-05.000.log, in UTC, or the same with .gz. One writer. Files have mode 0600.
class RotatingFile {
 public:
  struct Options {
    std::string path;
    uint64_t most_bytes = 100ULL * 1024 * 1024;
    size_t most_backups = 0;  ///< 0: any number
    int64_t most_days = 0;    ///< 0: any age
    bool compress = false;
    const Clock* clock = nullptr;
  };
  /// Continues the file, if there is one; makes its folder, if there is none. Error: kIo, naming the file.
  static Result<std::unique_ptr<RotatingFile>> open(Options options);
  /// Waits for a compression that is under way.
  ~RotatingFile();

  /// Appends the lines, after a rotation if the file would become too long. What is longer than a whole file gets one
  /// of its own. Error: kIo; then no part of them is in the file.
  Result<void> append(std::string_view lines);

 private:
  struct Impl;
  explicit RotatingFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog::api
