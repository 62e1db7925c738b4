#include "events/sqlite/wal_mover.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include <sqlite3.h>

#include "events/base/thread_name.h"

namespace shiplog {
namespace {

// A reader holds the log for as long as it reads, and opening after a crash for as long as it recovers.
constexpr int kBusyTimeoutMs = 100;

bool one_thread = false;

int note_frames(void* frames, sqlite3*, const char*, int now) {
  *static_cast<int*>(frames) = now;
  return SQLITE_OK;
}

}  // namespace

struct WalMover::Impl {
  sqlite3* writer = nullptr;
  std::string path;
  int enough = 0;
  int frames = 0;  // in the log after the writer's last commit

  std::mutex mutex;  // guards what follows
  std::condition_variable wake;
  bool due = false;
  bool copied = false;  // all but frames added meanwhile
  bool closing = false;

  std::thread thread;
  sqlite3* own = nullptr;  // that thread's

  void copy() {
    if (own == nullptr &&
        sqlite3_open_v2(path.c_str(), &own, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr) == SQLITE_OK) {
      sqlite3_busy_timeout(own, kBusyTimeoutMs);
      // The log is synced before it is copied, and the file before the log starts over.
      sqlite3_exec(own, "PRAGMA synchronous=NORMAL", nullptr, nullptr, nullptr);
    }
    if (own != nullptr) sqlite3_wal_checkpoint_v2(own, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  }

  void run() {
    name_thread("log-mover");
    std::unique_lock lock(mutex);
    while (true) {
      wake.wait(lock, [this] { return due || closing; });
      if (closing) break;
      lock.unlock();
      copy();
      lock.lock();
      due = false;
      copied = true;
    }
    lock.unlock();
    sqlite3_close(own);
  }
};

void WalMover::run_in_the_writers_thread() { one_thread = true; }

WalMover::WalMover(sqlite3* writer, const std::string& path, int frames) : impl_{std::make_unique<Impl>()} {
  impl_->writer = writer;
  impl_->path = path;
  impl_->enough = frames;
  sqlite3_wal_hook(writer, note_frames, &impl_->frames);  // replaces SQLite's own, which would checkpoint
  if (!one_thread) impl_->thread = std::thread([this] { impl_->run(); });
}

WalMover::~WalMover() {
  sqlite3_wal_hook(impl_->writer, nullptr, nullptr);
  if (!impl_->thread.joinable()) {
    sqlite3_close(impl_->own);
    return;
  }
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->closing = true;
    impl_->wake.notify_one();
  }
  impl_->thread.join();
}

void WalMover::committed() {
  if (impl_->frames < impl_->enough) return;
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->due) return;
    if (!impl_->copied && one_thread) {
      impl_->copy();
      impl_->copied = true;
      return;
    }
    if (!impl_->copied) {
      impl_->due = true;
      impl_->wake.notify_one();
      return;
    }
    impl_->copied = false;
  }
  // The rest. Readers that still use older frames keep the log from starting over: then it is copied on from here.
  sqlite3_wal_checkpoint_v2(impl_->writer, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
}

}  // namespace shiplog
