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

/// What a value was before the write. An error about a value that the write leaves as it is does not refuse the write.
struct OldValue {
  const Value* same = nullptr;    ///< the value at this place before; nullptr: there was none, or none corresponds
  const Value* parent = nullptr;  ///< of the nearest place above that corresponds
  const Value* parent_now = nullptr;

  bool unchanged(const Value& now) const {
    if (same != nullptr) return *same == now;
    return parent != nullptr && *parent == *parent_now;
  }
  /// For what is within `now`; `below` is what corresponds there.
  OldValue within(const Value& now, const Value* below) const {
    return same == nullptr ? *this : OldValue{below, same, &now};
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

  void visit(const RuleNode& node, const RulePlace& place, const Value& value, const Value* old, OldValue before) {
    if (value.is_null() || stopped_) return;
    evaluate(node, place, value, old, before);
    if (value.is_array()) return visit_items(node, place, value, old, before);
    const bool object = value.is_object();
    if (!object || (node.properties.empty() && node.additional == nullptr)) return;
    for (const auto& member : value.members()) {
      const auto property = node.properties.find(member.key());
      const bool field = property != node.properties.end();
      if (!field && node.additional == nullptr) continue;
      const RuleNode& below = field ? *property->second : *node.additional;
      const Value* old_below = old != nullptr ? old->find(member.key()) : nullptr;
      const Value* corresponds = before.same != nullptr ? before.same->find(member.key()) : nullptr;
      visit(below, {&place, member.key(), 0, field ? RulePlace::Step::kField : RulePlace::Step::kKey}, member.value,
            old_below != nullptr && old_below->is_null() ? nullptr : old_below, before.within(value, corresponds));
      if (stopped_) return;
    }
  }

  RuleFindings take() { return std::move(findings_); }

 private:
  void visit_items(const RuleNode& node, const RulePlace& place, const Value& value, const Value* old,
                   const OldValue& before) {
    if (node.items == nullptr) return;
    const auto by_key = keyed(node, old);
    for (size_t i = 0; i < value.size() && !stopped_; ++i) {
      const Value& item = value.items()[i];
      const auto found = by_key.empty() ? by_key.end() : by_key.find(key_of(*node.schema, item));
      const Value* old_item = found == by_key.end() ? nullptr : found->second;
      visit(*node.items, {&place, {}, i, RulePlace::Step::kIndex}, item, old_item, before.within(value, old_item));
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

  void evaluate(const RuleNode& node, const RulePlace& place, const Value& value, const Value* old,
                const OldValue& before) {
    if (node.rules.empty()) return;
    const cel::CelValue self = cel::from_json(value, node.field);
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
      judge(node, rule, place, value, before, variables);
    }
  }

  void judge(const RuleNode& node, const CompiledRule& rule, const RulePlace& place, const Value& value,
             const OldValue& before, const std::vector<cel::CelValue>& variables) {
    cel::CelMeter meter{kRuleCost};
    const cel::CelValue result = rule.program->evaluate(variables, meter);
    if (!spend(meter)) return stop(node, place, out_of_budget());
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
    refuse(node, rule, place, value, before, *text);
  }

  static std::string out_of_budget() {
    return "validation failed due to running out of cost budget, no further validation rules will be run";
  }

  /// False: the budget of the object is spent.
  bool spend(const cel::CelMeter& meter) {
    // Of an evaluation that was ended, it is not known how far it went beyond its limit.
    const auto spent = static_cast<int64_t>(std::min<uint64_t>(meter.spent(), kRuleCost + 1));
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
    if (!spend(meter)) {
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

  /// How an error shows a value: of objects and lists only what they are.
  static std::string shown(const RuleNode& node, const Value& value) {
    if (value.is_object() || value.is_array()) return "\"" + std::string{type_word(*node.schema)} + "\"";
    std::string text = to_json(value);
    return text.size() <= kLongestShownValue ? text : "\"" + std::string{type_word(*node.schema)} + "\"";
  }

  void refuse(const RuleNode& node, const CompiledRule& rule, const RulePlace& place, const Value& value,
              const OldValue& before, const std::string& detail) {
    std::string path = place.text();
    if (!rule.field_path.empty()) {
      path += (path.empty() || rule.field_path.starts_with("[") ? "" : ".") + rule.field_path;
    }
    const std::string& reason = rule.rule->reason;
    std::string text = "Invalid value: " + shown(node, value) + ": " + detail;
    if (reason == "FieldValueForbidden") text = "Forbidden: " + detail;
    if (reason == "FieldValueRequired") text = "Required value: " + detail;
    if (reason == "FieldValueDuplicate") text = "Duplicate value: " + shown(node, value);
    const bool is_root = place.step == RulePlace::Step::kRoot;
    const bool unchanged =
        is_root ? before.same != nullptr && unchanged_resource(*before.same, value) : before.unchanged(value);
    if (!rule.uses_old_self && unchanged) {
      if (findings_.warnings.size() < kMostFindings) findings_.warnings.push_back(path_text(path) + ": " + text);
      return;
    }
    add(path, reason.empty() ? kInvalid : reason, text);
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

}  // namespace

RuleFindings validate_rules(const RuleSet& rules, const Value& object, const Value* old, int64_t budget) {
  RuleWalk walk{budget};
  walk.visit(*rules.root, {}, object, old, OldValue{old, nullptr, nullptr});
  return walk.take();
}

}  // namespace shiplog::api
