#include "events/state/definition_status.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "events/base/ascii.h"
#include "events/base/base64.h"
#include "events/state/condition.h"
#include "events/state/object.h"

namespace shiplog {
namespace {

struct NameConflict {
  const char* reason;  ///< of NamesAccepted
  std::string message;
};

/// Of the names that a definition requests those that it gets; the others stay as they were.
class NameRequest {
 public:
  NameRequest(const Value& requested, const Value& held, const NamesInUse& others)
      : requested_{requested}, held_{held}, others_{others}, accepted_{requested} {
    take("plural", "PluralConflict", &NamesInUse::resource);
    take("singular", "SingularConflict", &NamesInUse::resource);
    take_short_names();
    take("kind", "KindConflict", &NamesInUse::kind);
    take("listKind", "ListKindConflict", &NamesInUse::kind);
  }

  Value accepted() && { return std::move(accepted_); }
  /// The last one, as upstream reports it.
  const std::optional<NameConflict>& conflict() const { return conflict_; }

 private:
  using Find = const std::string* (NamesInUse::*)(std::string_view) const;

  static std::string in_use(std::string_view name, const std::string& holder) {
    return "\"" + std::string{name} + "\" is already in use by " + holder;
  }

  void take(const char* field, const char* reason, Find find) {
    const std::string_view name = requested_[field].as_string();
    const std::string* holder = requested_[field] == held_[field] ? nullptr : (others_.*find)(name);
    if (holder != nullptr) refuse(field, {reason, in_use(name, *holder)});
  }

  void take_short_names() {
    std::set<std::string_view> held;
    for (const Value& name : held_["shortNames"].items()) held.insert(name.as_string());
    std::vector<std::string> found;
    for (const Value& name : requested_["shortNames"].items()) {
      if (held.contains(name.as_string())) continue;
      if (const std::string* holder = others_.resource(name.as_string()))
        found.push_back(in_use(name.as_string(), *holder));
    }
    if (found.empty()) return;
    std::string all;
    for (const std::string& each : found) all += (all.empty() ? "" : ", ") + each;
    refuse("shortNames", {"ShortNamesConflict", found.size() == 1 ? all : "[" + all + "]"});
  }

  void refuse(const char* field, NameConflict conflict) {
    conflict_ = std::move(conflict);
    if (const Value* name = held_.find(field)) {
      accepted_.set(field, *name);
    } else {
      accepted_.erase(field);
    }
  }

  const Value& requested_;
  const Value& held_;
  const NamesInUse& others_;
  Value accepted_;
  std::optional<NameConflict> conflict_;
};

/// Sets conditions of a definition; what has not changed keeps its time.
class ConditionWriter {
 public:
  ConditionWriter(Value& definition, const Value& before, UtcMillis now)
      : definition_{definition}, before_{before}, now_{now} {}

  void set(const char* type, bool holds, std::string_view reason, std::string_view message) {
    const char* status = holds ? "True" : "False";
    const Value& earlier = condition_of(before_, type);
    const bool same = earlier["status"].as_string() == status && !earlier["lastTransitionTime"].is_empty();
    Value condition = Value::object({{"type", type},
                                     {"status", status},
                                     {"lastTransitionTime", same ? earlier["lastTransitionTime"] : rfc3339(now_)},
                                     {"reason", reason},
                                     {"message", message}});
    edit_condition(definition_.edit("status"), type) = std::move(condition);
  }

