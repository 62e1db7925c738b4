#include "services/programs/member/shell/file_system.h"

#include <algorithm>
#include <set>
#include <utility>

namespace shiplog::member {
namespace {

constexpr size_t kPerFile = 200;  // what a file takes besides its content
constexpr size_t kLongestPath = 1024;

Error missing() { return {ErrorCode::kNotFound, "No such file or directory"}; }
Error read_only() { return {ErrorCode::kForbidden, "Read-only file system"}; }
Error is_directory() { return {ErrorCode::kInvalid, "Is a directory"}; }
Error no_space() { return {ErrorCode::kTooLarge, "No space left on device"}; }

bool below(std::string_view path, std::string_view directory) {
  if (directory == "/") return path.size() > 1;
  return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
}

/// The name in `directory` that leads to `path`.
std::string_view child_of(std::string_view path, std::string_view directory) {
  path.remove_prefix(directory == "/" ? 1 : directory.size() + 1);
  return path.substr(0, path.find('/'));
}

}  // namespace

std::string resolved_path(std::string_view directory, std::string_view path) {
  const std::string whole =
      path.starts_with('/') ? std::string{path} : std::string{directory} + "/" + std::string{path};
  std::vector<std::string_view> parts;
  std::string_view rest = whole;
  while (!rest.empty()) {
    const size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, slash);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  std::string normal;
  for (const std::string_view part : parts) normal.append(1, '/').append(part);
  return normal.empty() ? "/" : normal;
}

std::string_view parent_path(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? std::string_view{"/"} : path.substr(0, slash);
}

std::string_view base_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

Result<void> WrittenFiles::reserve(size_t more, bool new_file) {
  if (new_file && files_.size() >= kMostFiles) return no_space();
  if (bytes_ + more > kMostBytes || *total_ + more > most_in_all_) return no_space();
  bytes_ += more;
  *total_ += more;
  return ok();
}

Result<void> WrittenFiles::put(const std::string& path, ContainerFile file) {
  if (path.size() > kLongestPath) return Error{ErrorCode::kInvalid, "File name too long"};
  const auto found = files_.find(path);
  const size_t before = found == files_.end() ? 0 : found->second.content.size();
  const size_t after = file.content.size() + (found == files_.end() ? kPerFile + path.size() : 0);
  if (after > before) {
    SHIPLOG_TRY(reserve(after - before, found == files_.end()));
  } else {
    bytes_ -= before - after;
    *total_ -= before - after;
  }
  files_.insert_or_assign(path, std::move(file));
  return ok();
}

Result<void> WrittenFiles::append(const std::string& path, std::string_view bytes) {
  SHIPLOG_TRY(reserve(bytes.size(), false));
  files_.find(path)->second.content += bytes;
  return ok();
}

const ContainerFile* FileSystem::find(std::string_view path) const {
  static const ContainerFile kRoot{.directory = true, .content = {}, .mode = 0755};
  if (path == "/") return &kRoot;
  if (const auto own = written_->files().find(path); own != written_->files().end()) {
    return own->second.removed ? nullptr : &own->second;
  }
  const auto given = image_.find(path);
  return given == image_.end() ? nullptr : &given->second;
}

std::vector<std::string> FileSystem::list(std::string_view path) const {
  std::set<std::string, std::less<>> names;
  for (const FileTree* tree : {&image_, &written_->files()}) {
    for (const auto& [each, file] : *tree) {
      if (below(each, path)) names.emplace(child_of(each, path));
    }
  }
  const std::string prefix = path == "/" ? "/" : std::string{path} + "/";
  std::erase_if(names, [&](const std::string& name) { return find(prefix + name) == nullptr; });
  return {names.begin(), names.end()};
}

Result<std::string> FileSystem::read(std::string_view path, size_t offset, size_t most) const {
  const ContainerFile* file = find(path);
  if (file == nullptr) return missing();
  if (file->directory) return is_directory();
  return file->content.substr(std::min(offset, file->content.size()), most);
}

Result<void> FileSystem::check_parent(std::string_view path) const {
  const ContainerFile* parent = find(parent_path(path));
  if (parent == nullptr) return missing();
  if (!parent->directory) return Error{ErrorCode::kInvalid, "Not a directory"};
  if (parent->read_only) return read_only();
  return ok();
}

Result<void> FileSystem::write(const std::string& path, std::string content, int64_t now, uint32_t mode) {
  SHIPLOG_TRY(check_parent(path));
  if (const ContainerFile* before = find(path); before != nullptr) {
    if (before->directory) return is_directory();
    if (before->read_only) return read_only();
  }
  return written_->put(path, {.content = std::move(content), .mode = mode, .modified = now});
}

Result<void> FileSystem::append(const std::string& path, std::string_view content, int64_t now) {
  const ContainerFile* before = find(path);
  const auto own = written_->files().find(path);
  const bool copied = own != written_->files().end() && !own->second.removed;
  if (before == nullptr || !copied) {
    std::string whole = before == nullptr ? std::string{} : before->content;
    return write(path, whole.append(content), now);
  }
  if (before->directory) return is_directory();
  return written_->append(path, content);
}

Result<void> FileSystem::make_directory(const std::string& path, int64_t now, uint32_t mode) {
  if (find(path) != nullptr) return Error{ErrorCode::kAlreadyExists, "File exists"};
  SHIPLOG_TRY(check_parent(path));
  return written_->put(path, {.directory = true, .content = {}, .mode = mode, .modified = now});
}

Result<void> FileSystem::make_directories(const std::string& path, int64_t now) {
  if (path.size() > kLongestPath) return Error{ErrorCode::kInvalid, "File name too long"};
  if (const ContainerFile* found = find(path); found != nullptr) {
    if (found->directory) return ok();
    return Error{ErrorCode::kInvalid, "Not a directory"};
  }
  SHIPLOG_TRY(make_directories(std::string{parent_path(path)}, now));
  return make_directory(path, now);
}

Result<void> FileSystem::remove(const std::string& path) {
  const ContainerFile* file = find(path);
  if (file == nullptr) return missing();
  if (path == "/" || file->read_only) return read_only();
  SHIPLOG_TRY(check_parent(path));
  if (file->directory) {
    for (const std::string& name : list(path)) {
      SHIPLOG_TRY(remove(path + "/" + name));
    }
  }
  return written_->put(path, {.removed = true, .content = {}});
}

}  // namespace shiplog::member
