#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/journal/embedded/head_mark.h"
#include "events/journal/embedded/opened_file.h"
#include "tests/simulation/timeline.h"

namespace shiplog::simulation {

/// The embedded journal of a world, on a disk that fails: the product's file, its head mark, and what opens them,
/// without the threads around them.
class StoredJournal {
 public:
  /// `folder` is one of FaultyDisk.
  explicit StoredJournal(std::string folder) : folder_{std::move(folder)} {}
  ~StoredJournal();

  Result<void> open();
  /// As the journal's thread stores a group.
  Result<int64_t> store(const std::vector<std::string_view>& records);
  Result<void> trim(int64_t before);
  /// The writer dies within its next operations on the file.
  void die_soon(Chance& chance);
  /// It has died, or does now, maybe with the power; then it is opened again.
  Result<void> restart(bool power_fails, Chance& chance);
  /// All from there on.
  Result<std::vector<std::string>> read(int64_t from);
  /// What is found of the records when some bytes of the files are overwritten. The files stay as they are.
  /// Error: how it was found; `found` has what was read before.
  Result<void> read_damaged(Chance& chance, int64_t from, std::vector<std::string>& found);

 private:
  std::string path() const { return folder_ + "/journal.db"; }
  /// Paths differ from run to run.
  Error without_path(Error error) const;

  std::string folder_;
  std::optional<embedded::OpenedFile> file_;
  std::optional<embedded::HeadMark> mark_;
};

/// Replaces the path of a folder, which differs from run to run.
Error without(const std::string& folder, Error error);

}  // namespace shiplog::simulation
