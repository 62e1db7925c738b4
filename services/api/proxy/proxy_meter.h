#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "services/adapters/members/member_clients.h"
#include "services/api/proxied_request.h"
#include "services/http/server.h"
#include "services/runtime/metrics.h"

// What is counted of the cluster proxy. Label values are from closed sets, or name clusters that there are.
namespace shiplog::api {

/// The label `verb` of a request to a member: that of apiserver_request_total, or CONNECT if its connection is to be
/// upgraded. `proxied`: nullptr if its path is refused. Pure.
std::string metric_verb(const HttpRequest& request, const ProxiedRequest* proxied);

/// The label `code_class`: "2xx"; "none", if there was no response or its status is none that HTTP has. Pure.
std::string_view code_class(int status);

/// `writer`, whose response counts in `shiplog_cluster_proxy_requests_total` and
/// `shiplog_cluster_proxy_request_duration_seconds`.
std::shared_ptr<ResponseWriter> metered_proxy(std::shared_ptr<ResponseWriter> writer, const MemberClients& members,
                                              const HttpRequest& request, const ProxiedRequest* proxied);

/// An upgraded connection to a member, which is open as long as this exists.
class OpenUpgrade {
 public:
  explicit OpenUpgrade(const std::string& cluster);
  ~OpenUpgrade();
  OpenUpgrade(const OpenUpgrade&) = delete;
  OpenUpgrade& operator=(const OpenUpgrade&) = delete;

 private:
  metrics::Gauge open_;
};

}  // namespace shiplog::api
