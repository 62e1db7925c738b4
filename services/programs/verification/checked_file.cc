#include "services/programs/verification/checked_file.h"

#include <filesystem>
#include <utility>

namespace shiplog {

Result<std::unique_ptr<CheckedFile>> CheckedFile::open(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return Error{ErrorCode::kNotFound, "there is no file " + path};
  SHIPLOG_TRY(auto reader, Reader::open(path));
  std::unique_ptr<CheckedFile> file{new CheckedFile{path, std::move(reader)}};
  SHIPLOG_TRY(auto view, file->reader_.view());
  file->view_.emplace(std::move(view));
  const auto size = file->tree().size();
  file->tree_size_ = size ? size.value() : 0;
  return file;
}

}  // namespace shiplog
