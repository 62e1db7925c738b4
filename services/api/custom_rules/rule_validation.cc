#include "services/api/custom_rules/rule_validation.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "events/base/json.h"
#include "services/cel/cel_json.h"

namespace shiplog::api {
namespace {

constexpr const char* kInvalid = "FieldValueInvalid";
constexpr size_t kMostFindings = 100;
constexpr size_t kLongestShownValue = 512;
constexpr size_t kLongestMessage = 5 * 1024;  // of a messageExpression

/// Where a value is, on the stack of the walk.
struct RulePlace {
  const RulePlace* parent = nullptr;
  std::string_view name = {};
  size_t index = 0;
  enum class Step : uint8_t { kRoot, kField, kKey, kIndex } step = Step::kRoot;

  std::string text() const {
    if (step == Step::kRoot) return "";
    const std::string above = parent->text();
    if (step == Step::kIndex) return above + "[" + std::to_string(index) + "]";
    if (step == Step::kKey) return above + "[" + std::string{name} + "]";
    return (above.empty() ? "" : above + ".") + std::string{name};
  }
};

/// A value of the write, on the stack of the walk, and what it was before. An error about a value that the write leaves
/// as it is does not refuse the write.
struct CorrelatedValue {
  const Value* now = nullptr;
  const Value* before = nullptr;     ///< at this place; nullptr: there was none, or none corresponds
  CorrelatedValue* above = nullptr;  ///< what contains it; nullptr: it is the root
  std::optional<bool> equal = {};    ///< once it is known: all items of a list may ask

