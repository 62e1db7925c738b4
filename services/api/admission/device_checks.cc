#include "services/api/admission/device_checks.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "events/base/json.h"
#include "services/api/admission/field_checks.h"

// Source: pkg/apis/resource/validation of Kubernetes 1.36.

namespace shiplog::api {
namespace {

bool is_c_identifier(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (text.empty() || !letter(text.front())) return false;
  return std::ranges::all_of(text, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

void check_identifier(std::string_view text, const std::string& field, Causes& causes) {
  constexpr size_t kLongest = 32;
  if (text.size() > kLongest) causes.too_long(field, kLongest);
  if (is_c_identifier(text)) return;
  causes.invalid(field, Value{text},
                 "a valid C identifier must start with alphabetic character or '_', followed by a string of "
                 "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for "
                 "validation is '[A-Za-z_][A-Za-z0-9_]*')");
}

/// The names in one of the two lists of conditions.
std::set<std::string> check_condition_names(const Value& list, const std::string& field, Causes& causes) {
  constexpr size_t kMostConditions = 4;
  std::set<std::string> names;
  if (!check_list_size(list, field, kMostConditions, causes)) return names;
  for (size_t i = 0; i < list.size(); ++i) {
    const Value& name = list[i];
    if (const auto problem = qualified_name_problem(name.as_string())) causes.invalid(at(field, i), name, *problem);
    if (!names.insert(name.str()).second) causes.duplicate(at(field, i), name);
  }
  return names;
}

}  // namespace

bool check_list_size(const Value& list, const std::string& field, size_t most, Causes& causes) {
  if (list.size() <= most) return true;
  causes.too_many(field, list.size(), most);
  return false;
}

void check_device_label(const Value& name, const std::string& field, Causes& causes) {
  if (name.is_empty()) return causes.required(field);
  if (const auto problem = label_problem(name.as_string())) causes.invalid(field, name, *problem);
}

void check_pool_name(const Value& name, const std::string& field, Causes& causes) {
  constexpr size_t kLongest = 253;
  const std::string_view text = name.as_string();
  if (text.empty()) return causes.required(field);
  if (text.size() > kLongest) causes.too_long(field, kLongest);
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('/', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    if (const auto problem = subdomain_problem(part)) causes.invalid(field, Value{part}, *problem);
    begin = end + 1;
  }
}

void check_device_property(const Value& name, const std::string& field, bool with_domain, Causes& causes) {
  const std::string_view text = name.as_string();
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    check_identifier(text, field, causes);
    if (with_domain) {
      causes.invalid(field, name, "a fully qualified name must be a domain and a name separated by a slash");
    }
    return;
  }
  if (text.find('/', slash + 1) != std::string_view::npos) {
    return causes.invalid(field, name, "must not contain more than one slash");
  }
  if (slash == 0) {
    causes.invalid(field, Value{""}, "the domain must not be empty");
  } else {
    check_driver_name(Value{text.substr(0, slash)}, field, causes);
  }
  if (slash + 1 == text.size()) return causes.invalid(field, Value{""}, "the name must not be empty");
  check_identifier(text.substr(slash + 1), field, causes);
}

void check_device_data(const Value& data, const std::string& field, Causes& causes) {
  constexpr size_t kMostBytes = size_t{10} * 1024;
  if (data.is_null()) return causes.required(field);
  if (to_json(data).size() > kMostBytes) return causes.too_long(field, kMostBytes);
  if (!data.is_object()) causes.invalid(field, Value{"<value omitted>"}, "must be a valid JSON object");
}

void check_binding_conditions(const Value& device, const std::string& field, Causes& causes) {
  const std::string ready = field + ".bindingConditions";
  const std::string failed = field + ".bindingFailureConditions";
  const Value& conditions = device["bindingConditions"];
  const Value& failures = device["bindingFailureConditions"];
  const std::set<std::string> names = check_condition_names(conditions, ready, causes);
  check_condition_names(failures, failed, causes);
  for (size_t i = 0; i < failures.size(); ++i) {
    if (!names.contains(failures[i].str())) continue;
    causes.invalid(at(failed, i), failures[i], "bindingFailureConditions must not overlap with bindingConditions");
  }
  if (conditions.size() == 0 && failures.size() > 0) {
    causes.invalid(ready, Value::array(), "bindingConditions are required to use bindingFailureConditions");
  }
  if (failures.size() == 0 && conditions.size() > 0) {
    causes.invalid(failed, Value::array(), "bindingFailureConditions are required to use bindingConditions");
  }
}

}  // namespace shiplog::api
