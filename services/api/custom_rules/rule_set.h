#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "events/base/error.h"
#include "events/kinds/schema.h"
#include "services/cel/program.h"

namespace shiplog::api {

/// A rule of x-kubernetes-validations, compiled.
struct CompiledRule {
  const ValidationRule* rule = nullptr;
  std::optional<cel::CelProgram> program;  ///< self and oldSelf; nullopt: `error`
  std::string error;
  std::optional<cel::CelProgram> message;  ///< of messageExpression
  bool uses_old_self = false;
  std::string field_path;  ///< "a.b"; empty: the value itself
};

/// The rules of one part of a schema and of what is below it.
struct RuleNode {
  const Schema* schema = nullptr;
  cel::CelField field;  ///< the type of self
  std::vector<CompiledRule> rules;
  std::map<std::string, std::unique_ptr<RuleNode>, std::less<>> properties;
  std::unique_ptr<RuleNode> items;
  std::unique_ptr<RuleNode> additional;
};

/// The rules of a CustomResourceDefinition's version. Immutable; any number of threads may evaluate them.
struct RuleSet {
  std::shared_ptr<const Schema> schema;
  std::unique_ptr<RuleNode> root;
};

/// Compiles all rules of a schema; nullptr: it has none. `path` is the schema's location. What is wrong with a rule is
/// appended to `causes`, if given, as kube-apiserver reports it; such a rule refuses every object.
/// Source: k8s.io/apiextensions-apiserver pkg/apis/apiextensions/validation.
std::shared_ptr<const RuleSet> compile_rules(const std::shared_ptr<const Schema>& schema, const std::string& path = "",
                                             std::vector<FieldCause>* causes = nullptr);

/// The compiled rules of the schemas in use: a schema is compiled when it is first asked for.
/// Threads: any.
class RuleCache {
 public:
  std::shared_ptr<const RuleSet> rules_of(const std::shared_ptr<const Schema>& schema);
  /// Whether it is known that the schema has no rules. False: it has some, or it was not compiled yet.
  bool known_without(const std::shared_ptr<const Schema>& schema) const;

 private:
  struct Entry {
    std::shared_ptr<const Schema> schema;
    std::shared_ptr<const RuleSet> rules;
  };
  mutable std::mutex mutex_;
  std::map<const Schema*, Entry> entries_;
};

/// Whether the schema, or any part of it, has rules.
bool has_rules(const Schema& schema);

}  // namespace shiplog::api
