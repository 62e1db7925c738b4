#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "services/requests/executor.h"
#include "services/requests/window.h"

namespace shiplog::requests {

/// The requests that came over HTTP and are not carried out yet, and the newest results, by user and idempotency id.
/// Bounded in number and bytes. Those of one user about one object are carried out one after the other.
/// Threads: any. Callbacks are called without a lock, on the thread that finishes a request.
class RequestLedger : public std::enable_shared_from_this<RequestLedger> {
 public:
  struct Limits {
    size_t most_unfinished = 4000;  ///< of all users
    size_t most_unfinished_of_user = 2000;
    size_t most_running_of_user = 32;
    size_t most_bytes = size_t{128} << 20U;
    size_t most_bytes_of_user = size_t{32} << 20U;
    size_t most_results = 10'000;  ///< the oldest are forgotten; what was carried out is in the audit trail
  };
  using Finished = std::function<void(const ProducedResult&)>;

  RequestLedger(std::shared_ptr<RequestExecutor> executor, Limits limits)
      : executor_{std::move(executor)}, limits_{limits} {}

  /// Takes the requests in, all or none; one that is there already is not taken twice. Error: kTooManyRequests.
  Result<void> add(const std::string& user, std::vector<ProducedRequest> requests, const RequestOrigin& origin);

  /// The result, or nullopt: then `finished` is called with it if the request is unfinished (true), and there is no
  /// such request else (false).
  std::pair<std::optional<ProducedResult>, bool> find(const std::string& user, const std::string& id,
                                                      Finished finished);
  /// The ids of a user's requests that are here, unfinished or not.
  std::vector<std::string> ids(const std::string& user) const;

 private:
  struct Item {
    ProducedRequest request;
    RequestOrigin origin;
    size_t bytes = 0;
    std::optional<ProducedResult> result;
    std::vector<Finished> waiting;
  };
  struct UserRequests {
    explicit UserRequests(size_t most_running) : window{most_running} {}
    RequestWindow window;
    int64_t next = 0;
    std::map<int64_t, std::string> running_ids;
    std::map<std::string, Item> items;
    size_t unfinished = 0;
    size_t bytes = 0;
  };
  struct Start {
    int64_t number;
    ProducedRequest request;
    RequestOrigin origin;
  };

  std::vector<Start> take_startable(UserRequests& requests);
  void run(const std::string& user, std::vector<Start> started);
  void finish(const std::string& user, int64_t number, RecordOutcome outcome);
  void forget_oldest();

  const std::shared_ptr<RequestExecutor> executor_;
  const Limits limits_;
  mutable std::mutex mutex_;
  std::map<std::string, UserRequests> users_;
  std::deque<std::pair<std::string, std::string>> finished_;  // user and id, oldest first
  size_t unfinished_ = 0;
  size_t bytes_ = 0;
};

}  // namespace shiplog::requests
