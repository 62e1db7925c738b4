#include <algorithm>
#include <set>

#include "events/base/names.h"
#include "events/base/quantity.h"
#include "events/state/object.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/rules.h"

// Cluster: CL-1 to CL-10; ResourceRegistry. What the schema can express (names, label values, required fields) is
// there.

namespace shiplog::api {
namespace {

constexpr const char* kMost = "9223372036854775807";

Value default_models() {
  static constexpr const char* kCpu[] = {"0", "1", "2", "4", "8", "16", "32", "64", "128", kMost};
  static constexpr const char* kMemory[] = {"0",     "4Gi",   "16Gi",  "32Gi", "64Gi",
                                            "128Gi", "256Gi", "512Gi", "1Ti",  kMost};
  Value models = Value::array();
  for (size_t grade = 0; grade + 1 < std::size(kCpu); ++grade) {
    const auto range = [&](const char* name, const char* const* bounds) {
      return Value::object({{"name", name}, {"min", bounds[grade]}, {"max", bounds[grade + 1]}});
    };
    models.push_back(
        Value::object({{"grade", grade}, {"ranges", Value::array({range("cpu", kCpu), range("memory", kMemory)})}}));
  }
  return models;
}

/// CL-9: by grade, from nothing to everything.
void standardize(Value& models) {
  auto& items = models.edit_items();
  std::stable_sort(items.begin(), items.end(),
                   [](const Value& a, const Value& b) { return a["grade"].as_int() < b["grade"].as_int(); });
  const auto bound = [](Value& model, const char* name, const char* value) {
    if (model["ranges"].size() == 0) return;
    for (Value& range : model.edit("ranges").edit_items()) range.set(name, value);
  };
  bound(items.front(), "min", "0");
  bound(items.back(), "max", kMost);
}

void fill_cluster(Value& object, const Write& write) {
  if (!object["spec"].is_object()) return;
  Value& spec = object.edit("spec");
  if (spec["resourceModels"].size() > 0) {
    standardize(spec.edit("resourceModels"));
  } else if (write.old == nullptr) {
    spec.set("resourceModels", default_models());  // CL-10
  }
  if (spec["taints"].size() > 0) {  // CL-7
    for (Value& taint : spec.edit("taints").edit_items()) {
      if (taint["effect"].as_string() == "NoExecute" && taint["timeAdded"].is_empty()) {
        taint.set("timeAdded", rfc3339(write.now));
      }
    }
  }
  if (!spec["zone"].is_empty() && spec["zones"].size() == 0) {  // CL-5
    spec.set("zones", Value::array({spec["zone"]}));
    spec.erase("zone");
  }
}

struct Url {
  std::string_view scheme, user, host, query, fragment;
};

Url parse_url(std::string_view text) {
  Url url;
  if (const size_t hash = text.find('#'); hash != std::string_view::npos) {
    url.fragment = text.substr(hash + 1);
    text = text.substr(0, hash);
  }
  if (const size_t mark = text.find('?'); mark != std::string_view::npos) {
    url.query = text.substr(mark + 1);
    text = text.substr(0, mark);
  }
  const size_t colon = text.find("://");
  if (colon == std::string_view::npos) return url;
  url.scheme = text.substr(0, colon);
  text.remove_prefix(colon + 3);
  url.host = text.substr(0, text.find('/'));
  if (const size_t sign = url.host.rfind('@'); sign != std::string_view::npos) {
    url.user = url.host.substr(0, sign + 1);
    url.host.remove_prefix(sign + 1);
  }
  return url;
}

void check_cluster_endpoints(const Value& spec, Causes& causes) {
  if (const Value& endpoint = spec["apiEndpoint"]; !endpoint.is_empty()) {  // CL-3
    const Url url = parse_url(endpoint.as_string());
    if (url.host.empty()) causes.invalid("spec.apiEndpoint", endpoint, "host must be specified");
    if (!url.user.empty()) causes.invalid("spec.apiEndpoint", endpoint, "user information is not permitted");
    if (!url.fragment.empty()) causes.invalid("spec.apiEndpoint", endpoint, "fragments are not permitted");
    if (!url.query.empty()) causes.invalid("spec.apiEndpoint", endpoint, "query parameters are not permitted");
  }
  if (const Value& proxy = spec["proxyURL"]; !proxy.is_empty()) {
    const Url url = parse_url(proxy.as_string());
    if (url.scheme != "http" && url.scheme != "https" && url.scheme != "socks5") {
      causes.invalid("spec.proxyURL", proxy,
                     "unsupported scheme \"" + std::string{url.scheme} + "\", must be http, https, or socks5");
    }
  }
}

void check_taints(const Value& taints, Causes& causes) {
  std::set<std::pair<std::string, std::string>> pairs;
  for (size_t i = 0; i < taints.size(); ++i) {
    const std::string field = at("spec.taints", i);
    if (const auto problem = qualified_name_problem(taints[i]["key"].as_string())) {
      causes.invalid(field + ".key", taints[i]["key"], *problem);
    }
    if (const auto problem = label_value_problem(taints[i]["value"].as_string())) {
      causes.invalid(field + ".value", taints[i]["value"], *problem);
    }
    if (!pairs.emplace(taints[i]["key"].str(), taints[i]["effect"].str()).second) {
      causes.add({field, "FieldValueDuplicate",
                  "Duplicate value: \"" + taints[i]["key"].str() + ":" + taints[i]["effect"].str() +
                      "\": taints must be unique by key and effect pair"});
    }
  }
}

void check_models(const Value& models, Causes& causes) {  // CL-8
  const std::string root = "spec.resourceModels";
  for (size_t i = 0; i < models.size(); ++i) {
    const Value& ranges = models[i]["ranges"];
    const std::string field = at(root, i);
    if (i > 0 && models[i]["grade"] == models[i - 1]["grade"]) {
      causes.invalid(field + ".grade", models[i]["grade"], "The grade of each models should not be the same");
    }
    const Value& first = models[0]["ranges"];
    if (ranges.size() != first.size()) {
      causes.invalid(field + ".ranges", ranges, "The number of resource types should be the same");
      continue;
    }
    for (size_t j = 0; j < ranges.size(); ++j) {
      const std::string here = at(field + ".ranges", j);
      if (ranges[j]["name"] != first[j]["name"]) {
        causes.invalid(here + ".name", ranges[j]["name"], "The resource name of each model should be the same");
      }
      const auto low = parse_quantity(quantity_text(ranges[j]["min"]));
      const auto high = parse_quantity(quantity_text(ranges[j]["max"]));
      if (!low || !high) {
        causes.invalid(here, ranges[j], "min and max must be quantities");
        continue;
      }
      if (high.value() <= low.value())
        causes.invalid(here, ranges[j], "The max value of each resource must be greater than the min value");
      if (i > 0 && j < models[i - 1]["ranges"].size()) {
        const auto below = parse_quantity(quantity_text(models[i - 1]["ranges"][j]["max"]));
        if (below && below.value() != low.value()) {
          causes.invalid(here, ranges[j], "Model intervals for resources must be contiguous and non-overlapping");
        }
      }
    }
  }
}

void check_cluster(const Value& object, const Write&, Causes& causes) {
  const Value& spec = object["spec"];
  check_cluster_endpoints(spec, causes);
  if (!spec["zone"].is_empty() && spec["zones"].size() > 0) {
    causes.invalid("spec.zone", spec["zone"], "zone and zones are mutually exclusive");
  }
  check_taints(spec["taints"], causes);
  check_models(spec["resourceModels"], causes);
}

// --- ResourceRegistry

/// The namespace becomes a part of the path that this control plane requests of members, with its own credentials.
void check_registry_selectors(const Value& selectors, Causes& causes) {
  for (size_t i = 0; i < selectors.size(); ++i) {
    const Value& ns = selectors[i]["namespace"];
    if (ns.is_empty()) continue;
    if (const auto problem = label_problem(ns.as_string())) {
      causes.invalid(at("spec.resourceSelectors", i) + ".namespace", ns, *problem);
    }
  }
}

void check_registry(const Value& object, const Write& write, Causes& causes) {
  const Value before = write.old == nullptr ? Value{} : (*write.old)["spec"]["resourceSelectors"];
  check_new(object["spec"]["resourceSelectors"], before, check_registry_selectors, causes);
}

}  // namespace

const std::vector<Rules>& cluster_rules() {
  static const std::vector<Rules> kRules = {
      {.type = type::kCluster, .fill = fill_cluster, .check = check_cluster},
      {.type = "resourceregistries.search.karmada.io", .check = check_registry},
  };
  return kRules;
}

}  // namespace shiplog::api
