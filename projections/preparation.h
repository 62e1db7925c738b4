#pragma once

#include <atomic>
#include <cstddef>
#include <future>
#include <memory>
#include <span>
#include <vector>

#include "events/sqlite/unpacked.h"
#include "projections/store/folded_entry.h"
#include "projections/store/prepared_rows.h"

namespace shiplog {

/// Prepares the entries of a batch on two threads: that of the caller, from the first one on, as it asks for them, and
/// another one, from the last one backwards, until they meet. Few entries do not justify a thread.
class Preparation {
 public:
  /// `batch` and the packers stay as long as this does.
  Preparation(std::span<const FoldedEntry> batch, sqlite::TextPacker& own, sqlite::TextPacker& of_helper);
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;
  ~Preparation();

  const PreparedRows& of(size_t index);

 private:
  enum Progress : int { kFree, kTaken, kDone };
  bool take(size_t index);
  void prepare(size_t index, sqlite::TextPacker& packer);

  std::span<const FoldedEntry> batch_;
  sqlite::TextPacker& own_;
  std::vector<PreparedRows> prepared_;
  std::unique_ptr<std::atomic<int>[]> states_;
  std::atomic<bool> stopped_{false};
  std::future<void> helper_;
};

}  // namespace shiplog
