#pragma once

#include <functional>
#include <memory>
#include <string>

#include "events/base/result.h"
#include "services/adapters/estimators/options.h"
#include "services/runtime/executor.h"
#include "services/runtime/question_resolver.h"

namespace shiplog {

/// The annotation of a Cluster with the address of its estimator: "HOST:PORT". Takes precedence over everything else.
inline constexpr const char* kEstimatorAddress = "estimator.shiplog.io/address";

/// The address of a cluster's estimator (S-71): from the annotation; else from its Service in the control plane, by
/// cluster IP or external name; else the DNS name of that Service within a cluster. Pure. Error: kUnavailable, it has
/// none.
Result<std::string> estimator_address(const State& state, const std::string& cluster, const EstimatorOptions& options);

/// Queries the estimators of members over gRPC (S-71, S-72). A question's request is {clusters: [name],
/// replicaRequirements}, {clusters, components, namespace} or {clusters, resource, unschedulableThreshold}. The answer
/// is {NAME: {replicas} | {failure}} and never an error: the scheduler decides how to treat a cluster without an
/// estimate. All clusters are queried concurrently.
class EstimatorResolver final : public QuestionResolver {
 public:
  /// Errors: kIo, kBadRequest: a file with a certificate cannot be read.
  /// `executor` and `random` outlive it.
  static Result<std::unique_ptr<EstimatorResolver>> make(const EstimatorOptions& options, Executor& executor,
                                                         Random& random);
  ~EstimatorResolver() override;

  void ask(const State& state, const QuestionPtr& question, const TraceContext& trace,
           std::function<void(Result<Value>)> answered) override;

 private:
  struct Impl;
  explicit EstimatorResolver(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
