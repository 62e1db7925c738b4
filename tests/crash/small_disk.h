#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace shiplog::crash {

/// A small disk of its own: a tmpfs, mounted where only this program and its children see it, so that nothing is left
/// of it when the program ends, however it ends. Fails the test when it cannot be mounted (that takes root). Threads:
/// the one that starts the processes which are to see it.
class SmallDisk {
 public:
  /// Mounts over these folders, which are made: the first is the disk's root, the others are folders of the same disk.
  SmallDisk(std::vector<std::string> folders, size_t megabytes);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  /// Takes all space that is left, but for about so many bytes; and gives it back.
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
