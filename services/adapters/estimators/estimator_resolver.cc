#include "services/adapters/estimators/estimator_resolver.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <utility>

#include <grpcpp/grpcpp.h>
#include <grpcpp/security/tls_credentials_options.h>

#include "schemas/estimator/v1/estimator.grpc.pb.h"
#include "services/adapters/estimators/messages.h"
#include "services/adapters/estimators/operations.h"
#include "services/runtime/service_host.h"

namespace shiplog {
namespace {

namespace pb = estimators::pb;

Result<std::string> contents(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) return Error{ErrorCode::kIo, "cannot read " + path};
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Result<std::shared_ptr<grpc::ChannelCredentials>> credentials(const EstimatorOptions& options) {
  if (options.ca_file.empty() && !options.skip_verify) return grpc::InsecureChannelCredentials();
  grpc::experimental::TlsChannelCredentialsOptions tls;
  if (options.certificate_file.empty() != options.key_file.empty()) {
    return Error{ErrorCode::kBadRequest,
                 "a client certificate for estimators requires its key, and a key its certificate"};
  }
  std::string roots;
  std::vector<grpc::experimental::IdentityKeyCertPair> identity;
  if (!options.skip_verify) {
    SHIPLOG_TRY(roots, contents(options.ca_file));
  }
  if (!options.certificate_file.empty()) {
    grpc::experimental::IdentityKeyCertPair pair;
    SHIPLOG_TRY(pair.certificate_chain, contents(options.certificate_file));
    SHIPLOG_TRY(pair.private_key, contents(options.key_file));
    identity.push_back(std::move(pair));
  }
  const bool has_identity = !identity.empty();
  if (has_identity || !roots.empty()) {
    tls.set_certificate_provider(
        std::make_shared<grpc::experimental::StaticDataCertificateProvider>(roots, std::move(identity)));
  }
  if (!roots.empty()) tls.watch_root_certs();
  if (has_identity) tls.watch_identity_key_cert_pairs();
  if (options.skip_verify) {
    tls.set_verify_server_certs(false);
    tls.set_check_call_host(false);
    tls.set_certificate_verifier(std::make_shared<grpc::experimental::NoOpCertificateVerifier>());
  }
  return grpc::experimental::TlsCredentials(tls);
}

/// One question in progress at all its clusters.
struct EstimateRound {
  std::mutex mutex;
  Value answers = Value::object();
  size_t open = 0;
  TraceContext trace;
  std::function<void(Value)> all;

  void add(const std::string& cluster, Value answer) {
    std::function<void(Value)> then;
    {
      const std::lock_guard lock{mutex};
      answers.set(cluster, std::move(answer));
      if (--open > 0) return;
      then = std::move(all);
    }
    then(std::move(answers));
  }
};
using EstimateRoundPtr = std::shared_ptr<EstimateRound>;

Value failure(const std::string& why) { return Value::object({{"failure", why}}); }

template <class Request, class Response>
struct EstimatorCall {
  grpc::ClientContext context;
  Request request;
  Response response;
};

}  // namespace

/// Calls in progress. The destructor of the owner waits for them, because their callbacks use its members.
struct EstimatorCalls {
  std::mutex mutex;
  std::condition_variable fewer;
  std::set<grpc::ClientContext*> contexts;

  void begin(grpc::ClientContext* context) {
    const std::lock_guard lock{mutex};
    contexts.insert(context);
  }
  void end(grpc::ClientContext* context) {
    const std::lock_guard lock{mutex};
    contexts.erase(context);
    fewer.notify_all();
  }
  void cancel_all() {
    std::unique_lock lock{mutex};
    for (grpc::ClientContext* context : contexts) context->TryCancel();
    fewer.wait(lock, [this] { return contexts.empty(); });
  }
};

struct EstimatorResolver::Impl {
  EstimatorOptions options;
  Executor* executor = nullptr;
  Random* random = nullptr;
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  std::map<std::string, std::unique_ptr<pb::Estimator::Stub>> stubs;  // by address
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
  EstimatorCalls calls;

  ~Impl() { calls.cancel_all(); }

  pb::Estimator::Stub& stub(const std::string& address) {
    auto& stub = stubs[address];
    if (stub == nullptr) {
      grpc::ChannelArguments arguments;
      // An estimator that is reachable again is used soon, not after two minutes.
      arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
      arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
      arguments.SetMaxReceiveMessageSize(1 << 16);
      stub = pb::Estimator::NewStub(grpc::CreateCustomChannel(address, credentials, arguments));
    }
    return *stub;
  }

  template <class Request, class Response, class Start, class Read>
  void call(const std::string& cluster, const Question& question, Request request, const EstimateRoundPtr& round,
            Start start, Read read) {
    auto pending = std::make_shared<EstimatorCall<Request, Response>>();
    pending->request = std::move(request);
    pending->request.set_cluster(cluster);
    pending->context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds{question.timeout.value});
    pending->context.AddMetadata("object", question.request["object"].str());
    pending->context.AddMetadata("traceparent", traceparent_of(round->trace, *random));
    calls.begin(&pending->context);
    start(pending.get(), [this, pending, cluster, round, read](const grpc::Status& status) {
      round->add(cluster, status.ok() ? Value::object({{"replicas", static_cast<int64_t>(read(pending->response))}})
                                      : failure(status.error_message()));
      calls.end(&pending->context);
    });
  }

