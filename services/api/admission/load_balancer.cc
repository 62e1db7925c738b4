#include "services/api/admission/load_balancer.h"

#include <string>

#include "events/base/names.h"
#include "services/api/admission/field_checks.h"

namespace shiplog::api {

void check_load_balancer_ingress(const Value& ingress, Causes& causes) {
  for (size_t i = 0; i < ingress.size(); ++i) {
    const std::string field = at("status.loadBalancer.ingress", i);
    const Value& ip = ingress[i]["ip"];
    const Value& host = ingress[i]["hostname"];
    if (!ip.is_empty() && !parse_legacy_ip(ip.as_string())) causes.invalid(field + ".ip", ip, kNoAddress);
    if (host.is_empty()) continue;
    if (const auto problem = subdomain_problem(host.as_string())) causes.invalid(field + ".hostname", host, *problem);
    if (parse_legacy_ip(host.as_string())) {
      causes.invalid(field + ".hostname", host, "must be a DNS name, not an IP address");
    }
  }
}

}  // namespace shiplog::api
