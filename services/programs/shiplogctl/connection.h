#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "services/http/client_target.h"
#include "services/http/http.h"

namespace shiplog::ctl {

/// Whom requests are made as, besides who the credentials are; an empty user: nobody else.
struct Impersonation {
  std::string user = {};
  std::vector<std::string> groups = {};
  std::string uid = {};
};

/// One API server, asked one thing at a time; every function waits for its answer. Threads: one.
class Connection {
 public:
  /// `what` names it in errors: "the control plane", "member cluster m1".
  static Result<Connection> open(std::string what, const ClientTarget& target, Impersonation as = {});
  Connection(Connection&&) noexcept;
  ~Connection();

  /// The JSON of a 2xx answer. Errors: an HTTP failure with its code and the server's own words; kUnavailable,
  /// kTimeout: no answer, the message says what to look at.
  Result<Value> get(const std::string& path, const HttpRequest::Query& query = {}, const std::string& accept = {});
  Result<Value> create(const std::string& path, const Value& object);
  Result<Value> replace(const std::string& path, const Value& object);
  Result<Value> merge_patch(const std::string& path, const Value& patch);
  Result<Value> remove(const std::string& path);

  /// Hands over an answer line by line as it comes, until the server ends it or `on_line` returns false.
  Result<void> lines(const std::string& path, const HttpRequest::Query& query,
                     const std::function<bool(std::string_view)>& on_line);

  const ClientTarget& target() const { return target_; }
  /// How long an answer may take; a minute unless this is called.
  void set_patience(Millis patience) { patience_ = patience; }

 private:
  struct Impl;
  Connection(std::string what, ClientTarget target, Impersonation as, std::unique_ptr<Impl> impl);
  void impersonate(HttpRequest& request) const;
  Result<Value> call(HttpRequest request);
  Error unreachable(const Error& error) const;
  Error refused(const HttpResponse& response) const;

  std::string what_;
  ClientTarget target_;
  Impersonation as_;
  Millis patience_{60'000};
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog::ctl
