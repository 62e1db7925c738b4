#include "services/programs/estimator/server.h"

#include <chrono>

#include <grpcpp/grpcpp.h>

#include "schemas/estimator/v1/estimator.grpc.pb.h"
#include "services/adapters/estimators/messages.h"
#include "services/runtime/log.h"
#include "services/runtime/metrics.h"
#include "services/runtime/trace.h"

namespace shiplog::estimator {
namespace {

namespace pb = estimators::pb;

grpc::Status status_of(const Error& error) {
  grpc::StatusCode code = grpc::StatusCode::INTERNAL;
  if (error.code == ErrorCode::kBadRequest || error.code == ErrorCode::kInvalid) {
    code = grpc::StatusCode::INVALID_ARGUMENT;
  } else if (error.code == ErrorCode::kNotFound) {
    code = grpc::StatusCode::NOT_FOUND;
  } else if (error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimeout) {
    code = grpc::StatusCode::UNAVAILABLE;
  }
  return {code, error.message};
}

/// `type`: the method. Of the steps that upstream measures there is the whole alone: what a question needs is read at
/// once.
void count_request(const char* type, bool succeeded, double seconds) {
  static const metrics::CounterFamily requests{
      "karmada_scheduler_estimator_estimating_request_total", "Questions by method and result.", {"result", "type"}};
  static const metrics::HistogramFamily durations{"karmada_scheduler_estimator_estimating_algorithm_duration_seconds",
                                                  "Seconds to answer a question.",
                                                  {"result", "type", "step"},
                                                  metrics::exponential_buckets(0.001, 2, 12)};
  const char* result = succeeded ? "success" : "error";
  requests.with({result, type}).add();
  durations.with({result, type, "Total"}).observe(seconds);
}

class Service final : public pb::Estimator::CallbackService {
 public:
  explicit Service(const EstimatorServer::Options& options) : options_{options} {}

  grpc::ServerUnaryReactor* MaxAvailableReplicas(grpc::CallbackServerContext* context,
                                                 const pb::MaxAvailableReplicasRequest* request,
                                                 pb::MaxAvailableReplicasResponse* response) override {
    return answer(
        context, "MaxAvailableReplicas", request->cluster(), [request, response](const MemberObjects& member) {
          return [&]() -> Result<void> {
            SHIPLOG_TRY(const Value requirements, estimators::requirements_from(request->replicarequirements()));
            SHIPLOG_TRY(const Value assumed, estimators::assumed_from(request->assumedworkloads()));
            SHIPLOG_TRY(const int32_t most, max_replicas(member, requirements, assumed));
            response->set_maxreplicas(most);
            return ok();
          }();
        });
  }

  grpc::ServerUnaryReactor* MaxAvailableComponentSets(grpc::CallbackServerContext* context,
                                                      const pb::MaxAvailableComponentSetsRequest* request,
                                                      pb::MaxAvailableComponentSetsResponse* response) override {
    return answer(
        context, "MaxAvailableComponentSets", request->cluster(), [request, response](const MemberObjects& member) {
          return [&]() -> Result<void> {
            SHIPLOG_TRY(const Value components, estimators::components_from(request->components()));
            SHIPLOG_TRY(const Value assumed, estimators::assumed_from(request->assumedworkloads()));
            SHIPLOG_TRY(const int32_t most, max_component_sets(member, components, request->namespace_(), assumed));
            response->set_maxsets(most);
            return ok();
          }();
        });
  }

  grpc::ServerUnaryReactor* GetUnschedulableReplicas(grpc::CallbackServerContext* context,
                                                     const pb::UnschedulableReplicasRequest* request,
                                                     pb::UnschedulableReplicasResponse* response) override {
    return answer(context, "GetUnschedulableReplicas", request->cluster(),
                  [this, request, response](const MemberObjects& member) {
                    return [&]() -> Result<void> {
                      const pb::ObjectReference& about = request->resource();
                      const Value reference = Value::object({{"apiVersion", about.apiversion()},
                                                             {"kind", about.kind()},
                                                             {"namespace", about.namespace_()},
                                                             {"name", about.name()}});
                      const Millis threshold{request->unschedulablethreshold() / 1'000'000};
                      SHIPLOG_TRY(const int32_t count,
                                  unschedulable_replicas(member, reference, threshold, options_.clock->now()));
                      response->set_unschedulablereplicas(count);
                      return ok();
                    }();
                  });
  }

 private:
  /// The id of the caller's trace; "" if it sent none.
  static std::string trace_of(const grpc::CallbackServerContext& context) {
    const auto& metadata = context.client_metadata();
    const auto found = metadata.find("traceparent");
    if (found == metadata.end()) return "";
    const auto trace = parse_traceparent({found->second.data(), found->second.size()});
    return trace ? trace->id : "";
  }

  template <class Answer>
  grpc::ServerUnaryReactor* answer(grpc::CallbackServerContext* context, const char* method, const std::string& cluster,
                                   Answer work) {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    if (cluster != options_.cluster) {  // S-74
      reactor->Finish({grpc::StatusCode::INVALID_ARGUMENT,
                       "this is the estimator of cluster " + options_.cluster + ", not of " + cluster});
      return reactor;
    }
    log::debug("estimator.called", {log::kv("method", method), log::kv("trace_id", trace_of(*context))});
    options_.member->with(
        [reactor, method, work, watch = metrics::Stopwatch{}](const Result<const MemberObjects*>& objects) {
          const Result<void> done = objects ? work(*objects.value()) : Result<void>{objects.error()};
          if (!done)
            log::warn("estimator.failed", {log::kv("method", method), log::kv("reason", done.error().message)});
          count_request(method, done.has_value(), watch.seconds());
          reactor->Finish(done ? grpc::Status::OK : status_of(done.error()));
        });
    return reactor;
  }

  const EstimatorServer::Options options_;
};

std::shared_ptr<grpc::ServerCredentials> credentials(const EstimatorServer::Options& options) {
  if (options.certificate_pem.empty()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions tls{options.requires_client_certificate
                                            ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                            : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE};
  tls.pem_root_certs = options.client_ca_pem;
  tls.pem_key_cert_pairs.push_back({options.key_pem, options.certificate_pem});
  return grpc::SslServerCredentials(tls);
}

}  // namespace

struct EstimatorServer::Impl {
  explicit Impl(const Options& options) : service{options} {}
  Service service;
  std::unique_ptr<grpc::Server> server;
  int port = 0;
};

Result<std::unique_ptr<EstimatorServer>> EstimatorServer::start(const Options& options) {
  auto impl = std::make_unique<Impl>(options);
  grpc::ServerBuilder builder;
  // A port on which another process listens must not be shared.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddListeningPort(options.listen, credentials(options), &impl->port);
  builder.SetMaxReceiveMessageSize(4 << 20);
  builder.RegisterService(&impl->service);
  impl->server = builder.BuildAndStart();
  if (impl->server == nullptr || impl->port == 0) {
    return Error{ErrorCode::kIo, "cannot listen on " + options.listen + ", or the certificate cannot be read"};
  }
  return std::unique_ptr<EstimatorServer>{new EstimatorServer{std::move(impl)}};
}

EstimatorServer::EstimatorServer(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}

EstimatorServer::~EstimatorServer() {
  if (impl_->server != nullptr) impl_->server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds{2});
}

int EstimatorServer::port() const { return impl_->port; }

}  // namespace shiplog::estimator