 private:
  Value& definition_;
  const Value& before_;
  const UtcMillis now_;
};

/// As Go's url.ParseRequestURI reads it: with a scheme and a host.
bool is_url(std::string_view text) {
  constexpr std::string_view kAfterScheme = "://";
  const size_t end = text.find(kAfterScheme);
  if (end == std::string_view::npos || end == 0) return false;
  const auto in_scheme = [](char c) {
    const bool letter = lower_case(c) >= 'a' && lower_case(c) <= 'z';
    return letter || is_digit(c) || c == '+' || c == '-' || c == '.';
  };
  if (!std::ranges::all_of(text.substr(0, end), in_scheme)) return false;
  const std::string_view rest = text.substr(end + kAfterScheme.size());
  std::string_view host = rest.substr(0, rest.find_first_of("/?"));
  host = host.substr(host.rfind('@') + 1);
  return !host.empty() && host.find(' ') == std::string_view::npos;
}

/// Others may have taken the names of a definition that serves none.
bool serves_some_version(const Value& definition) {
  return std::ranges::any_of(definition["spec"]["versions"].items(),
                             [](const Value& version) { return version["served"].as_bool(); });
}

}  // namespace

void NamesInUse::add(const Value& names, const std::string& type) {
  for (const char* field : {"plural", "singular"}) resources_.emplace(names[field].str(), type);
  for (const Value& name : names["shortNames"].items()) resources_.emplace(name.str(), type);
  for (const char* field : {"kind", "listKind"}) kinds_.emplace(names[field].str(), type);
}

const std::string* NamesInUse::find(const Holders& holders, std::string_view name) {
  const auto found = name.empty() ? holders.end() : holders.find(name);
  return found == holders.end() ? nullptr : &found->second;
}

bool serves_kinds(const Value& definition) {
  return condition_of(definition, "Established")["status"].as_string() != "False";
}

const Value& accepted_names(const Value& definition) {
  const Value& accepted = definition["status"]["acceptedNames"];
  const bool whole = !accepted["plural"].is_empty() && !accepted["kind"].is_empty();
  return whole ? accepted : definition["spec"]["names"];
}

bool waits_for_names(const Value& definition) {
  return condition_of(definition, "NamesAccepted")["status"].as_string() == "False";
}

bool is_authority_bundle(const Value& bundle) {
  if (bundle.is_empty()) return true;
  const auto pem = base64_decode(bundle.as_string());
  return pem && pem->find("-----BEGIN CERTIFICATE-----") != std::string::npos;
}

const Value& conversion_bundle(const Value& definition) {
  return definition["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"];
}

bool needs_api_approval(std::string_view group) {
  return group == "k8s.io" || group.ends_with(".k8s.io") || group == "kubernetes.io" ||
         group.ends_with(".kubernetes.io");
}

ApiApprovalState api_approval_of(const Value& definition) {
  const std::string annotation{annotation_of(definition, kApiApproved)};
  const std::string needed = std::string{"protected groups must have approval annotation \""} + kApiApproved + "\"";
  const std::string link = ", see https://github.com/kubernetes/enhancements/pull/1111";
  if (annotation.empty()) return {ApiApproval::kMissing, needed + link};
  if (annotation.starts_with("unapproved")) return {ApiApproval::kBypassed, "not approved: \"" + annotation + "\""};
  if (is_url(annotation)) return {ApiApproval::kApproved, "approved in " + annotation};
  return {ApiApproval::kInvalid, needed + " with either a URL or a reason starting with \"unapproved\"" + link};
}

void settle_definition(Value& definition, const Value& before, const NamesInUse& others, UtcMillis now) {
  const bool established = condition_holds(before, "Established") && serves_some_version(before);
  const Value none;
  NameRequest names{definition["spec"]["names"], established ? before["status"]["acceptedNames"] : none, others};
  const std::optional<NameConflict> conflict = names.conflict();
  Value accepted = std::move(names).accepted();
  definition.edit("status").set("acceptedNames", std::move(accepted));

  ConditionWriter conditions{definition, before, now};
  if (conflict) {
    conditions.set("NamesAccepted", false, conflict->reason, conflict->message);
  } else {
    conditions.set("NamesAccepted", true, "NoConflicts", "no conflicts found");
  }
  // The kind is served as soon as this is folded, so it is established here and now.
  if (established || (!conflict && is_authority_bundle(conversion_bundle(definition)))) {
    conditions.set("Established", true, "InitialNamesAccepted", "the initial names have been accepted");
  } else if (conflict) {
    conditions.set("Established", false, "NotAccepted", "not all names are accepted");
  } else {
    conditions.set("Established", false, "InvalidCABundle", "The conversion webhook CABundle is invalid");
  }
  if (!needs_api_approval(definition["spec"]["group"].as_string())) return;
  constexpr const char* kReasons[] = {"ApprovedAnnotation", "UnapprovedAnnotation", "MissingAnnotation",
                                      "InvalidAnnotation"};
  const ApiApprovalState state = api_approval_of(definition);
  conditions.set("KubernetesAPIApprovalPolicyConformant", state.approval == ApiApproval::kApproved,
                 kReasons[static_cast<size_t>(state.approval)], state.reason);
}

}  // namespace shiplog
