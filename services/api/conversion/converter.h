#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "services/api/webhooks/call.h"

namespace shiplog::api {

/// Objects that are to be shown or stored in another version of their kind.
struct ConversionTask {
  WebhookCalls calls;
  std::shared_ptr<const Kinds> kinds;  ///< owns `wanted`
  const Kind* wanted = nullptr;        ///< whose conversion is not null
  std::vector<Value> objects;          ///< those that are in the version already stay as they are
  bool for_watch = false;              ///< more of these may wait: they hold up no other requests
  bool stored = false;                 ///< as they are stored, so that what they were converted to may be shown again
};

/// Calls the conversion webhooks of CustomResourceDefinitions. A webhook that does not answer delays requests of its
/// own kind only: calls wait on no thread, and of each kind a few are under way and some more wait, fewer of all kinds
/// than the server may carry out requests at once. Results for stored objects are reused for some seconds, so that many
/// watches of one change are one call.
/// Threads: any. Used through a shared_ptr.
class Converter : public std::enable_shared_from_this<Converter> {
 public:
  static constexpr size_t kCallsAtOnce = 8;    ///< of one kind
  static constexpr size_t kMostRequests = 40;  ///< of one kind, which are under way or wait
  static constexpr size_t kMostRequestsOfAll = 120;
  static constexpr size_t kMostWatches = 2000;    ///< of one kind
  static constexpr int64_t kTimeoutSeconds = 30;  ///< of one call, as in kube-apiserver

  using Done = std::function<void(Result<std::vector<Value>>)>;

  /// Calls `done` once, here or from `task.calls.post`, with the objects in their order. Reads the projection. Errors:
  /// kInternal as kube-apiserver words it; kTooManyRequests, too many wait for this webhook.
  void convert(ConversionTask task, Done done);

 private:
  using Steady = std::chrono::steady_clock;
  /// One convert().
  struct Job {
    ConversionTask task;
    Done done;
    std::vector<size_t> missing;  // indices of objects that are not converted yet
    Steady::time_point waits_until;
  };
  using JobPtr = std::shared_ptr<Job>;
  struct Known {
    std::string key;
    Value object;
    size_t bytes = 0;
    Steady::time_point until;
  };
  /// What is under way and known of one kind.
  struct Line {
    Value conversion;  // that `known` was made with
    size_t calls = 0;
    size_t requests = 0, watches = 0;  // that are under way or wait
    std::deque<JobPtr> waiting;
    std::list<Known> known;  // the newest first
    size_t known_bytes = 0;
    std::map<std::string, std::list<Known>::iterator> by_key;
  };

  void call(const JobPtr& job);
  void take_answer(const JobPtr& job, const std::vector<size_t>& asked, Result<std::vector<Value>> converted);
  void finish(const JobPtr& job, Result<std::vector<Value>> result);
  // With the mutex held.
  bool admit(Line& line, const Job& job);
  void release(Line& line, const Job& job);
  static void forget_oldest(Line& line);
  static void fill_in_known(Line& line, Job& job);
  static void remember(Line& line, const Job& job, const std::vector<size_t>& asked, const std::vector<Value>& results);

  std::mutex mutex_;
  size_t requests_ = 0;
  std::map<std::string, Line> lines_;  // by the type of the kind
};

}  // namespace shiplog::api
