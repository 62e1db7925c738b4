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

/// The user that requests impersonate; empty: none.
struct ImpersonatedUser {
  std::string user = {};
  std::vector<std::string> groups = {};
  std::string uid = {};
};

/// A connection to one API server with one request at a time; every function waits for the response. Threads: one.
class ServerConnection {
 public:
  /// `what` names it in errors: "the control plane", "member cluster m1".
  static Result<ServerConnection> open(std::string what, const ClientTarget& target, ImpersonatedUser as = {});
  ServerConnection(ServerConnection&&) noexcept;
  ~ServerConnection();

  /// The JSON of a 2xx response. Errors: an HTTP failure with its code and the server's message; kUnavailable,
  /// kTimeout: no response, the message names what to check.
  Result<Value> get(const std::string& path, const HttpRequest::Query& query = {}, const std::string& accept = {});
  Result<Value> create(const std::string& path, const Value& object);
  Result<Value> replace(const std::string& path, const Value& object);
  Result<Value> merge_patch(const std::string& path, const Value& patch);
  Result<Value> remove(const std::string& path);

  /// Passes on a response line by line as it arrives, until the server ends it or `on_line` returns false.
  Result<void> lines(const std::string& path, const HttpRequest::Query& query,
                     const std::function<bool(std::string_view)>& on_line, const std::string& accept = {});

  /// The same server and user, with every path below `prefix`: a member cluster through the control plane's proxy. It
  /// shares the client, and may be used by another thread.
  ServerConnection below(std::string what, std::string prefix) const;

  /// When the server does not accept the credentials, a request is repeated once with the token that `renew` returns,
  /// as are those of connections below() this one. Called by one thread at a time.
  void renew_token_with(std::function<Result<std::string>()> renew);

  const ClientTarget& target() const { return target_; }
  /// The timeout of a request; one minute by default.
  void set_patience(Millis patience) { patience_ = patience; }

 private:
  struct Impl;
  ServerConnection(std::string what, ClientTarget target, ImpersonatedUser as, std::shared_ptr<Impl> impl);
  void impersonate(HttpRequest& request) const;
  Result<Value> call(HttpRequest request);
  Result<void> lines_once(HttpRequest request, const std::function<bool(std::string_view)>& on_line);
  Error unreachable(const Error& error) const;
  Error refused(const HttpResponse& response) const;

  std::string what_;
  std::string prefix_;  ///< of all paths
  ClientTarget target_;
  ImpersonatedUser as_;
  Millis patience_{60'000};
  std::shared_ptr<Impl> impl_;
};

}  // namespace shiplog::ctl
