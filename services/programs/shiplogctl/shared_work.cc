#include "services/programs/shiplogctl/shared_work.h"

#include <utility>

#include "services/programs/shiplogctl/spin.h"

namespace shiplog::ctl {
namespace {

constexpr size_t kMostOffers = 64;

}  // namespace

bool SharedWork::run(Calls& calls) {
  bool any = false;
  for (size_t number = 0; (number = calls.next.fetch_add(1)) < calls.count; any = true) calls.use(number);
  return any;
}

void SharedWork::for_each(size_t count, const Use& use) {
  Calls calls{use, count};
  calls_.store(&calls);
  rounds_.fetch_add(1);
  if (asleep_.load() > 0) {
    { const std::lock_guard lock{mutex_}; }
    changed_.notify_all();
  }
  run(calls);
  calls_.store(nullptr);
  // One that came in before is at its last number, or leaves. If it was interrupted there, it needs the processor more.
  if (spin_until([this] { return inside_.load() == 0; })) return;
  for (uint32_t inside = inside_.load(); inside != 0; inside = inside_.load()) inside_.wait(inside);
}

void SharedWork::offer(size_t count, Use use) {
  auto offer = std::make_shared<Offer>(std::move(use), count);
  std::shared_ptr<Offer> dropped;  // destroyed when the lock is released
  const std::lock_guard lock{offering_};
  offers_.push_back(std::move(offer));
  if (offers_.size() > kMostOffers) {
    dropped = std::move(offers_.front());
    offers_.pop_front();
  }
  offered_.store(offers_.size());
}

bool SharedWork::take_offer() {
  if (offered_.load() == 0) return false;
  std::shared_ptr<Offer> offer;
  {
    const std::lock_guard lock{offering_};
    if (offers_.empty()) return false;
    offer = offers_.front();
  }
  const size_t number = offer->next.fetch_add(1);
  if (number < offer->count) offer->use(number);
  if (number + 1 < offer->count) return true;
  const std::lock_guard lock{offering_};
  if (!offers_.empty() && offers_.front() == offer) offers_.pop_front();
  offered_.store(offers_.size());
  return number < offer->count;
}

bool SharedWork::help() {
  if (calls_.load() == nullptr) return take_offer();
  inside_.fetch_add(1);
  Calls* const calls = calls_.load();
  const bool any = calls != nullptr && run(*calls);
  if (inside_.fetch_sub(1) == 1) inside_.notify_all();
  return any;
}

void SharedWork::help_until(const std::function<bool()>& ready) {
  while (true) {
    const uint64_t seen = wakes_.load();
    const uint64_t round = rounds_.load();  // no number of it is left, after help()
    while (help()) continue;
    if (ready()) return;
    const auto idle = [&] { return wakes_.load() == seen && rounds_.load() == round; };
    if (!spin_until([&] { return !idle(); })) {
      std::unique_lock lock{mutex_};
      asleep_.fetch_add(1);
      changed_.wait(lock, [&] { return !idle(); });
      asleep_.fetch_sub(1);
    }
  }
}

void SharedWork::wake() {
  wakes_.fetch_add(1);
  if (asleep_.load() == 0) return;
  { const std::lock_guard lock{mutex_}; }
  changed_.notify_all();
}

}  // namespace shiplog::ctl
