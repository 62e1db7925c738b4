#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"

namespace shiplog::member {

struct ContainerFile {
  bool directory = false;
  bool read_only = false;  ///< nothing in it may be changed
  bool removed = false;    ///< hides a file of the same path below
  std::string content;
  uint32_t mode = 0644;
  int64_t modified = 0;  ///< seconds since 1970
};

/// Files by absolute path, without a trailing slash.
using FileTree = std::map<std::string, ContainerFile, std::less<>>;

/// What is written in a container: it lasts as long as the container. Bounded, so that commands cannot exhaust the
/// process. Threads: one.
class WrittenFiles {
 public:
  static constexpr size_t kMostBytes = 8 * 1024 * 1024;
  static constexpr size_t kMostFiles = 2048;

  /// `total`: bytes written in all containers, which has a bound too.
  WrittenFiles(std::shared_ptr<size_t> total, size_t most_in_all)
      : total_{std::move(total)}, most_in_all_{most_in_all} {}
  ~WrittenFiles() { *total_ -= bytes_; }
  WrittenFiles(const WrittenFiles&) = delete;
  WrittenFiles& operator=(const WrittenFiles&) = delete;

  const FileTree& files() const { return files_; }
  /// Error: kTooLarge, "No space left on device".
  Result<void> put(const std::string& path, ContainerFile file);
  Result<void> append(const std::string& path, std::string_view bytes);

 private:
  Result<void> reserve(size_t more, bool new_file);

  FileTree files_;
  size_t bytes_ = 0;
  std::shared_ptr<size_t> total_;
  size_t most_in_all_;
};

/// The file system of a container: its image and mounts, and what was written over them. Errors carry the words of
/// errno, such as "No such file or directory". Threads: one.
class FileSystem {
 public:
  FileSystem(FileTree image, std::shared_ptr<WrittenFiles> written)
      : image_{std::move(image)}, written_{std::move(written)} {}

  /// nullptr: there is none.
  const ContainerFile* find(std::string_view path) const;
  /// The names in a directory, sorted.
  std::vector<std::string> list(std::string_view path) const;
  /// The file's content from `offset` on, at most so many bytes. Errors: it does not exist, or is a directory.
  Result<std::string> read(std::string_view path, size_t offset, size_t most) const;

  Result<void> write(const std::string& path, std::string content, int64_t now, uint32_t mode = 0644);
  Result<void> append(const std::string& path, std::string_view content, int64_t now);
  Result<void> make_directory(const std::string& path, int64_t now, uint32_t mode = 0755);
  /// With its parents; no error if it exists.
  Result<void> make_directories(const std::string& path, int64_t now);
  /// A file, or a directory with all that is in it.
  Result<void> remove(const std::string& path);

 private:
  Result<void> check_parent(std::string_view path) const;

  FileTree image_;
  std::shared_ptr<WrittenFiles> written_;
};

/// The absolute, normal form of a path that is relative to `directory`: no "." or "..", no trailing slash; "/" itself.
std::string resolved_path(std::string_view directory, std::string_view path);
/// "/a" of "/a/b"; "/" of "/a".
std::string_view parent_path(std::string_view path);
std::string_view base_name(std::string_view path);

}  // namespace shiplog::member
