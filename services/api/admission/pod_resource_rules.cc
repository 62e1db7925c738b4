#include "services/api/admission/pod_resource_rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "events/base/names.h"
#include "events/base/quantity.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/resource_names.h"

// Source: validateResourceRequirements, validatePodResources and validatePodResourceClaims in pkg/apis/core/validation
// of Kubernetes 1.36, SetDefaults_Pod in pkg/apis/core/v1, AggregateContainerRequests in component-helpers,
// ComputePodQOS.

namespace shiplog::api {
namespace {

constexpr std::string_view kHugePages = "hugepages-";
constexpr const char* kAmountLists[] = {"limits", "requests"};

bool is_compute(std::string_view name) { return name == "cpu" || name == "memory"; }
bool is_of_pods(std::string_view name) { return is_compute(name) || name.starts_with(kHugePages); }

/// Huge pages are counted: an amount is that of some of them.
void check_pages(std::string_view name, const Value& amount, const std::string& field, Causes& causes) {
  if (!name.starts_with(kHugePages)) return;
  const auto quantity = parse_quantity(amount.as_string());
  const auto page = parse_quantity(name.substr(kHugePages.size()));
  if (!quantity || !page || page.value().whole_milli() <= 0) return;
  if (quantity.value().whole_milli() % page.value().whole_milli() == 0) return;
  causes.invalid(field, amount, amount.str() + " is not positive integer multiple of " + std::string{name});
}

void check_pod_resource_name(std::string_view name, const std::string& field, Causes& causes) {
  Causes found;
  check_resource_name(name, field, found);
  if (found.empty() && !is_of_pods(name)) found.not_supported(field, Value{name}, {"cpu", "hugepages-", "memory"});
  causes.add(found);
}

using NameCheck = void (*)(std::string_view name, const std::string& field, Causes& causes);

void check_resources(const Value& resources, const std::string& field, NameCheck check_name, Causes& causes) {
  if (resources.size() == 0) return;
  const Value& limits = resources["limits"];
  const Value& requests = resources["requests"];
  bool pages = false;
  bool others = false;
  for (const char* list : kAmountLists) {
    for (const auto& amount : resources[list].members()) {
      const std::string here = field + "." + list + "[" + std::string{amount.key()} + "]";
      check_name(amount.key(), here, causes);
      check_resource_amount(amount.key(), amount.value, here, causes);
      check_pages(amount.key(), amount.value, here, causes);
      pages = pages || amount.key().starts_with(kHugePages);
      others = others || is_compute(amount.key());
    }
  }
  for (const auto& request : requests.members()) {
    if (can_be_overcommitted(request.key())) continue;
    const Value& limit = limits[request.key()];
    if (limit.is_null()) {
      causes.required(field + ".limits", "Limit must be set for non overcommitable resources");
      continue;
    }
    const auto wanted = parse_quantity(request.value.as_string());
    const auto most = parse_quantity(limit.as_string());
    if (!wanted || !most || wanted.value() == most.value()) continue;
    causes.invalid(field + ".requests", request.value,
                   "must be equal to " + std::string{request.key()} + " limit of " + limit.str());
  }
  if (pages && !others) causes.forbidden(field, "HugePages require cpu or memory");
}

struct AmountSum {
  Quantity quantity;
  QuantityFormat format = QuantityFormat::kDecimal;

