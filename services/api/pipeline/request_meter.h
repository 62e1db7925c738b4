#pragma once

#include <memory>
#include <string>

#include "services/api/request_context.h"
#include "services/runtime/metrics.h"

namespace shiplog::api {

/// The labels that kube-apiserver's metrics of requests have, but for `code`. All of them are from closed sets or name
/// kinds that are served: nothing else that a client sends becomes a label.
struct RequestLabels {
  std::string verb;  ///< GET, LIST, WATCH, POST, PUT, PATCH, APPLY, DELETE, DELETECOLLECTION, CONNECT; OTHER
  std::string dry_run, group, version, resource, subresource;
  std::string scope;  ///< resource, namespace, cluster; empty: not about a resource
};

/// Before it is known what the request is about: the method only.
RequestLabels labels_of(const HttpRequest& request);
RequestLabels labels_of(const RequestTarget& target, const HttpRequest& request);

/// Measures one request from its arrival to its response: `apiserver_request_total` and the other metrics of requests.
/// Threads: any; resolved() precedes the response.
class RequestMeter {
 public:
  explicit RequestMeter(const HttpRequest& request);
  ~RequestMeter();
  RequestMeter(const RequestMeter&) = delete;
  RequestMeter& operator=(const RequestMeter&) = delete;

  /// It is known what the request is about.
  void resolved(const RequestTarget& target, const HttpRequest& request) { labels_ = labels_of(target, request); }
  /// The whole response was passed to the connection.
  void responded(int status, size_t bytes);
  /// A stream begins, which lasts as long as this object.
  void streaming(int status);

 private:
  void count(int status, const size_t* bytes);
  void leave_inflight();

  metrics::Stopwatch watch_;
  RequestLabels labels_;
  metrics::Gauge inflight_, long_running_;
  bool is_inflight_ = true;
  int stream_status_ = 0;
};

/// `writer`, which reports the response to `meter`.
std::shared_ptr<ResponseWriter> metered(std::shared_ptr<ResponseWriter> writer, std::shared_ptr<RequestMeter> meter);

/// Outcomes of authentication and authorization.
void count_authentication(bool succeeded);
void count_authorization(bool allowed);
/// From the moment at which a write is durable, folded and visible to that at which its response is passed on.
void observe_commit_to_response(double seconds);

}  // namespace shiplog::api
