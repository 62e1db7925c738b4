#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "events/base/time.h"

namespace shiplog {

/// The queue of a role in the process that leads it.
struct RoleFigures {
  std::string role;
  bool acting = false;          ///< this process decides for the role; else all that follows is 0
  uint64_t epoch = 0;           ///< 0 of a divided role, whose slots have epochs of their own
  std::vector<int> slots = {};  ///< of a divided role: those that this process has
  size_t queued = 0;            ///< keys that are due
  size_t busy = 0;              ///< keys that are being reconciled
  uint64_t retries = 0;         ///< steps that failed since this process became leader
  Millis waiting{0};            ///< how long the key that is reconciled next has been due
};

/// What one process reports of itself. It knows no other process's queues: processes share only the journal.
struct ProcessFigures {
  std::string identity;  ///< as in the leases
  std::string version;
  UtcMillis started;
  std::string journal;                    ///< its kind: "sqlite" or "kafka"
  std::optional<uint64_t> journal_bytes;  ///< nullopt: not known to this process
  double entries_per_second = 0;          ///< folded, over `interval`
  Millis interval{0};
  std::vector<RoleFigures> roles;  ///< of this process
};

}  // namespace shiplog
