#include "services/requests/ledger.h"

#include "services/requests/request_metrics.h"

namespace shiplog::requests {
namespace {

/// What a request costs besides its text.
constexpr size_t kOverhead = 512;

Error too_many(const std::string& of) {
  return {ErrorCode::kTooManyRequests, "too many requests of " + of + " are not carried out yet, try again later"};
}

}  // namespace

Result<void> RequestLedger::add(const std::string& user, std::vector<ProducedRequest> requests,
                                const RequestOrigin& origin) {
  std::vector<Start> started;
  {
    const std::lock_guard lock{mutex_};
    const auto known = users_.try_emplace(user, limits_.most_running_of_user).first;
    UserRequests& own = known->second;
    size_t count = 0;
    size_t bytes = 0;
    for (const ProducedRequest& request : requests) {
      if (const auto item = own.items.find(request.id); item != own.items.end() && !item->second.result) continue;
      ++count;
      bytes += request.manifest.size() + kOverhead;
    }
    std::optional<Error> refused;
    if (own.unfinished + count > limits_.most_unfinished_of_user || own.bytes + bytes > limits_.most_bytes_of_user) {
      refused = too_many("this user");
    } else if (unfinished_ + count > limits_.most_unfinished || bytes_ + bytes > limits_.most_bytes) {
      refused = too_many("all users");
    }
    if (refused) {
      if (own.items.empty()) users_.erase(known);
      return *refused;
    }
    for (ProducedRequest& request : requests) {
      Item& item = own.items[request.id];
      const bool unfinished = item.bytes != 0;
      if (unfinished) continue;
      count_received(RequestWay::kHttp);
      item.bytes = request.manifest.size() + kOverhead;
      item.result.reset();
      item.origin = origin;
      own.bytes += item.bytes;
      bytes_ += item.bytes;
      ++own.unfinished;
      ++unfinished_;
      const int64_t number = own.next++;
      own.running_ids.emplace(number, request.id);
      own.window.add(number, order_key(request));
      item.request = std::move(request);
    }
    started = take_startable(own);
  }
  run(user, std::move(started));
  return ok();
}

// The caller holds the lock.
std::vector<RequestLedger::Start> RequestLedger::take_startable(UserRequests& requests) {
  std::vector<Start> started;
  while (const auto number = requests.window.start_next()) {
    Item& item = requests.items.at(requests.running_ids.at(*number));
    started.push_back({*number, std::move(item.request), std::move(item.origin)});
  }
  return started;
}

void RequestLedger::run(const std::string& user, std::vector<Start> started) {
  for (Start& start : started) {
    executor_->execute(std::move(start.request), std::move(start.origin),
                       [weak = weak_from_this(), user, number = start.number](std::optional<RecordOutcome> outcome) {
                         const auto self = weak.lock();
                         if (self && outcome) self->finish(user, number, std::move(*outcome));
                       });
  }
}

void RequestLedger::finish(const std::string& user, int64_t number, RecordOutcome outcome) {
  std::vector<Finished> waiting;
  std::vector<Start> started;
  const ProducedResult result = outcome.result;
  count_result(outcome);
  {
    const std::lock_guard lock{mutex_};
    UserRequests& own = users_.at(user);
    const std::string id = own.running_ids.at(number);
    own.running_ids.erase(number);
    own.window.finish(number, std::move(outcome));
    own.window.take_finished(own.window.size());
    Item& item = own.items.at(id);
    own.bytes -= item.bytes;
    bytes_ -= item.bytes;
    item.bytes = 0;
    --own.unfinished;
    --unfinished_;
    item.result = result;
    waiting = std::exchange(item.waiting, {});
    finished_.emplace_back(user, id);
    started = take_startable(own);
    forget_oldest();
  }
  run(user, std::move(started));
  for (const Finished& call : waiting) call(result);
}

// The caller holds the lock. An id that was sent again stands in the list more than once: the last one counts.
void RequestLedger::forget_oldest() {
  while (finished_.size() > limits_.most_results) {
    const auto [user, id] = std::move(finished_.front());
    finished_.pop_front();
    const auto own = users_.find(user);
    if (own == users_.end()) continue;
    const auto item = own->second.items.find(id);
    if (item != own->second.items.end() && item->second.bytes == 0) own->second.items.erase(item);
    if (own->second.items.empty()) users_.erase(own);
  }
}

std::pair<std::optional<ProducedResult>, bool> RequestLedger::find(const std::string& user, const std::string& id,
                                                                   Finished finished) {
  const std::lock_guard lock{mutex_};
  const auto own = users_.find(user);
  if (own == users_.end()) return {std::nullopt, false};
  const auto item = own->second.items.find(id);
  if (item == own->second.items.end()) return {std::nullopt, false};
  if (item->second.result) return {item->second.result, true};
  if (finished) item->second.waiting.push_back(std::move(finished));
  return {std::nullopt, true};
}

std::vector<std::string> RequestLedger::ids(const std::string& user) const {
  std::vector<std::string> all;
  const std::lock_guard lock{mutex_};
  const auto own = users_.find(user);
  if (own == users_.end()) return all;
  for (const auto& [id, item] : own->second.items) all.push_back(id);
  return all;
}

}  // namespace shiplog::requests
