#include "tests/crash/small_disk.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace shiplog::crash {
namespace {

bool succeeded(int result, const std::string& what) {
  if (result == 0) return true;
  ADD_FAILURE() << what << ": " << std::strerror(errno) << ". These tests mount a small disk: run them as root";
  return false;
}

/// Creates a mount namespace, once for the program.
bool have_private_mounts() {
  static const bool private_mounts =
      succeeded(::unshare(CLONE_NEWNS), "a mount namespace cannot be made") &&
      succeeded(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "mounts stay shared");
  if (!private_mounts) ADD_FAILURE() << "no private mounts";
  return private_mounts;
}

}  // namespace

SmallDisk::SmallDisk(std::vector<std::string> folders, size_t megabytes) : folders_{std::move(folders)} {
  for (const std::string& folder : folders_) std::filesystem::create_directories(folder);
  if (!have_private_mounts()) return;
  const std::string size = "mode=700,size=" + std::to_string(megabytes) + "m";
  mounted_ = succeeded(::mount("tmpfs", folders_[0].c_str(), "tmpfs", 0, size.c_str()), "mounting a tmpfs");
  for (size_t index = 1; mounted_ && index < folders_.size(); ++index) {
    const std::string inside = folders_[0] + "/part" + std::to_string(index);
    std::filesystem::create_directories(inside);
    mounted_ =
        succeeded(::mount(inside.c_str(), folders_[index].c_str(), nullptr, MS_BIND, nullptr), "binding a folder");
  }
}

SmallDisk::~SmallDisk() {
  // Lazily: processes may still have files open there.
  for (auto folder = folders_.rbegin(); folder != folders_.rend(); ++folder) ::umount2(folder->c_str(), MNT_DETACH);
}

void SmallDisk::fill(size_t leave) {
  const std::string path = folders_[0] + "/ballast";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  struct statvfs disk = {};
  // Other processes write at the same time: repeat until no space is left.
  for (int round = 0; round < 1000; ++round) {
    if (::statvfs(folders_[0].c_str(), &disk) != 0) break;
    const size_t left = disk.f_bavail * disk.f_frsize;
    if (left <= leave + disk.f_frsize) break;
    const std::string bytes(left - leave, 'b');
    if (::write(file, bytes.data(), bytes.size()) <= 0 && errno == ENOSPC && leave == 0) break;
  }
  ::close(file);
}

void SmallDisk::free_space() { std::filesystem::remove(folders_[0] + "/ballast"); }

void SmallDisk::make_read_only(bool read_only) {
  unsigned long flags = MS_REMOUNT;
  if (read_only) flags |= MS_RDONLY;
  succeeded(::mount("tmpfs", folders_[0].c_str(), "tmpfs", flags, nullptr), "remounting");
}

}  // namespace shiplog::crash