  /// The nearest place, from here on upwards, that corresponds; nullptr: none does.
  CorrelatedValue* nearest() {
    CorrelatedValue* at = this;
    while (at != nullptr && at->before == nullptr) at = at->above;
    return at;
  }
};

/// Whether a resource is as it was, apart from its metadata: of these, rules see only the name. So that a stricter rule
/// about a whole resource does not keep its finalizers from being removed.
bool unchanged_resource(const Value& old, const Value& now) {
  Value before = old;
  Value after = now;
  before.erase("metadata");
  after.erase("metadata");
  return before == after;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const size_t begin = text.find_first_not_of(kBlanks);
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string message_or_rule(const ValidationRule& rule) {
  return std::string{trimmed(rule.message.empty() ? rule.rule : rule.message)};
}

const char* type_word(const Schema& schema) {
  switch (schema.type) {
    case Schema::Type::kObject:
      return "object";
    case Schema::Type::kArray:
      return "array";
    case Schema::Type::kString:
      return "string";
    case Schema::Type::kInteger:
      return "integer";
    case Schema::Type::kNumber:
      return "number";
    case Schema::Type::kBoolean:
      return "boolean";
    case Schema::Type::kAny:
    case Schema::Type::kIntOrString:
      return "";
  }
  return "";
}

/// The root has no path.
std::string path_text(const std::string& path) { return path.empty() ? "<nil>" : path; }

class RuleWalk {
 public:
  explicit RuleWalk(int64_t budget) : budget_{budget} {}

  /// `old`: what oldSelf is.
  void visit(const RuleNode& node, const RulePlace& place, CorrelatedValue& here, const Value* old) {
    const Value& value = *here.now;
    if (value.is_null() || stopped_) return;
    evaluate(node, place, here, old);
    if (value.is_array()) return visit_items(node, place, here, old);
    const bool object = value.is_object();
    if (!object || (node.properties.empty() && node.additional == nullptr)) return;
    for (const auto& member : value.members()) {
      const auto property = node.properties.find(member.key());
      const bool field = property != node.properties.end();
      if (!field && node.additional == nullptr) continue;
      const RuleNode& below = field ? *property->second : *node.additional;
      const Value* old_below = old != nullptr ? old->find(member.key()) : nullptr;
      CorrelatedValue there{&member.value, here.before != nullptr ? here.before->find(member.key()) : nullptr, &here};
      visit(below, {&place, member.key(), 0, field ? RulePlace::Step::kField : RulePlace::Step::kKey}, there,
            old_below != nullptr && old_below->is_null() ? nullptr : old_below);
      if (stopped_) return;
    }
  }

  RuleFindings take() { return std::move(findings_); }
  int64_t budget() const { return budget_; }

 private:
  void visit_items(const RuleNode& node, const RulePlace& place, CorrelatedValue& here, const Value* old) {
    if (node.items == nullptr) return;
    const Value& value = *here.now;
    const auto by_key = keyed(node, old);
    for (size_t i = 0; i < value.size() && !stopped_; ++i) {
      const Value& item = value.items()[i];
      const auto found = by_key.empty() ? by_key.end() : by_key.find(key_of(*node.schema, item));
      const Value* old_item = found == by_key.end() ? nullptr : found->second;
      CorrelatedValue there{&item, here.before != nullptr ? old_item : nullptr, &here};
      visit(*node.items, {&place, {}, i, RulePlace::Step::kIndex}, there, old_item);
    }
  }

  static std::string key_of(const Schema& schema, const Value& item) {
    std::string key;
    for (const std::string& name : schema.list_keys) key += to_json(item[name]) + ",";
    return key;
  }

  /// The items of an old list whose items are told apart by keys; empty for any other.
  static std::map<std::string, const Value*> keyed(const RuleNode& node, const Value* old) {
    std::map<std::string, const Value*> items;
    if (old == nullptr || node.schema->list_type != Schema::ListType::kMap) return items;
    for (const Value& item : old->items()) items.emplace(key_of(*node.schema, item), &item);
    return items;
  }

  void evaluate(const RuleNode& node, const RulePlace& place, CorrelatedValue& here, const Value* old) {
    if (node.rules.empty()) return;
    const cel::CelValue self = cel::from_json(*here.now, node.field);
    const cel::CelValue old_self = old != nullptr ? cel::from_json(*old, node.field) : cel::CelValue{};
    const cel::CelValue optional_old = old != nullptr ? cel::CelValue::some(old_self) : cel::CelValue::none();
    for (const CompiledRule& rule : node.rules) {
      if (stopped_) return;
      if (!rule.program) {
        add(place.text(), kInvalid, type_value(node) + ": rule compile error: " + rule.error);
        continue;
      }
      const bool optional = rule.rule->optional_old_self.value_or(false);
      if (rule.uses_old_self && old == nullptr && !optional) continue;
      const std::vector<cel::CelValue> variables = {self, optional ? optional_old : old_self};
      judge(node, rule, place, here, variables);
    }
  }

  void judge(const RuleNode& node, const CompiledRule& rule, const RulePlace& place, CorrelatedValue& here,
             const std::vector<cel::CelValue>& variables) {
    cel::CelMeter meter{kRuleCost};
    const cel::CelValue result = rule.program->evaluate(variables, meter);
    if (!spend(meter.spent())) return stop(node, place, out_of_budget());
    const std::string named = message_or_rule(*rule.rule);
    if (meter.exceeded()) {
      return stop(node, place,
                  "'" + result.error_message() +
                      "': no further validation rules will be run due to call cost exceeds limit for rule: " + named);
    }
    if (result.is_error()) return add_failure(node, place, result.error_message(), named);
    if (!result.is(cel::CelValue::Kind::kBool)) return add_failure(node, place, "no such overload", named);
    if (result.as_bool()) return;
    const auto text = message(node, rule, place, variables);
    if (!text) return;
    refuse(node, rule, place, here, *text);
  }

  static std::string out_of_budget() {
    return "validation failed due to running out of cost budget, no further validation rules will be run";
  }

  /// False: the budget of the object is spent.
  bool spend(uint64_t units) {
    // Of an evaluation that was ended, it is not known how far it went beyond its limit.
    const auto spent = static_cast<int64_t>(std::min(units, kRuleCost + 1));
    if (spent > budget_) return false;
    budget_ -= spent;
    return true;
  }

  void stop(const RuleNode& node, const RulePlace& place, const std::string& why) {
    stopped_ = true;
    add(place.text(), kInvalid, type_value(node) + ": " + why);
  }

  /// An evaluation that ended in an error.
  void add_failure(const RuleNode& node, const RulePlace& place, const std::string& error, const std::string& named) {
    if (error.starts_with("no such overload")) {
      return add(
          place.text(), kInvalid,
          type_value(node) + ": '" + error +
              "': call arguments did not match a supported operator, function or macro signature for rule: " + named);
    }
    add(place.text(), kInvalid, type_value(node) + ": " + error + " evaluating rule: " + named);
  }

  /// What the error says; nullopt: nothing more is evaluated.
  std::optional<std::string> message(const RuleNode& node, const CompiledRule& rule, const RulePlace& place,
                                     const std::vector<cel::CelValue>& variables) {
    const std::string plain =
        rule.rule->message.empty() ? "failed rule: " + message_or_rule(*rule.rule) : message_or_rule(*rule.rule);
    if (!rule.message) return plain;
    cel::CelMeter meter{kRuleCost};
    const cel::CelValue made = rule.message->evaluate(variables, meter);
    if (!spend(meter.spent())) {
      stop(node, place,
           "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be "
           "run");
      return std::nullopt;
    }
    if (meter.exceeded()) {
      stop(node, place,
           "no further validation rules will be run due to call cost exceeds limit for messageExpression: " +
               to_json(Value{rule.rule->message_expression}));
      return std::nullopt;
    }
    if (!made.is(cel::CelValue::Kind::kString)) return plain;
    const std::string_view text = trimmed(made.as_string());
    const bool fit = !text.empty() && text.size() <= kLongestMessage && text.find('\n') == std::string_view::npos;
    return fit ? std::string{text} : plain;
  }

  static std::string type_value(const RuleNode& node) {
    return "Invalid value: \"" + std::string{type_word(*node.schema)} + "\"";
  }

  /// How an error shows a value: objects and lists not at all.
  static std::string shown(const RuleNode& node, const Value& value) {
    if (value.is_object() || value.is_array()) return "";
    const std::string text = to_json(value);
    return ": " + (text.size() <= kLongestShownValue ? text : "\"" + std::string{type_word(*node.schema)} + "\"");
  }

  /// Whether the write leaves the value as it is; nullopt: the budget is spent.
  std::optional<bool> unchanged(CorrelatedValue& here) {
    CorrelatedValue* compared = here.nearest();
    if (compared == nullptr) return false;
    if (!compared->equal) {
      if (!spend(cel::json_comparison_cost(*compared->now))) return std::nullopt;
      const bool is_root = compared->above == nullptr;
      compared->equal =
          is_root ? unchanged_resource(*compared->before, *compared->now) : *compared->before == *compared->now;
    }
    return compared->equal;
  }

  void refuse(const RuleNode& node, const CompiledRule& rule, const RulePlace& place, CorrelatedValue& here,
              const std::string& detail) {
    if (findings_.causes.size() >= kMostFindings && findings_.warnings.size() >= kMostFindings) return;
    const auto may_stay = rule.uses_old_self ? std::optional{false} : unchanged(here);
    if (!may_stay) return stop(node, place, out_of_budget());
    if ((*may_stay ? findings_.warnings.size() : findings_.causes.size()) >= kMostFindings) return;
    const Value& value = *here.now;
    std::string path = place.text();
    if (!rule.field_path.empty()) {
      path += (path.empty() || rule.field_path.starts_with("[") ? "" : ".") + rule.field_path;
    }
    const std::string& reason = rule.rule->reason;
    std::string text = "Invalid value" + shown(node, value) + ": " + detail;
    if (reason == "FieldValueForbidden") text = "Forbidden: " + detail;
    if (reason == "FieldValueRequired") text = "Required value: " + detail;
    if (reason == "FieldValueDuplicate") text = "Duplicate value" + shown(node, value);
    if (*may_stay) {
      findings_.warnings.push_back(path_text(path) + ": " + text);
    } else {
      add(path, reason.empty() ? kInvalid : reason, text);
    }
  }

  void add(const std::string& path, std::string reason, std::string message) {
    if (findings_.causes.size() < kMostFindings) {
      findings_.causes.push_back({path_text(path), std::move(reason), std::move(message)});
    }
  }

  int64_t budget_;
  bool stopped_ = false;
  RuleFindings findings_;
};

/// Of the parts of a schema that have rules. Those of a default's parts are evaluated with it.
void walk_defaults(const RuleNode& node, const std::string& path, int64_t& budget, std::vector<FieldCause>& causes) {
  if (node.schema->fallback) {
    RuleWalk walk{budget};
    CorrelatedValue value{&*node.schema->fallback, nullptr, nullptr};
    walk.visit(node, {}, value, nullptr);
    budget = walk.budget();
    for (FieldCause& cause : walk.take().causes) {
      const bool whole = cause.field == path_text("");
      cause.field = path + ".default" + (whole || cause.field.starts_with("[") ? "" : ".") + (whole ? "" : cause.field);
      causes.push_back(std::move(cause));
    }
  }
  for (const auto& [name, property] : node.properties) {
    walk_defaults(*property, path + ".properties[" + name + "]", budget, causes);
  }
  if (node.items != nullptr) walk_defaults(*node.items, path + ".items", budget, causes);
}

}  // namespace

std::vector<FieldCause> validate_defaults(const RuleSet& rules, const std::string& path) {
  std::vector<FieldCause> causes;
  int64_t budget = kObjectBudget;
  walk_defaults(*rules.root, path, budget, causes);
  return causes;
}

RuleFindings validate_rules(const RuleSet& rules, const Value& object, const Value* old, int64_t budget) {
  RuleWalk walk{budget};
  CorrelatedValue root{&object, old, nullptr};
  walk.visit(*rules.root, {}, root, old);
  return walk.take();
}

}  // namespace shiplog::api
