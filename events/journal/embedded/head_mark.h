#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "events/base/result.h"

namespace shiplog::embedded {

/// Remembers, in a small file beside the journal, up to which offset appends were acknowledged. SQLite ends its
/// write-ahead log where the bytes end or no longer add up, as a crash may leave them, and so drops acknowledged
/// commits without a word when that file is cut or lost; the mark is what tells such a loss from a crash. It is written
/// after a commit is on the disk and before it is acknowledged, and not synced: it may be behind the journal (a power
/// cut, a process killed in between), but never ahead of one that is whole. Threads: one at a time.
class HeadMark {
 public:
  static std::string path_of(const std::string& journal) { return journal + "-head"; }

  /// What is remembered; nullopt: nothing, or what a power cut left of it. Error: kIo.
  static Result<std::optional<int64_t>> read(const std::string& journal);

  explicit HeadMark(std::string journal) : journal_{std::move(journal)} {}
  ~HeadMark();
  HeadMark(HeadMark&& other) noexcept;
  HeadMark& operator=(HeadMark&&) = delete;
  HeadMark(const HeadMark&) = delete;
  HeadMark& operator=(const HeadMark&) = delete;

  /// Remembers that all before `next` is on the disk, unless another process has marked more; makes the file the first
  /// time. What fails here makes no append fail: the mark only guards.
  void write(int64_t next);

 private:
  std::string journal_;
  int file_ = -1;
};

}  // namespace shiplog::embedded
