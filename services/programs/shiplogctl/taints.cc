#include "services/programs/shiplogctl/taints.h"

#include <algorithm>

#include "events/base/utf8.h"

namespace shiplog::ctl {
namespace {

constexpr size_t kLongestName = 63;

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && is_letter_or_digit(text.front()) &&
         is_letter_or_digit(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; });
}

/// The name of a label key, after an optional prefix, which the server checks.
bool is_key(std::string_view text) {
  const size_t slash = text.find('/');
  return slash == std::string_view::npos ? is_name(text) : slash > 0 && is_name(text.substr(slash + 1));
}

Error invalid(const std::string& spec, const std::string& why = {}) {
  return {ErrorCode::kBadRequest, "invalid taint spec: " + printable(spec, 300) + (why.empty() ? "" : ", " + why)};
}

Result<Value> parse_taint(const std::string& spec) {
  const size_t colon = spec.find(':');
  std::string key = spec.substr(0, colon);
  Value taint = Value::object();
  if (colon != std::string::npos) {
    const std::string effect = spec.substr(colon + 1);
    if (effect.find(':') != std::string::npos) return invalid(spec);
    if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute") {
      return Error{ErrorCode::kBadRequest, "invalid taint effect: " + printable(effect) + ", unsupported taint effect"};
    }
    taint.set("effect", effect);
    if (const size_t equals = key.find('='); equals != std::string::npos) {
      const std::string value = key.substr(equals + 1);
      if (value.find('=') != std::string::npos) return invalid(spec);
      if (!value.empty() && !is_name(value)) {
        return invalid(spec, "the value must be at most 63 letters, digits, '-', '_' or '.'");
      }
      if (!value.empty()) taint.set("value", value);
      key.erase(equals);
    }
  }
  if (!is_key(key)) {
    return invalid(spec,
                   "the key must be at most 63 letters, digits, '-', '_' or '.', and a change needs an effect: "
                   "KEY=VALUE:EFFECT, KEY:EFFECT, KEY:EFFECT- or KEY-");
  }
  taint.set("key", key);
  return taint;
}

bool same(const Value& taint, const Value& other) {
  return taint["key"] == other["key"] && taint["effect"] == other["effect"];
}

bool removes(const Value& removed, const Value& taint) {
  return removed["key"] == taint["key"] && (removed["effect"].is_null() || removed["effect"] == taint["effect"]);
}

std::string shown(const Value& removed) {
  return removed["key"].str() + (removed["effect"].is_null() ? "" : ":" + removed["effect"].str());
}

Result<void> check_conflicts(const TaintChanges& changes) {
  std::string conflicts;
  for (const Value& added : changes.added) {
    for (const Value& removed : changes.removed) {
      if (!removes(removed, added)) continue;
      conflicts += (conflicts.empty() ? "" : ", ") + std::string{"{\""} + removed["key"].str() + "\":\"" +
                   removed["effect"].str() + "\"}";
    }
  }
  if (conflicts.empty()) return ok();
  return Error{ErrorCode::kBadRequest,
               "can not both modify and remove the following taint(s) in the same command: " + conflicts};
}

}  // namespace

Result<TaintChanges> parse_taints(const std::vector<std::string>& specs) {
  TaintChanges changes;
  for (const std::string& spec : specs) {
    if (spec.ends_with("-")) {
      SHIPLOG_TRY(Value taint, parse_taint(spec.substr(0, spec.size() - 1)));
      taint.erase("value");
      changes.removed.push_back(std::move(taint));
      continue;
    }
    SHIPLOG_TRY(Value taint, parse_taint(spec));
    if (taint["effect"].is_null()) return invalid(spec);
    if (std::ranges::any_of(changes.added, [&](const Value& other) { return same(taint, other); })) {
      return Error{ErrorCode::kBadRequest, "duplicated taints with the same key and effect: " + printable(spec, 300)};
    }
    changes.added.push_back(std::move(taint));
  }
  SHIPLOG_TRY(check_conflicts(changes));
  return changes;
}

Result<ChangedTaints> change_taints(const std::string& cluster, const Value& present, const TaintChanges& changes,
                                    bool overwrite) {
  std::string existing;
  for (const Value& added : changes.added) {
    if (has_taint(present, added)) existing += (existing.empty() ? "" : ",") + added["key"].str();
  }
  if (!overwrite && !existing.empty()) {
    return Error{ErrorCode::kAlreadyExists, "cluster " + cluster + " already has " + existing +
                                                " taint(s) with same effect(s) and --overwrite is false"};
  }
  Value::Array taints = changes.added;
  for (const Value& old : present.items()) {
    if (!std::ranges::any_of(changes.added, [&](const Value& added) { return same(added, old); })) {
      taints.push_back(old);
    }
  }
  const bool added = taints.size() != present.size();
  bool deleted = false;
  std::string missing;
  for (const Value& removed : changes.removed) {
    deleted = std::erase_if(taints, [&](const Value& taint) { return removes(removed, taint); }) > 0;
    if (!deleted) missing += (missing.empty() ? "" : "\n") + std::string{"taint \""} + shown(removed) + "\" not found";
  }
  if (!missing.empty()) return Error{ErrorCode::kNotFound, missing};
  const char* what = (added && deleted) || overwrite ? "modified" : added ? "tainted" : "untainted";
  return ChangedTaints{Value::array(std::move(taints)), what};
}

Value unschedulable_taint() {
  return Value::object({{"key", "cluster.karmada.io/unschedulable"}, {"effect", "NoSchedule"}});
}

bool has_taint(const Value& taints, const Value& taint) {
  return std::ranges::any_of(taints.items(), [&](const Value& other) { return same(taint, other); });
}

}  // namespace shiplog::ctl
