#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"

namespace shiplog {

/// A request to a member cluster's Kubernetes API.
struct MemberRequest {
  std::string method = "GET";
  std::string path;  ///< with query: "/apis/apps/v1/namespaces/default/deployments/nginx?dryRun=All"
  Value body;        ///< null: none
  std::string content_type = "application/json";
  Millis timeout = {10'000};
};

struct MemberResponse {
  int status = 0;
  Value body;  ///< JSON; null when the answer had none, or plain text as a string
  /// Status.message, else the plain text, else the HTTP status.
  std::string message() const;
};

/// A running watch; destroying it ends it without a further callback.
class MemberWatch {
 public:
  virtual ~MemberWatch() = default;
};

/// The member clusters of the fleet, by cluster name. Address and credentials come from the Cluster object and its
/// Secret; a change of either takes effect with the next request. At most a few requests are under way per member, the
/// others wait in order, so that one slow member does not hold up the rest.
/// Threads: called on, and calls back on, the fold thread; callbacks never run inside the call itself.
class Members {
 public:
  virtual ~Members() = default;

  /// Error: kNotFound, no such cluster or no credentials; kUnavailable, kTimeout: could not be reached, the message
  /// names cluster and cause. Any HTTP status is a response.
  virtual void request(const std::string& cluster, MemberRequest request,
                       std::function<void(Result<MemberResponse>)> done) = 0;

  /// Watches `path` (a collection, with query). `on_event` gets each watch event ({"type": ..., "object": ...});
  /// `on_end` once, when the stream ends for any reason but destruction.
  virtual std::unique_ptr<MemberWatch> watch(const std::string& cluster, std::string path,
                                             std::function<void(const Value&)> on_event,
                                             std::function<void(Result<void>)> on_end) = 0;
};

}  // namespace shiplog
