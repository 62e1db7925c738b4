#include "services/api/proxy/proxy_meter.h"

#include <array>
#include <utility>

#include "services/api/auth/rbac/attributes.h"
#include "services/api/pipeline/observed_writer.h"
#include "services/api/pipeline/request_meter.h"

namespace shiplog::api {
namespace {

/// Of requests for a cluster that there is not: users may invent as many names as they like.
constexpr std::string_view kUnknownCluster = "other";

metrics::Gauge open_upgrades(const std::string& cluster) {
  static const metrics::GaugeFamily family{"shiplog_cluster_proxy_upgraded_connections",
                                           "Connections of exec, attach, port-forward and the like that are open "
                                           "through the cluster proxy.",
                                           {"member_cluster"}};
  return family.with({cluster});
}

void count(const std::string& cluster, const std::string& verb, int status, double seconds) {
  static const metrics::CounterFamily total{"shiplog_cluster_proxy_requests_total",
                                            "Requests through the cluster proxy by cluster, verb and class of status.",
                                            {"member_cluster", "verb", "code_class"}};
  static const metrics::HistogramFamily durations{"shiplog_cluster_proxy_request_duration_seconds",
                                                  "Seconds until the response of a request through the cluster proxy "
                                                  "begins.",
                                                  {"member_cluster", "verb"},
                                                  {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60},
                                                  500};
  total.with({cluster, verb, code_class(status)}).add();
  durations.with({cluster, verb}).observe(seconds);
}

}  // namespace

std::string metric_verb(const HttpRequest& request, const ProxiedRequest* proxied) {
  std::string verb = labels_of(request).verb;
  if (proxied == nullptr) return verb;
  if (!proxied->protocol.empty()) return "CONNECT";
  const Attributes wanted = attributes_of(request.method, proxied->path, request.query);
  if (!wanted.is_resource) return verb;
  if (wanted.verb == "list") return "LIST";
  if (wanted.verb == "watch") return "WATCH";
  if (wanted.verb == "deletecollection") return "DELETECOLLECTION";
  if (wanted.verb == "patch" && request.headers.get("Content-Type").starts_with("application/apply-patch")) {
    return "APPLY";
  }
  return verb;
}

std::string_view code_class(int status) {
  static constexpr std::array<std::string_view, 6> kClasses = {"none", "1xx", "2xx", "3xx", "4xx", "5xx"};
  return status >= 100 && status < 600 ? kClasses[static_cast<size_t>(status) / 100] : kClasses[0];
}

std::shared_ptr<ResponseWriter> metered_proxy(std::shared_ptr<ResponseWriter> writer, const MemberClients& members,
                                              const HttpRequest& request, const ProxiedRequest* proxied) {
  const bool one = proxied != nullptr && members.knows(proxied->cluster);
  const bool known = one || (proxied != nullptr && proxied->cluster == kAllClusters);
  if (one) open_upgrades(proxied->cluster);  // exported from the first request on: 0 is a fact, too
  return observed(std::move(writer), [cluster = known ? proxied->cluster : std::string{kUnknownCluster},
                                      verb = metric_verb(request, proxied), watch = metrics::Stopwatch{}](int status) {
    count(cluster, verb, status, watch.seconds());
  });
}

OpenUpgrade::OpenUpgrade(const std::string& cluster) : open_{open_upgrades(cluster)} { open_.add(1); }

OpenUpgrade::~OpenUpgrade() { open_.add(-1); }

}  // namespace shiplog::api
