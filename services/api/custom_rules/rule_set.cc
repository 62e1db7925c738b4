#include "services/api/custom_rules/rule_set.h"

#include <algorithm>
#include <utility>

#include "events/base/utf8.h"
#include "services/api/custom_rules/rule_field_path.h"
#include "services/api/custom_rules/schema_types.h"
#include "services/cel/cel_libraries.h"

namespace shiplog::api {
namespace {

constexpr size_t kLongestShownRule = 512;
constexpr const char* kTooLarge = "the regular expressions of all rules are too large together";
constexpr size_t kMostCauses = 100;
constexpr size_t kMostPatternMemory = 32 * 1024 * 1024;  // of all rules of a version

class RuleCompiler {
 public:
  explicit RuleCompiler(std::vector<FieldCause>* causes) : causes_{causes} {}

  /// nullptr: there are no rules. `uncorrelatable`: where the outermost list is whose items cannot be told apart,
  /// or an atomic map; "": none.
  std::unique_ptr<RuleNode> compile(const Schema& schema, bool is_resource, const std::string& path,
                                    const std::string& uncorrelatable) {
    if (!has_rules(schema)) return nullptr;
    auto node = std::make_unique<RuleNode>();
    node->schema = &schema;
    compile_below(schema, is_resource, path, uncorrelatable, *node);
    const auto& field = types_.field_of(schema, is_resource);
    if (!field) {
      if (!schema.rules.empty()) {
        add(path + ".x-kubernetes-validations", "InternalError",
            "Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: "
            "unable to convert structural schema to CEL declarations");
      }
      return node;
    }
    node->field = *field;
    compile_own(schema, path, uncorrelatable, *node);
    return node;
  }

 private:
  void compile_below(const Schema& schema, bool is_resource, const std::string& path, const std::string& uncorrelatable,
                     RuleNode& node) {
    for (const auto& [name, property] : schema.properties) {
      if (is_resource && name == "metadata") continue;
      const bool correlatable = !uncorrelatable.empty() || !schema.atomic_map;
      auto below = compile(*property, property->embedded_resource, path + ".properties[" + name + "]",
                           correlatable ? uncorrelatable : path);
      if (below != nullptr) node.properties.emplace(name, std::move(below));
    }
    if (schema.additional != nullptr) {
      node.additional = compile(*schema.additional, schema.additional->embedded_resource,
                                path + ".additionalProperties", uncorrelatable);
    }
    if (schema.items != nullptr) {
      const bool correlatable = !uncorrelatable.empty() || schema.list_type == Schema::ListType::kMap;
      node.items = compile(*schema.items, schema.items->embedded_resource, path + ".items",
                           correlatable ? uncorrelatable : path);
    }
  }

  void compile_own(const Schema& schema, const std::string& path, const std::string& uncorrelatable, RuleNode& node) {
    if (schema.rules.empty()) return;
    const auto& functions = cel::kubernetes_functions();
    const cel::CelType& self = node.field.type;
    const cel::CelEnvironment plain{&functions, {{"self", self}, {"oldSelf", self}}};
    const cel::CelEnvironment optional{&functions, {{"self", self}, {"oldSelf", cel::CelType::optional(self)}}};
    for (size_t i = 0; i < schema.rules.size(); ++i) {
      const std::string place = path + ".x-kubernetes-validations[" + std::to_string(i) + "]";
      const ValidationRule& rule = schema.rules[i];
      CompiledRule compiled = compile_rule(rule, rule.optional_old_self.value_or(false) ? optional : plain, place);
      check_uses(compiled, place, uncorrelatable);
      if (!rule.field_path.empty()) {
        const auto field_path = rule_field_path(rule.field_path, schema);
        if (!field_path) {
          add(place + ".fieldPath", "FieldValueInvalid",
              "Invalid value: " + quoted(rule.field_path) + ": must be a valid path");
        }
        compiled.field_path = field_path.value_or("");
      }
      node.rules.push_back(std::move(compiled));
    }
  }

  CompiledRule compile_rule(const ValidationRule& rule, const cel::CelEnvironment& environment,
                            const std::string& place) {
    CompiledRule compiled;
    compiled.rule = &rule;
    if (is_full()) {
      compiled.error = kTooLarge;
      add_wrong(place + ".rule", rule.rule, compiled.error);
      return compiled;
    }
    auto program = cel::CelProgram::compile(rule.rule, environment);
    if (!program) {
      compiled.error = "compilation failed: " + program.error().message;
    } else if (!program.value().type().is(cel::CelType::Kind::kBool)) {
      compiled.error = "cel expression must evaluate to a bool";
    } else {
      compiled.uses_old_self = program.value().uses("oldSelf");
      compiled.error = memory_problem(program.value());
    }
    if (compiled.error.empty()) {
      compiled.program = std::move(program).value();
    }
    if (!compiled.error.empty()) add_wrong(place + ".rule", rule.rule, compiled.error);
    if (!compiled.program || rule.message_expression.empty()) return compiled;
    compile_message(rule, environment, place, compiled);
    return compiled;
  }