  void ask_cluster(const std::string& cluster, const std::string& address, const Question& question,
                   const EstimateRoundPtr& round) {
    pb::Estimator::Stub& estimator = stub(address);
    if (question.operation == estimators::kMaxAvailableReplicas) {
      pb::MaxAvailableReplicasRequest request;
      estimators::put(question.request["replicaRequirements"], *request.mutable_replicarequirements());
      estimators::put_assumed(question.request["assumedWorkloads"][cluster], *request.mutable_assumedworkloads());
      call<pb::MaxAvailableReplicasRequest, pb::MaxAvailableReplicasResponse>(
          cluster, question, std::move(request), round,
          [&estimator](auto* pending, auto done) {
            estimator.async()->MaxAvailableReplicas(&pending->context, &pending->request, &pending->response,
                                                    std::move(done));
          },
          [](const pb::MaxAvailableReplicasResponse& response) { return response.maxreplicas(); });
      return;
    }
    if (question.operation == estimators::kGetUnschedulableReplicas) {
      pb::UnschedulableReplicasRequest request;
      const Value& resource = question.request["resource"];
      request.mutable_resource()->set_apiversion(resource["apiVersion"].str());
      request.mutable_resource()->set_kind(resource["kind"].str());
      request.mutable_resource()->set_namespace_(resource["namespace"].str());
      request.mutable_resource()->set_name(resource["name"].str());
      request.set_unschedulablethreshold(question.request["unschedulableThreshold"].as_int());
      call<pb::UnschedulableReplicasRequest, pb::UnschedulableReplicasResponse>(
          cluster, question, std::move(request), round,
          [&estimator](auto* pending, auto done) {
            estimator.async()->GetUnschedulableReplicas(&pending->context, &pending->request, &pending->response,
                                                        std::move(done));
          },
          [](const pb::UnschedulableReplicasResponse& response) { return response.unschedulablereplicas(); });
      return;
    }
    pb::MaxAvailableComponentSetsRequest request;
    request.set_namespace_(question.request["namespace"].str());
    for (const Value& component : question.request["components"].items()) {
      estimators::put(component, *request.add_components());
    }
    estimators::put_assumed(question.request["assumedWorkloads"][cluster], *request.mutable_assumedworkloads());
    call<pb::MaxAvailableComponentSetsRequest, pb::MaxAvailableComponentSetsResponse>(
        cluster, question, std::move(request), round,
        [&estimator](auto* pending, auto done) {
          estimator.async()->MaxAvailableComponentSets(&pending->context, &pending->request, &pending->response,
                                                       std::move(done));
        },
        [](const pb::MaxAvailableComponentSetsResponse& response) { return response.maxsets(); });
  }
};

Result<std::string> estimator_address(const State& state, const std::string& cluster, const EstimatorOptions& options) {
  const Value& object = state.value_of({type::kCluster, "", cluster});
  if (const auto annotated = annotation_of(object, kEstimatorAddress); !annotated.empty())
    return std::string{annotated};
  if (options.not_in_pull_mode && object["spec"]["syncMode"].as_string() == "Pull") {
    return Error{ErrorCode::kUnavailable, "clusters in Pull mode are not asked"};
  }
  const std::string name = options.service_prefix + "-" + cluster;
  const std::string port = ":" + std::to_string(options.port);
  const Object* service = state.find({"services", options.service_namespace, name});
  if (service == nullptr) return name + "." + options.service_namespace + ".svc.cluster.local" + port;
  const std::string host = service_host(service->value);
  if (host.empty()) {
    return Error{ErrorCode::kUnavailable, "service " + options.service_namespace + "/" + name +
                                              " has neither a cluster IP nor an external name"};
  }
  return host + port;
}

Result<std::unique_ptr<EstimatorResolver>> EstimatorResolver::make(const EstimatorOptions& options, Executor& executor,
                                                                   Random& random) {
  auto impl = std::make_unique<Impl>();
  SHIPLOG_TRY(impl->credentials, credentials(options));
  impl->options = options;
  impl->executor = &executor;
  impl->random = &random;
  return std::unique_ptr<EstimatorResolver>{new EstimatorResolver{std::move(impl)}};
}

EstimatorResolver::EstimatorResolver(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}

EstimatorResolver::~EstimatorResolver() { *impl_->alive = false; }

void EstimatorResolver::ask(const State& state, const QuestionPtr& question, const TraceContext& trace,
                            std::function<void(Result<Value>)> answered) {
  auto round = std::make_shared<EstimateRound>();
  round->trace = trace.id.empty() ? new_trace(*impl_->random) : trace;
  round->all = [executor = impl_->executor, alive = impl_->alive, answered = std::move(answered)](Value answers) {
    executor->post([alive, answered, answers = std::move(answers)] {
      if (*alive) answered(answers);
    });
  };
  const auto clusters = question->request["clusters"].items();
  round->open = clusters.size() + 1;
  for (const Value& cluster : clusters) {
    const auto address = estimator_address(state, cluster.str(), impl_->options);
    if (address) {
      impl_->ask_cluster(cluster.str(), address.value(), *question, round);
    } else {
      round->add(cluster.str(), failure(address.error().message));
    }
  }
  // The last answer completes the round, also if there are no clusters.
  const std::lock_guard lock{round->mutex};
  if (--round->open == 0) std::exchange(round->all, nullptr)(std::move(round->answers));
}

}  // namespace shiplog
