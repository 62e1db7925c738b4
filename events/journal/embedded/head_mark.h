#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "events/base/result.h"

namespace shiplog::embedded {

/// Records the offset up to which appends were acknowledged, in a small file beside the journal. SQLite ends its
/// write-ahead log at the first frame whose checksum does not match, as a crash may leave it, and silently drops the
/// commits after it, including acknowledged ones if that file was truncated or deleted. The mark distinguishes such a
/// loss from a crash. It is written after a commit is on disk and before it is acknowledged, and is not synced: it may
/// be behind the journal (after a power failure, or if a process was killed in between), but never ahead of an intact
/// one. Threads: one at a time.
class HeadMark {
 public:
  static std::string path_of(const std::string& journal) { return journal + "-head"; }

  /// The recorded offset. nullopt: no file, or an incomplete one after a power failure. Error: kIo.
  static Result<std::optional<int64_t>> read(const std::string& journal);

  explicit HeadMark(std::string journal) : journal_{std::move(journal)} {}
  ~HeadMark();
  HeadMark(HeadMark&& other) noexcept;
  HeadMark& operator=(HeadMark&&) = delete;
  HeadMark(const HeadMark&) = delete;
  HeadMark& operator=(const HeadMark&) = delete;

  /// Records that everything before `next` is on disk, unless another process has recorded a higher offset. Creates the
  /// file on first use. A failure need not fail the append, since the mark only serves to detect damage. Error: kIo.
  Result<void> write(int64_t next);

 private:
  std::string journal_;
  int file_ = -1;
};

}  // namespace shiplog::embedded
