#include "services/api/admission_policies/mutate_object.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "events/base/utf8.h"
#include "events/kinds/schema.h"
#include "services/api/admission_policies/policy_evaluation.h"
#include "services/api/apply/fields.h"
#include "services/api/apply/managed_fields.h"
#include "services/api/patch/patch.h"
#include "services/cel/patch_object.h"

// Wording: kube-apiserver's, which users search for.

namespace shiplog::api {
namespace {

// Twice the size of the largest request. Each of many mutations could make the object a little larger.
constexpr size_t kMostObjectBytes = 6U << 20U;

/// Whether the value takes about `most` bytes or more; what it takes is subtracted.
bool fills(const Value& value, size_t& most) {
  const auto takes = [&](size_t bytes) {
    most -= std::min(most, bytes);
    return most == 0;
  };
  if (takes(8 + value.as_string().size())) return true;
  return std::ranges::any_of(value.items(), [&](const Value& item) { return fills(item, most); }) ||
         std::ranges::any_of(value.members(), [&](const auto& member) {
           return takes(member.key().size()) || fills(member.value, most);
         });
}

Result<Value> patched(const Value& object, const Value& operations) {
  bool failed_test = false;
  auto result = apply_json_patch(object, operations, JsonPatchRules::kKubernetes, &failed_test);
  if (result) return result;
  if (failed_test) return object;  // a condition of the patch, and no error
  return Error{result.error().code, "JSON Patch: " + result.error().message};
}

std::string joined(const std::vector<std::string>& texts) {
  constexpr size_t kMost = 20;
  std::string all;
  for (size_t i = 0; i < std::min(texts.size(), kMost); ++i) all += (i == 0 ? "" : ", ") + texts[i];
  return all;
}

/// Fields of the configuration that the kind does not have.
std::vector<std::string> undeclared_fields(const Schema& schema, const Value& configuration) {
  std::vector<std::string> undeclared;
  prune(schema, configuration, &undeclared);
  const auto metadata = schema.properties.find("metadata");  // prune() lets it pass at the root
  if (metadata == schema.properties.end() || configuration["metadata"].is_null()) return undeclared;
  std::vector<std::string> of_metadata;
  prune(*metadata->second, configuration["metadata"], &of_metadata);
  for (const std::string& field : of_metadata) undeclared.push_back("metadata." + field);
  return undeclared;
}

/// The object with the configuration merged into it, as server-side apply merges, but without owners.
Result<Value> merged(const Kind* kind, const Value& object, Value configuration) {
  for (const char* field : {"apiVersion", "kind"}) configuration.set(field, object[field]);
  static const Kind kUnknown;
  std::optional<Schema> made;
  const Schema& schema = applied_schema(kind == nullptr ? kUnknown : *kind, made);
  if (kind != nullptr && kind->schema != nullptr) {
    const auto undeclared = undeclared_fields(*kind->schema, configuration);
    if (!undeclared.empty()) {
      return Error{ErrorCode::kInvalid, "error applying patch: failed to convert patch object to typed object: ." +
                                            printable(undeclared.front(), 512) + ": field not declared in schema"};
    }
  }
  if (const auto readable = fields_of(configuration, schema); !readable) {
    return Error{ErrorCode::kInvalid,
                 "error applying patch: failed to convert patch object to typed object: " + readable.error().message};
  }
  if (const auto atomic = atomic_fields(configuration, schema); !atomic.empty()) {
    return Error{ErrorCode::kInvalid,
                 "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: " +
                     joined(atomic)};
  }
  return merge_fields(object, configuration, schema);
}

Result<Value> json_within(const cel::CelValue& value, CostBudget& budget) {
  cel::CelMeter meter{std::min(kExpressionCost, budget.left)};
  auto json = cel::json_of(value, true, meter);
  budget.exceeded = budget.exceeded || meter.spent() > budget.left;
  budget.left -= std::min(budget.left, meter.spent());
  return json;
}

/// What one mutation makes of input.object.
Result<Value> mutated(const PolicyExpressions::Mutation& mutation, const ExpressionInput& input, const Kind* kind,
                      PolicyEvaluation& evaluation, const CompleteObject& complete) {
  SHIPLOG_TRY(const cel::CelValue value,
              evaluate_expression(mutation.expression, evaluation.values, *evaluation.budget));
  SHIPLOG_TRY(Value patch, json_within(value, *evaluation.budget));
  SHIPLOG_TRY(Value object,
              mutation.json_patch ? patched(input.object, patch) : merged(kind, input.object, std::move(patch)));
  if (object == input.object) return object;
  size_t most = kMostObjectBytes;
  if (fills(object, most)) {
    return Error{ErrorCode::kTooLarge,
                 "the object would have more than " + std::to_string(kMostObjectBytes) + " bytes"};
  }
  return complete(std::move(object));
}

}  // namespace

MutatedObject mutate_object(const AdmissionPolicy& policy, ExpressionInput input, const Kind* kind,
                            PolicyBudget& budget, const CompleteObject& complete) {
  MutatedObject result;
  result.object = input.object;
  const bool shared = budget.params++ > 0;
  const auto fail = [&](const CostBudget& spent, const std::string& why) {
    if (spent.exceeded && shared) {
      result.failures.push_back("the parameters of the binding cost too much together: " + why);
    } else if (policy.fails_closed) {
      result.failures.push_back(why);
    } else {
      ++result.ignored;
    }
  };
  std::string error;
  const auto fulfilled = fulfils(policy.conditions, input, policy.has_params(), budget.conditions, error);
  if (!fulfilled) fail(budget.conditions, error);
  if (fulfilled != true || input.object.is_null()) return result;

  const PolicyExpressions& expressions = policy.expressions();
  PolicyEvaluation evaluation{expressions, input};
  evaluation.charge(budget.mutations);
  for (const PolicyExpressions::Mutation& mutation : expressions.mutations) {
    auto object = mutated(mutation, input, kind, evaluation, complete);
    if (!object) {
      fail(budget.mutations, object.error().message);
      if (budget.mutations.exceeded) break;
      continue;
    }
    input.object = std::move(object).value();
    evaluation.see(expressions, input);
  }
  result.object = std::move(input.object);
  return result;
}

}  // namespace shiplog::api
