#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "projections/comparison/comparison.h"
#include "projections/proof/tree_query.h"
#include "projections/store/reader.h"

namespace shiplog {

/// A snapshot or projection that is verified, as of one moment: a process may go on writing it.
class CheckedFile {
 public:
  /// Errors: those of Reader.
  static Result<std::unique_ptr<CheckedFile>> open(const std::string& path);

  const std::string& path() const { return path_; }
  const View& view() const { return *view_; }
  Offset next() const { return view_->next(); }
  /// 0: the tree cannot be read.
  uint64_t tree_size() const { return tree_size_; }
  TreeQuery tree() const { return TreeQuery{*view_}; }

 private:
  CheckedFile(std::string path, Reader reader) : path_{std::move(path)}, reader_{std::move(reader)} {}

  std::string path_;
  Reader reader_;
  std::optional<View> view_;
  uint64_t tree_size_ = 0;
};

}  // namespace shiplog
