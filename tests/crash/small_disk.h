#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace shiplog::crash {

/// A small disk: a tmpfs in a mount namespace of this program and its children, so that it is always removed when the
/// program ends. Fails the test if it cannot be mounted (which requires root). Threads: the one that starts the
/// processes which use the disk.
class SmallDisk {
 public:
  /// Creates these folders and mounts over them: the first is the disk's root, the others are folders of the same disk.
  SmallDisk(std::vector<std::string> folders, size_t megabytes);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  /// Uses all free space except about `leave` bytes; free_space() releases it.
  void fill(size_t leave = 0);
  void free_space();
  /// Remounts it. No file may be open for writing.
  void make_read_only(bool read_only);
  bool mounted() const { return mounted_; }

 private:
  std::vector<std::string> folders_;
  bool mounted_ = false;
};

}  // namespace shiplog::crash