  std::string text() const { return to_string(quantity, format); }
};
using AmountSums = std::map<std::string, AmountSum, std::less<>>;

/// A sum with what is added; one that is not there yet is written as the first amount is.
AmountSum plus(const AmountSums& sums, std::string_view name, const Value& amount) {
  const auto found = sums.find(name);
  AmountSum sum{{}, quantity_format(amount.as_string())};
  if (found != sums.end()) sum = found->second;
  if (const auto quantity = parse_quantity(amount.as_string())) sum.quantity = sum.quantity + quantity.value();
  return sum;
}

void raise_to(const AmountSum& other, std::string_view name, AmountSums& sums) {
  AmountSum& sum = sums.try_emplace(std::string{name}, other).first->second;
  if (sum.quantity < other.quantity) sum = other;
}

/// What the containers need together in `list`: init containers run one after the other, beside those before them that
/// keep running.
AmountSums sums_of(const Value& spec, const char* list) {
  AmountSums sums;
  const auto add_to = [](AmountSums& to, std::string_view name, const Value& amount) {
    to.insert_or_assign(std::string{name}, plus(to, name, amount));
  };
  for (const Value& container : spec["containers"].items()) {
    for (const auto& amount : container["resources"][list].members()) add_to(sums, amount.key(), amount.value);
  }
  AmountSums kept;
  AmountSums most;
  for (const Value& container : spec["initContainers"].items()) {
    const bool keeps_running = container["restartPolicy"].as_string() == "Always";
    for (const auto& amount : container["resources"][list].members()) {
      raise_to(plus(kept, amount.key(), amount.value), amount.key(), most);
      if (!keeps_running) continue;
      add_to(kept, amount.key(), amount.value);
      add_to(sums, amount.key(), amount.value);
    }
  }
  for (const auto& [name, sum] : most) raise_to(sum, name, sums);
  return sums;
}

/// The amounts of the pod against those of its containers.
void check_consistency(const Value& spec, const std::string& field, Causes& causes) {
  const Value& resources = spec["resources"];
  const auto check_sums = [&](const char* list, bool pages_only) {
    if (resources[list].size() == 0) return;
    for (const auto& [name, sum] : sums_of(spec, list)) {
      const Value& own = resources[list][name];
      const auto quantity = parse_quantity(own.as_string());
      if (own.is_null() || !quantity || (pages_only && !name.starts_with(kHugePages))) continue;
      if (sum.quantity <= quantity.value()) continue;
      causes.invalid(field + "." + list + "[" + name + "]", own,
                     "must be greater than or equal to aggregate container " + std::string{list} + " of " + sum.text());
    }
  };
  check_sums("requests", false);
  check_sums("limits", true);
  if (resources["limits"].size() == 0) return;
  const Value& containers = spec["containers"];
  for (size_t i = 0; i < containers.size(); ++i) {
    for (const auto& limit : containers[i]["resources"]["limits"].members()) {
      const Value& own = resources["limits"][limit.key()];
      const auto most = parse_quantity(own.as_string());
      const auto wanted = parse_quantity(limit.value.as_string());
      if (own.is_null() || !most || !wanted || wanted.value() <= most.value()) continue;
      causes.invalid(at(field + ".containers", i) + "[" + std::string{limit.key()} + "].limits", limit.value,
                     "must be less than or equal to pod limits of " + own.str());
    }
  }
}

void check_whole(const Value& spec, const std::string& field, Causes& causes) {
  const Value& resources = spec["resources"];
  if (resources.is_null()) return;
  if (spec["os"]["name"].as_string() == "windows") return causes.forbidden(field, "may not be set for a windows pod");
  if (!resources["claims"].is_null()) {
    causes.forbidden(field + ".claims", "claims may not be set for Resources at pod-level");
  }
  check_requested_amounts(resources, field, causes);
  check_resources(resources, field, check_pod_resource_name, causes);
  check_consistency(spec, field, causes);
}

using ClaimNames = std::set<std::string_view>;

void check_pod_claim(const Value& claim, const std::string& field, ClaimNames& names, Causes& causes) {
  const Value& name = claim["name"];
  if (name.is_empty()) {
    causes.required(field + ".name");
  } else if (!names.insert(name.as_string()).second) {
    causes.duplicate(field + ".name", name);
  } else if (const auto problem = label_problem(name.as_string())) {
    causes.invalid(field + ".name", name, *problem);
  }
  const bool named = !claim["resourceClaimName"].is_null();
  const bool made = !claim["resourceClaimTemplateName"].is_null();
  if (named && made) {
    causes.invalid(field, claim, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified");
  }
  if (!named && !made) {
    causes.invalid(field, claim, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
  }
  for (const char* reference : {"resourceClaimName", "resourceClaimTemplateName"}) {
    if (claim[reference].is_null()) continue;
    if (const auto problem = subdomain_problem(claim[reference].as_string())) {
      causes.invalid(field + "." + reference, claim[reference], *problem);
    }
  }
}

/// What a container uses of the pod's claims: whole ones, or some requests of them.
void check_claim_uses(const Value& uses, const ClaimNames& claims, const std::string& known, const std::string& field,
                      Causes& causes) {
  std::set<std::string, std::less<>> used;
  for (size_t i = 0; i < uses.size(); ++i) {
    const Value& name = uses[i]["name"];
    const std::string here = at(field, i);
    if (name.is_empty()) {
      causes.required(here);
      continue;
    }
    std::string key = name.str();
    const Value& request = uses[i]["request"];
    if (used.contains(key)) {
      causes.duplicate(here, name);
    } else {
      if (!request.is_empty()) {
        if (const auto problem = label_problem(request.as_string())) {
          causes.invalid(here + ".request", request, *problem);
        }
        key += "/" + request.str();
      }
      const auto part = used.lower_bound(key + "/");
      const bool in_parts = request.is_empty() && part != used.end() && part->starts_with(key + "/");
      if (in_parts || used.contains(key)) causes.duplicate(here, Value{key});
      used.insert(std::move(key));
    }
    if (claims.contains(name.as_string())) continue;
    causes.add({here, "FieldValueNotFound",
                "Not found: \"" + name.str() + "\": must be one of the names in pod.spec.resourceClaims" + known});
  }
}

void check_claims(const Value& spec, const std::string& field, Causes& causes) {
  const Value& claims = spec["resourceClaims"];
  ClaimNames names;
  for (size_t i = 0; i < claims.size(); ++i)
    check_pod_claim(claims[i], at(field + ".resourceClaims", i), names, causes);
  std::string known = names.empty() ? " which is empty" : ": ";
  for (const std::string_view name : names) {
    if (known.size() > Causes::kLongestMessage) break;  // the middle of a longer message is left out
    if (known.size() > 2) known += ", ";
    known += name;
  }
  for (const char* list : {"containers", "initContainers"}) {
    for (size_t i = 0; i < spec[list].size(); ++i) {
      check_claim_uses(spec[list][i]["resources"]["claims"], names, known,
                       at(field + "." + list, i) + ".resources.claims", causes);
    }
  }
}

void set_amount(Value& spec, const char* list, std::string_view name, const Value& amount) {
  spec.edit("resources").edit(list).set(name, amount);
}

/// Limits of huge pages, which are the same as the requests of them.
void fill_page_limits(Value& spec) {
  const Value resources = spec["resources"];
  if (resources["limits"].size() + resources["requests"].size() == 0) return;
  for (const auto& [name, sum] : sums_of(spec, "limits")) {
    if (!name.starts_with(kHugePages) || resources["requests"].contains(name) || resources["limits"].contains(name)) {
      continue;
    }
    set_amount(spec, "limits", name, Value{sum.text()});
  }
}

}  // namespace

void check_requested_amounts(const Value& resources, const std::string& field, Causes& causes) {
  for (const char* list : kAmountLists) {
    for (const auto& amount : resources[list].members()) {
      const auto quantity = parse_quantity(amount.value.as_string());
      if (quantity && quantity.value().negative()) {
        causes.invalid(field + "." + list + "[" + std::string{amount.key()} + "]", amount.value,
                       "must be greater than or equal to 0");
      }
    }
  }
  for (const auto& amount : resources["requests"].members()) {
    const Value& limit = resources["limits"][amount.key()];
    if (limit.is_null()) continue;
    const auto wanted = parse_quantity(amount.value.as_string());
    const auto most = parse_quantity(limit.as_string());
    if (wanted && most && wanted.value() > most.value() && can_be_overcommitted(amount.key())) {
      causes.invalid(field + ".requests", amount.value,
                     "must be less than or equal to " + std::string{amount.key()} + " limit of " + limit.str());
    }
  }
}

void check_container_resources(const Value& resources, const std::string& field, Causes& causes) {
  check_resources(resources, field, check_container_resource_name, causes);
}

void check_pod_resources(const Value& spec, const std::string& field, Causes& causes) {
  check_whole(spec, field + ".resources", causes);
  check_claims(spec, field, causes);
}

void fill_pod_resources(Value& spec) {
  if (!spec["resources"].is_object()) return;
  fill_page_limits(spec);
  const Value resources = spec["resources"];
  if (resources["limits"].size() == 0) return;
  for (const auto& [name, sum] : sums_of(spec, "requests")) {
    if (resources["requests"].contains(name) || !is_of_pods(name) || !can_be_overcommitted(name)) continue;
    set_amount(spec, "requests", name, Value{sum.text()});
  }
  for (const auto& limit : resources["limits"].members()) {
    if (spec["resources"]["requests"].contains(limit.key()) || !is_of_pods(limit.key())) continue;
    set_amount(spec, "requests", limit.key(), limit.value);
  }
}

const char* quality_of_service(const Value& spec) {
  bool any = false;
  bool all = true;
  const auto look_at = [&](const Value& resources) {
    for (const char* name : {"cpu", "memory"}) {
      const auto limit = parse_quantity(resources["limits"][name].as_string());
      const auto request = parse_quantity(resources["requests"][name].as_string());
      const bool limited = limit && !limit.value().is_zero();
      any = any || limited || (request && !request.value().is_zero());
      all = all && limited && request && limit.value() == request.value();
    }
  };
  if (!spec["resources"].is_null()) {
    look_at(spec["resources"]);
  } else {
    for (const char* list : {"containers", "initContainers"}) {
      for (const Value& container : spec[list].items()) look_at(container["resources"]);
    }
  }
  return !any ? "BestEffort" : all ? "Guaranteed" : "Burstable";
}

}  // namespace shiplog::api
