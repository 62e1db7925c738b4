#pragma once

#include <functional>
#include <memory>
#include <string>

#include "events/base/result.h"
#include "services/adapters/estimators/options.h"
#include "services/runtime/executor.h"
#include "services/runtime/question_resolver.h"

namespace shiplog {

/// The annotation of a Cluster that says where its estimator listens: "HOST:PORT". Goes before everything else.
inline constexpr const char* kEstimatorAddress = "estimator.shiplog.io/address";

/// Where a cluster's estimator is (S-71): by the annotation; else by its Service in the control plane, at its cluster
/// IP or external name; else by the name that Service has inside of a cluster. Pure. Error: kUnavailable, it has none.
Result<std::string> estimator_address(const State& state, const std::string& cluster, const EstimatorOptions& options);

/// Asks the estimators of members over gRPC (S-71, S-72). A question's request is {clusters: [name],
/// replicaRequirements} or {clusters, components, namespace}; the answer {NAME: {replicas} | {failure}}, and never an
/// error: what to make of a cluster that said nothing is the scheduler's to know. All clusters are asked at once.
class EstimatorResolver final : public QuestionResolver {
 public:
  /// Errors: kIo, kBadRequest: a file with a certificate cannot be read.
  static Result<std::unique_ptr<EstimatorResolver>> make(const EstimatorOptions& options, Executor& executor);
  ~EstimatorResolver() override;

  void ask(const State& state, const QuestionPtr& question, std::function<void(Result<Value>)> answered) override;

 private:
  struct Impl;
  explicit EstimatorResolver(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
