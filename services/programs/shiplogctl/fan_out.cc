#include "services/programs/shiplogctl/fan_out.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <ostream>
#include <set>
#include <thread>

namespace shiplog::ctl {
namespace {

constexpr std::chrono::seconds kQuiet{1};
constexpr size_t kNamed = 3;

std::string waiting_for(const std::set<size_t>& open, const std::vector<std::string>& names) {
  std::string text = "waiting for ";
  size_t named = 0;
  for (const size_t index : open) {
    if (named == kNamed) break;
    text += (named++ == 0 ? "" : ", ") + names[index];
  }
  return open.size() > named ? text + " and " + std::to_string(open.size() - named) + " more" : text;
}

}  // namespace

void in_parallel(const std::vector<std::string>& names, const std::function<void(size_t)>& work, const Output& to,
                 size_t most_at_once) {
  std::mutex mutex;
  std::condition_variable changed;
  size_t next = 0;
  std::set<size_t> open;
  for (size_t index = 0; index < names.size(); ++index) open.insert(index);

  const auto run = [&] {
    while (true) {
      size_t index = 0;
      {
        const std::lock_guard lock{mutex};
        if (next == names.size()) return;
        index = next++;
      }
      work(index);
      const std::lock_guard lock{mutex};
      open.erase(index);
      changed.notify_all();
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < std::min(most_at_once, names.size()); ++i) threads.emplace_back(run);

  bool reported = false;
  if (to.progress) {
    std::unique_lock lock{mutex};
    while (!changed.wait_for(lock, kQuiet, [&] { return open.empty(); })) {
      to.err << "\r\033[K" << waiting_for(open, names) << std::flush;
      reported = true;
    }
  }
  for (std::thread& thread : threads) thread.join();
  if (reported) to.err << "\r\033[K" << std::flush;
}

}  // namespace shiplog::ctl
