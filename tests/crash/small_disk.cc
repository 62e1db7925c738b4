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

bool worked(int result, const std::string& what) {
  if (result == 0) return true;
  ADD_FAILURE() << what << ": " << std::strerror(errno)
                << ". These tests fill a disk of their own: run them where mounting is allowed (as root)";
  return false;
}

/// Once for the program: mounts are its own from here on.
bool have_own_mounts() {
  static const bool own = worked(::unshare(CLONE_NEWNS), "a mount namespace cannot be made") &&
                          worked(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "mounts stay shared");
  if (!own) ADD_FAILURE() << "no mounts of our own";
  return own;
}

}  // namespace

SmallDisk::SmallDisk(std::vector<std::string> folders, size_t megabytes) : folders_{std::move(folders)} {
  for (const std::string& folder : folders_) std::filesystem::create_directories(folder);
  if (!have_own_mounts()) return;
  const std::string size = "mode=700,size=" + std::to_string(megabytes) + "m";
  mounted_ = worked(::mount("tmpfs", folders_[0].c_str(), "tmpfs", 0, size.c_str()), "mounting a tmpfs");
  for (size_t at = 1; mounted_ && at < folders_.size(); ++at) {
    const std::string inside = folders_[0] + "/part" + std::to_string(at);
    std::filesystem::create_directories(inside);
    mounted_ = worked(::mount(inside.c_str(), folders_[at].c_str(), nullptr, MS_BIND, nullptr), "binding a folder");
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
  // Others write at the same time: until there is no more to take.
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
  worked(::mount("tmpfs", folders_[0].c_str(), "tmpfs", flags, nullptr), "remounting");
}

}  // namespace shiplog::crash
