#include "services/runtime/service_host.h"

namespace shiplog {

std::string service_host(const Value& service) {
  const Value& spec = service["spec"];
  const bool outside = spec["type"].as_string() == "ExternalName";
  std::string host = (outside ? spec["externalName"] : spec["clusterIP"]).str();
  if (!outside && host == "None") return "";
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

}  // namespace shiplog
