#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "services/programs/verification/checked_file.h"

namespace shiplog {

/// The hashes that a projection has of a journal's records, beside which the records are read.
class ReferenceLeaves {
 public:
  /// A record that is not the one that the projection has in its place.
  struct Deviation {
    Offset offset;
    std::string what;
  };

  /// None.
  ReferenceLeaves() = default;
  /// The file must outlive it.
  explicit ReferenceLeaves(const CheckedFile& file) : file_{&file} {}

  /// nullptr: there are none.
  const CheckedFile* file() const { return file_; }
  /// Where the tree begins, if it was made later than the journal.
  std::optional<Offset> late_beginning() const;

  /// The next leaf; nullopt: there is no more, or the row is damaged.
  std::optional<TreeLeaf> next() const;
  void go_to(uint64_t ordinal) { next_ = ordinal; }
  void skip() { ++next_; }

  /// Whether the first record is the first leaf's, at another offset: the journal is a copy.
  bool has_other_offsets(Offset offset, const proof::Digest& leaf) const;
  /// Compares the next record, and with it the leaves up to its offset.
  std::vector<Deviation> compare(Offset offset, const proof::Digest& leaf);
  /// The leaves that no record was there for.
  std::vector<Deviation> rest();

 private:
  Deviation missing(const TreeLeaf& leaf) const;

  const CheckedFile* file_ = nullptr;
  uint64_t next_ = 0;
};

}  // namespace shiplog
