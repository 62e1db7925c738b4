#include "services/api/admission/resource_names.h"

#include <algorithm>
#include <initializer_list>

#include "events/base/names.h"
#include "events/base/quantity.h"
#include "services/api/admission/field_checks.h"

namespace shiplog::api {
namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_domain(std::string_view name) { return name.find('/') != std::string_view::npos; }

bool is_native(std::string_view name) {
  return !has_domain(name) || name.find("kubernetes.io/") != std::string_view::npos;
}

bool is_object_count(std::string_view name) {
  return is_one_of(name, {"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps",
                          "persistentvolumeclaims", "services.nodeports", "services.loadbalancers"});
}

}  // namespace

bool is_standard_quota_name(std::string_view name) {
  return is_object_count(name) || name.starts_with("hugepages-") || name.starts_with("requests.hugepages-") ||
         is_one_of(name, {"cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.storage",
                          "requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage"});
}

bool is_extended_resource(std::string_view name) {
  return !is_native(name) && !name.starts_with("requests.") && !qualified_name_problem("requests." + std::string{name});
}

bool can_be_overcommitted(std::string_view name) { return is_native(name) && !name.starts_with("hugepages-"); }

void check_resource_name(std::string_view name, const std::string& field, Causes& causes) {
  if (const auto problem = qualified_name_problem(name)) {
    causes.invalid(field, Value{name}, *problem);
  } else if (!has_domain(name) && !is_standard_quota_name(name) && name != "storage") {
    causes.invalid(field, Value{name}, "must be a standard resource type or fully qualified");
  }
}

void check_container_resource_name(std::string_view name, const std::string& field, Causes& causes) {
  check_resource_name(name, field, causes);
  if (!has_domain(name)) {
    if (is_one_of(name, {"cpu", "memory", "ephemeral-storage"}) || name.starts_with("hugepages-")) return;
    causes.invalid(field, Value{name}, "must be a standard resource for containers");
  } else if (!is_native(name) && !is_extended_resource(name)) {
    causes.invalid(field, Value{name}, "doesn't follow extended resource name standard");
  }
}

void check_resource_amount(std::string_view name, const Value& amount, const std::string& field, Causes& causes) {
  const auto read = parse_quantity(quantity_text(amount));
  if (!read) return causes.invalid(field, amount, "must be a quantity");
  if (read.value().negative()) causes.invalid(field, amount, "must be greater than or equal to 0");
  const bool counted = is_object_count(name) || is_extended_resource(name);
  if (counted && read.value().whole_milli() % 1000 != 0) causes.invalid(field, amount, "must be an integer");
}

void check_quota_list(const Value& list, const std::string& field, Causes& causes) {
  for (const auto& limit : list.members()) {
    const std::string_view name = limit.key();
    const std::string here = field + "[" + std::string{name} + "]";
    check_resource_name(name, here, causes);
    if (!has_domain(name) && !is_standard_quota_name(name)) {
      causes.invalid(here, Value{name}, "must be a standard resource for quota");
    }
    check_resource_amount(name, limit.value, here, causes);
  }
}

}  // namespace shiplog::api
