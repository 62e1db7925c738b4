#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/cel/library/authorizer.h"
#include "services/cel/program.h"

namespace shiplog::api {

/// The most that one expression may cost, all expressions of one policy binding, and all match conditions of one
/// webhook or policy. Source: k8s.io/apiserver/pkg/apis/cel/config.go.
inline constexpr uint64_t kExpressionCost = 1'000'000;
inline constexpr uint64_t kBindingCost = 10'000'000;
inline constexpr uint64_t kMatchConditionsCost = 2'500'000;
inline constexpr size_t kMostMatchConditions = 64;

/// Which variables an expression in an admission configuration may use besides object, oldObject, request and
/// namespaceObject.
struct ExpressionScope {
  bool params = false;
  bool authorizer = true;
  /// Members of `variables`, with their types; nullptr: there is no such variable.
  std::shared_ptr<const std::vector<cel::CelVariable>> variables = nullptr;
  bool patches = false;  ///< it may make the objects of services/cel/patch_object.h: of mutations
};

/// The types that an expression may have.
using ResultTypes = std::initializer_list<cel::CelType>;

/// The types of expressions of mutations: an Object; a list of JSONPatch.
cel::CelType configuration_result();
cel::CelType json_patch_result();

/// Error: kInvalid, in the words of kube-apiserver ("compilation failed: ...", "must evaluate to bool but got int").
Result<cel::CelProgram> compile_expression(std::string_view text, const ExpressionScope& scope, ResultTypes wanted);

/// What expressions see of a request.
struct ExpressionInput {
  Value object, old_object;  ///< null: there is none
  Value request;             ///< the request of an AdmissionReview
  Value ns;                  ///< the Namespace that it is in; null: none
  Value params;
  std::shared_ptr<const cel::CelAuthorizer> authorizer;
  cel::CelAccessQuestion resource;  ///< of authorizer.requestResource
};

/// The values of the variables of `scope`, in the order that its programs expect. `variables`: the value of the
/// variable of that name; not looked at unless the scope has it.
std::vector<cel::CelValue> expression_values(const ExpressionScope& scope, const ExpressionInput& input,
                                             const cel::CelValue& variables = {});

/// An expression that is compiled when it is first evaluated: configurations are read on the fold thread. Copies share
/// the program. Threads: any.
class LazyExpression {
 public:
  LazyExpression(std::string text, ExpressionScope scope, ResultTypes wanted)
      : shared_{std::make_shared<Shared>(std::move(text), std::move(scope), std::vector(wanted))} {}
  const std::string& text() const { return shared_->text; }
  const Result<cel::CelProgram>& program() const;

 private:
  struct Shared {
    Shared(std::string given, ExpressionScope in, std::vector<cel::CelType> types)
        : text{std::move(given)}, scope{std::move(in)}, wanted{std::move(types)} {}
    std::string text;
    ExpressionScope scope;
    std::vector<cel::CelType> wanted;
    std::once_flag once;
    std::optional<Result<cel::CelProgram>> program;
  };
  std::shared_ptr<Shared> shared_;
};

/// What is left of what several expressions may cost together.
struct CostBudget {
  uint64_t left = 0;
  bool exceeded = false;
};

/// Evaluates one expression. Error: kInvalid, kube-apiserver's "expression '...' resulted in error: ..." or
/// "compilation error: ..."; once budget.exceeded, the message says that the budget is used up.
Result<cel::CelValue> evaluate_expression(const LazyExpression& expression, const std::vector<cel::CelValue>& values,
                                          CostBudget& budget);

/// A match condition of a webhook or policy.
struct MatchCondition {
  std::string name;
  LazyExpression expression;
};

/// From a list of them. `params`: whether they may use `params`.
std::vector<MatchCondition> match_conditions_of(const Value& list, bool params);

/// Whether a request fulfils the conditions: nullopt if one of them could not be evaluated and none is false; then
/// `error` has all errors. `budget`: at first kMatchConditionsCost.
std::optional<bool> fulfils(const std::vector<MatchCondition>& conditions, const ExpressionInput& input, bool params,
                            CostBudget& budget, std::string& error);

}  // namespace shiplog::api
