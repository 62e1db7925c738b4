#include "services/programs/verification/reference_leaves.h"

namespace shiplog {

std::optional<Offset> ReferenceLeaves::late_beginning() const {
  if (file_ == nullptr) return std::nullopt;
  const auto late = file_->tree().late_beginning();
  if (!late || !late.value()) return std::nullopt;
  return late.value()->offset;
}

std::optional<TreeLeaf> ReferenceLeaves::next() const {
  if (file_ == nullptr || next_ >= file_->tree_size()) return std::nullopt;
  const auto leaf = file_->tree().leaf(next_);
  return leaf ? leaf.value() : std::nullopt;
}

bool ReferenceLeaves::has_other_offsets(Offset offset, const proof::Digest& leaf) const {
  const auto first = next();
  return first && first->offset != offset && first->hash == leaf;
}

ReferenceLeaves::Deviation ReferenceLeaves::missing(const TreeLeaf& leaf) const {
  return {leaf.offset, "the record is missing: " + file_->path() + " has one there"};
}

std::vector<ReferenceLeaves::Deviation> ReferenceLeaves::compare(Offset offset, const proof::Digest& leaf) {
  std::vector<Deviation> found;
  if (file_ == nullptr || next_ >= file_->tree_size()) return found;
  auto other = next();
  while (other && other->offset < offset) {
    found.push_back(missing(*other));
    ++next_;
    other = next();
  }
  if (other && other->offset > offset) {
    found.push_back({offset, "the record was inserted: " + file_->path() + " has none there"});
    return found;
  }
  if (next_ >= file_->tree_size()) return found;
  ++next_;  // a damaged row counts as the record's
  if (other && other->hash != leaf) {
    found.push_back({offset, "the record is not the one that " + file_->path() + " has the hash of"});
  }
  return found;
}

std::vector<ReferenceLeaves::Deviation> ReferenceLeaves::rest() {
  std::vector<Deviation> found;
  for (auto other = next(); other; other = next()) {
    found.push_back(missing(*other));
    ++next_;
  }
  return found;
}

}  // namespace shiplog
