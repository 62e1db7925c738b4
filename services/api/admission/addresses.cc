#include "services/api/admission/addresses.h"

#include <string>

#include "events/state/object.h"
#include "services/api/admission/field_checks.h"

namespace shiplog::api {
namespace {

constexpr const char* kEstimatorAddress = "estimator.shiplog.io/address";

void check(const Value& value, const Value& before, const std::string& field, const Networks& denied, Causes& causes) {
  if (!value.is_string() || value == before) return;
  const std::string network = denied.holding_host_of(value.as_string());
  if (network.empty()) return;
  causes.invalid(field, value, "its address is in the network " + network + ", which --denied-networks excludes");
}

}  // namespace

void check_addresses(std::string_view type, const Value& object, const Value& old, const Networks& denied,
                     Causes& causes) {
  if (type == type::kCluster) {
    for (const char* field : {"apiEndpoint", "proxyURL"}) {
      check(object["spec"][field], old["spec"][field], std::string{"spec."} + field, denied, causes);
    }
    check(object["metadata"]["annotations"][kEstimatorAddress], old["metadata"]["annotations"][kEstimatorAddress],
          std::string{"metadata.annotations["} + kEstimatorAddress + "]", denied, causes);
    return;
  }
  if (type == "customresourcedefinitions.apiextensions.k8s.io") {
    const Value& client = object["spec"]["conversion"]["webhook"]["clientConfig"];
    return check(client["url"], old["spec"]["conversion"]["webhook"]["clientConfig"]["url"],
                 "spec.conversion.webhook.clientConfig.url", denied, causes);
  }
  if (type != "mutatingwebhookconfigurations.admissionregistration.k8s.io" &&
      type != "validatingwebhookconfigurations.admissionregistration.k8s.io" &&
      type != "resourceinterpreterwebhookconfigurations.config.karmada.io") {
    return;
  }
  for (size_t i = 0; i < object["webhooks"].size(); ++i) {
    check(object["webhooks"][i]["clientConfig"]["url"], old["webhooks"][i]["clientConfig"]["url"],
          at("webhooks", i) + ".clientConfig.url", denied, causes);
  }
}

}  // namespace shiplog::api
