#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "events/base/hash.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "services/runtime/trace.h"

namespace shiplog {

/// Size limits of members' responses. An object is at most 1.5 MiB in etcd and 3 MiB in a request to a Kubernetes API
/// server; a page of JSON is as large as its objects.
inline constexpr size_t kMostObjectBytes = size_t{4} << 20U;
inline constexpr size_t kMostPageBytes = size_t{8} << 20U;
inline constexpr size_t kMostStatusBytes = size_t{64} << 10U;  ///< /readyz and the like
/// Objects per page, and per page after one was too large.
inline constexpr int kPageLimit = 100;
inline constexpr int kSmallPageLimit = 5;

/// Which state of a document a response shows.
struct Edition {
  std::string etag = {};  ///< as the server gives it; empty: it gives none
  Hash128 digest = {};    ///< of the body
  bool operator==(const Edition&) const = default;
};

/// A request to a member cluster's Kubernetes API.
struct MemberRequest {
  std::string method = "GET";
  std::string path;  ///< with query: "/apis/apps/v1/namespaces/default/deployments/nginx?dryRun=All"
  Value body;        ///< null: none
  std::string content_type = "application/json";
  TraceContext trace = {};  ///< empty: a new one
  Millis timeout = {10'000};
  size_t max_response_bytes = kMostObjectBytes;
  bool only_errors = false;  ///< the caller reads no body of a 2xx response, so that it may be left out
  bool asks_for_less =
      false;  ///< the caller retries with a smaller page after kTooLarge, so it is not recorded as an excess
  std::string accept = "application/json";
  /// Set: the edition that the caller has already, or an empty one. The answer is status 304 without a body if the
  /// server answers 304 to the ETag, or if it sends the same text again, which is then not parsed. Without an ETag no
  /// If-None-Match is sent.
  std::optional<Edition> known = std::nullopt;
  /// A request that may follow as soon as this one has been answered with 200: see MemberResponse::next.
  std::shared_ptr<const MemberRequest> next = nullptr;
  /// Sending it may take so much longer, and handing over its answer too: what is to be done for many members about the
  /// same time is done at once then.
  Millis patience = {0};
};

/// The last time that a member exceeded a size limit: the response and its connection were dropped.
struct Excess {
  UtcMillis at;
  std::string what;  ///< "GET /api/v1/pods: the answer: the body is larger than 8388608 bytes"
};

struct MemberResponse {
  int status = 0;
  Value body = {};       ///< JSON; null if the response had no body, or plain text as a string
  Edition edition = {};  ///< of requests with `known`; members in memory give none
  /// The answer to the request's `next`; nullptr: that was not sent, or has to be sent again.
  std::shared_ptr<Result<MemberResponse>> next = nullptr;
  /// Status.message, else the plain text, else the HTTP status.
  std::string message() const;
};

/// What is read of an object: of a member without parts of its own, all; of an array, the same of each element.
struct ObjectParts {
  std::string name = {};  ///< of the member; of the object itself there is none
  std::vector<ObjectParts> parts = {};
};

/// A running watch; destroying it ends it without a further callback.
class MemberWatch {
 public:
  virtual ~MemberWatch() = default;
};

/// The member clusters of the fleet, by cluster name. Address and credentials are read from the Cluster object and its
/// Secret; a change of either takes effect with the next request. Only a few requests per member are in flight, further
/// ones wait in order, so that a slow member does not delay the others.
/// Threads: called on, and calls back on, the fold thread; callbacks never run inside the call itself.
class Members {
 public:
  virtual ~Members() = default;

  /// Error: kNotFound, no such cluster or no credentials; kUnavailable, kTimeout: not reachable, the message names
  /// cluster and cause; kTooLarge: the response exceeds the limit. Any HTTP status is a response.
  virtual void request(const std::string& cluster, MemberRequest request,
                       std::function<void(Result<MemberResponse>)> done) = 0;

  /// nullopt: not since this process started.
  virtual std::optional<Excess> excess(const std::string& /*cluster*/) const { return std::nullopt; }

  /// Watches `path` (a collection, with query). `on_event` is called with each event ({"type": ..., "object": ...}),
  /// `on_end` once, when the stream ends for any reason but destruction.
  virtual std::unique_ptr<MemberWatch> watch(const std::string& cluster, std::string path,
                                             std::function<void(const Value&)> on_event,
                                             std::function<void(Result<void>)> on_end) = 0;

  /// The same for a caller that reads no more than `parts` of the objects: others may be missing in the events.
  virtual std::unique_ptr<MemberWatch> watch_parts(const std::string& cluster, std::string path,
                                                   const ObjectParts& /*parts*/,
                                                   std::function<void(const Value&)> on_event,
                                                   std::function<void(Result<void>)> on_end) {
    return watch(cluster, std::move(path), std::move(on_event), std::move(on_end));
  }
};

}  // namespace shiplog
