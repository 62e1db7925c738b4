#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "services/api/conversion/converted_objects.h"
#include "services/api/webhooks/call.h"

namespace shiplog::api {

/// Objects that are to be shown or stored in another version of their kind.
struct ConversionTask {
  using Moment = std::chrono::steady_clock::time_point;

  WebhookCalls calls;
  std::shared_ptr<const Kinds> kinds;  ///< owns `wanted`
  const Kind* wanted = nullptr;        ///< whose conversion is not null
  std::vector<Value> objects;          ///< those that are in the version already stay as they are
  bool for_watch = false;              ///< more of these may wait: no other request waits for them
  bool stored = false;                 ///< as they are stored, so that what they were converted to may be shown again
  Moment until = Moment::max();        ///< the request is over then: no call is made later, or lasts longer
  std::function<bool()> abandoned = nullptr;  ///< whether its client has disconnected; nullptr: it has none
};

/// Calls the conversion webhooks of CustomResourceDefinitions. A webhook that does not answer delays requests of its
/// own kind only: calls wait on no thread, and of each kind a few are under way and some more wait, fewer of all kinds
/// than the server may carry out requests at once. A kind may have as many as are left for the others, so that a few
/// slow webhooks leave something to the rest. Results for stored objects are reused for some seconds.
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
  /// kInternal as kube-apiserver words it; kTooManyRequests, too many wait for this webhook; kTimeout, the request is
  /// over.
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
  /// What is under way of one kind.
  struct Line {
    size_t calls = 0;
    size_t requests = 0, watches = 0;  // that are under way or wait
    std::deque<JobPtr> waiting;
  };

  void run(JobPtr job);
  std::optional<Error> call(const JobPtr& job);
  JobPtr take_answer(const JobPtr& job, const std::vector<size_t>& asked, Result<std::vector<Value>> converted);
  JobPtr finish(const JobPtr& job, Result<std::vector<Value>> result);
  // With the mutex held.
  bool admit(Line& line, const Job& job);
  bool is_full(const Line& line) const;
  void release(Line& line, const Job& job);
  JobPtr next_waiting(Line& line);
  void drop_abandoned(Line& line);
  void fill_in_known(Job& job);

  std::mutex mutex_;
  size_t requests_ = 0;
  std::map<std::string, Line> lines_;  // by the type of the kind; of those that convert now
  ConvertedObjects known_;
};

}  // namespace shiplog::api
