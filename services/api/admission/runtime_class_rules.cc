#include <string>

#include "events/base/quantity.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/metadata.h"
#include "services/api/admission/rules.h"
#include "services/api/admission/scheduling_rules.h"

// RuntimeClasses. Source: pkg/apis/node/validation of Kubernetes 1.36.

namespace shiplog::api {
namespace {

void check_overhead(const Value& amounts, Causes& causes) {
  for (const auto& amount : amounts.members()) {
    const auto quantity = parse_quantity(quantity_text(amount.value));
    if (!quantity || !quantity.value().negative()) continue;
    // Kubernetes checks it as the limits of a container, and names it so.
    causes.invalid("overhead.limits[" + std::string{amount.key()} + "]", amount.value,
                   "must be greater than or equal to 0");
  }
}

void check_runtime_class(const Value& object, const Write& write, Causes& causes) {
  const Value& handler = object["handler"];
  if (write.old != nullptr) {
    if ((*write.old)["handler"] != handler) causes.invalid("handler", handler, "field is immutable");
    return;
  }
  if (handler.is_empty()) {
    causes.required("handler");
  } else if (const auto problem = label_problem(handler.as_string())) {
    causes.invalid("handler", handler, *problem);
  }
  check_overhead(object["overhead"]["podFixed"], causes);
  const Value& scheduling = object["scheduling"];
  check_labels(scheduling["nodeSelector"], "scheduling.nodeSelector", causes);
  for (size_t i = 0; i < scheduling["tolerations"].size(); ++i) {
    check_toleration(scheduling["tolerations"][i], at("scheduling.tolerations", i), causes);
  }
}

}  // namespace

const std::vector<Rules>& runtime_class_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "runtimeclasses.node.k8s.io", .check = check_runtime_class},
  };
  return kRules;
}

}  // namespace shiplog::api