  void compile_message(const ValidationRule& rule, const cel::CelEnvironment& environment, const std::string& place,
                       CompiledRule& compiled) {
    auto message = cel::CelProgram::compile(rule.message_expression, environment);
    if (!message) {
      add_wrong(place + ".messageExpression", rule.message_expression,
                "messageExpression compilation failed: " + message.error().message);
    } else if (!message.value().type().is(cel::CelType::Kind::kString)) {
      add_wrong(place + ".messageExpression", rule.message_expression, "messageExpression must evaluate to a string");
    } else if (const std::string problem = memory_problem(message.value()); !problem.empty()) {
      add_wrong(place + ".messageExpression", rule.message_expression, problem);
    } else {
      compiled.message = std::move(message).value();
    }
  }

  /// A few bytes of a regular expression may take a megabyte, for as long as the definition exists.
  std::string memory_problem(const cel::CelProgram& program) {
    memory_ += program.memory();
    return memory_ <= kMostPatternMemory ? "" : kTooLarge;
  }

  /// What is left is not compiled, as that could take minutes.
  bool is_full() const {
    return memory_ > kMostPatternMemory || (causes_ != nullptr && causes_->size() >= kMostCauses);
  }

  void check_uses(const CompiledRule& compiled, const std::string& place, const std::string& uncorrelatable) {
    if (!compiled.program) return;
    if (compiled.uses_old_self && !uncorrelatable.empty()) {
      add_wrong(place + ".rule", compiled.rule->rule,
                "oldSelf cannot be used on the uncorrelatable portion of the schema within " + uncorrelatable);
    }
    if (!compiled.uses_old_self && compiled.rule->optional_old_self) {
      add(place + ".optionalOldSelf", "FieldValueInvalid",
          std::string{"Invalid value: "} + (*compiled.rule->optional_old_self ? "true" : "false") +
              ": may not be set if oldSelf is not used in rule");
    }
  }

  void add_wrong(std::string field, const std::string& text, const std::string& why) {
    // The expression in one line; `why` shows the place within it.
    add(std::move(field), "FieldValueInvalid",
        "Invalid value: " + quoted(printable(text, kLongestShownRule)) + ": " + why);
  }

  void add(std::string field, const char* reason, std::string message) {
    if (causes_ != nullptr && causes_->size() < kMostCauses) {
      causes_->push_back({std::move(field), reason, std::move(message)});
    }
  }

  std::vector<FieldCause>* causes_;
  SchemaTypes types_;
  size_t memory_ = 0;
};

}  // namespace

bool has_rules(const Schema& schema) {
  if (!schema.rules.empty()) return true;
  if (schema.items != nullptr && has_rules(*schema.items)) return true;
  if (schema.additional != nullptr && has_rules(*schema.additional)) return true;
  return std::ranges::any_of(schema.properties, [](const auto& each) { return has_rules(*each.second); });
}

std::shared_ptr<const RuleSet> compile_rules(const std::shared_ptr<const Schema>& schema, const std::string& path,
                                             std::vector<FieldCause>* causes) {
  if (schema == nullptr) return nullptr;
  auto root = RuleCompiler{causes}.compile(*schema, true, path, "");
  if (root == nullptr) return nullptr;
  return std::make_shared<const RuleSet>(RuleSet{schema, std::move(root)});
}

bool RuleCache::known_without(const std::shared_ptr<const Schema>& schema) const {
  const std::lock_guard lock{mutex_};
  const auto known = entries_.find(schema.get());
  return known != entries_.end() && known->second.rules == nullptr;
}

std::shared_ptr<const RuleSet> RuleCache::rules_of(const std::shared_ptr<const Schema>& schema) {
  if (schema == nullptr) return nullptr;
  {
    const std::lock_guard lock{mutex_};
    const auto known = entries_.find(schema.get());
    if (known != entries_.end()) return known->second.rules;
  }
  // Outside of the lock: other kinds need not wait. Two requests may compile the same rules.
  auto rules = compile_rules(schema);
  const std::lock_guard lock{mutex_};
  // Schemas of former definitions: nothing but this cache refers to them.
  std::erase_if(entries_, [](const auto& entry) {
    return entry.second.schema.use_count() <= (entry.second.rules == nullptr ? 1 : 2);
  });
  entries_.emplace(schema.get(), Entry{schema, rules});
  return rules;
}

}  // namespace shiplog::api
