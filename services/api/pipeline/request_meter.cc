#include "services/api/pipeline/request_meter.h"

#include <array>
#include <unordered_map>
#include <utility>

namespace shiplog::api {
namespace {

using metrics::CounterFamily;
using metrics::GaugeFamily;
using metrics::HistogramFamily;

constexpr std::string_view kComponent = "apiserver";

/// What is counted for one combination of labels.
struct ResponseCounters {
  metrics::Counter total;
  metrics::Histogram seconds, bytes;
};

ResponseCounters make_counters(const RequestLabels& labels, const std::string& code) {
  static const CounterFamily total{
      "apiserver_request_total",
      "Requests by verb, resource and HTTP status.",
      {"verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component", "code"}};
  static const HistogramFamily seconds{
      "apiserver_request_duration_seconds",
      "Seconds from the arrival of a request to its response; of a watch, to its end.",
      {"verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component"},
      {0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60},
      500};
  static const HistogramFamily bytes{"apiserver_response_sizes",
                                     "Bytes of the responses to GET and LIST.",
                                     {"verb", "group", "version", "resource", "subresource", "scope", "component"},
                                     metrics::exponential_buckets(1000, 10, 7),
                                     500};
  ResponseCounters counters;
  counters.total = total.with({labels.verb, labels.dry_run, labels.group, labels.version, labels.resource,
                               labels.subresource, labels.scope, kComponent, code});
  counters.seconds = seconds.with({labels.verb, labels.dry_run, labels.group, labels.version, labels.resource,
                                   labels.subresource, labels.scope, kComponent});
  if (labels.verb == "GET" || labels.verb == "LIST") {
    counters.bytes = bytes.with(
        {labels.verb, labels.group, labels.version, labels.resource, labels.subresource, labels.scope, kComponent});
  }
  return counters;
}

/// Of each thread, so that a request looks up one series and not three, without a lock.
const ResponseCounters& counters_of(const RequestLabels& labels, int status) {
  constexpr size_t kMostCached = 4000;  // kinds are added and removed: begun anew then
  thread_local std::unordered_map<std::string, ResponseCounters> cache;
  thread_local std::string key;
  const std::string code = std::to_string(status);
  key.clear();
  for (const std::string* part : {&labels.verb, &labels.dry_run, &labels.group, &labels.version, &labels.resource,
                                  &labels.subresource, &labels.scope, &code}) {
    key.append(*part).push_back('/');
  }
  const auto cached = cache.find(key);
  if (cached != cache.end()) return cached->second;
  if (cache.size() >= kMostCached) cache.clear();
  return cache.emplace(key, make_counters(labels, code)).first->second;
}

metrics::Gauge inflight(const HttpRequest& request) {
  static const GaugeFamily family{
      "apiserver_current_inflight_requests", "Requests without a response yet, watches excepted.", {"request_kind"}};
  static const metrics::Gauge reading = family.with({"readOnly"});
  static const metrics::Gauge mutating = family.with({"mutating"});
  return request.method == "GET" || request.method == "HEAD" || request.method == "OPTIONS" ? reading : mutating;
}

metrics::Gauge long_running(const RequestLabels& labels) {
  static const GaugeFamily family{"apiserver_longrunning_requests",
                                  "Running watches and log streams.",
                                  {"verb", "group", "version", "resource", "subresource", "scope", "component"}};
  return family.with(
      {labels.verb, labels.group, labels.version, labels.resource, labels.subresource, labels.scope, kComponent});
}

std::string verb_of(const HttpRequest& request) {
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}) {
    if (request.method == method) return method;
  }
  return "OTHER";
}

class MeteredWriter final : public ResponseWriter {
 public:
  MeteredWriter(std::shared_ptr<ResponseWriter> writer, std::shared_ptr<RequestMeter> meter)
      : writer_{std::move(writer)}, meter_{std::move(meter)} {}

  void send(HttpResponse response) override {
    meter_->responded(response.status, response.body.size());
    writer_->send(std::move(response));
  }
  void start(int status, HttpHeaders headers) override {
    meter_->streaming(status);
    writer_->start(status, std::move(headers));
  }
  void write(std::string chunk, Done done) override { writer_->write(std::move(chunk), std::move(done)); }
  void end() override { writer_->end(); }
  void upgrade(HttpHeaders headers, Upgraded then) override {
    meter_->streaming(101);
    writer_->upgrade(std::move(headers), std::move(then));
  }
  void on_close(std::function<void()> callback) override { writer_->on_close(std::move(callback)); }
  bool closed() const override { return writer_->closed(); }

 private:
  std::shared_ptr<ResponseWriter> writer_;
  std::shared_ptr<RequestMeter> meter_;
};

}  // namespace

RequestLabels labels_of(const HttpRequest& request) {
  RequestLabels labels;
  labels.verb = verb_of(request);
  return labels;
}

RequestLabels labels_of(const RequestTarget& target, const HttpRequest& request) {
  RequestLabels labels = labels_of(request);
  if (target.kind == nullptr) return labels;
  if (target.verb == "list") labels.verb = "LIST";
  if (target.verb == "watch") labels.verb = "WATCH";
  if (target.verb == "deletecollection") labels.verb = "DELETECOLLECTION";
  if (target.verb == "patch" && request.headers.get("Content-Type").starts_with("application/apply-patch")) {
    labels.verb = "APPLY";
  }
  const std::string* dry_run = request.query_value("dryRun");
  if (dry_run != nullptr && *dry_run == "All") labels.dry_run = "All";
  labels.group = target.kind->group;
  labels.version = target.kind->version;
  labels.resource = target.kind->plural;
  labels.subresource = target.path.subresource;
  labels.scope = !target.path.name.empty() || target.verb == "create" ? "resource"
                 : !target.path.ns.empty()                            ? "namespace"
                                                                      : "cluster";
  return labels;
}

RequestMeter::RequestMeter(const HttpRequest& request) : labels_{labels_of(request)}, inflight_{inflight(request)} {
  inflight_.add(1);
}

RequestMeter::~RequestMeter() {
  // Nothing was sent: the connection responds with 500.
  if (is_inflight_) count(500, nullptr);
  leave_inflight();
  if (stream_status_ == 0) return;
  long_running_.add(-1);
  count(stream_status_, nullptr);
}

void RequestMeter::leave_inflight() {
  if (!std::exchange(is_inflight_, false)) return;
  inflight_.add(-1);
}

void RequestMeter::count(int status, const size_t* bytes) {
  const ResponseCounters& counters = counters_of(labels_, status);
  counters.total.add();
  counters.seconds.observe(watch_.seconds());
  if (bytes != nullptr) counters.bytes.observe(static_cast<double>(*bytes));
}

void RequestMeter::responded(int status, size_t bytes) {
  if (!is_inflight_) return;  // only the first response counts
  leave_inflight();
  count(status, &bytes);
}

void RequestMeter::streaming(int status) {
  if (!is_inflight_) return;
  leave_inflight();
  // It is passed on to a member or to another API server. A watch would count as a GET that took minutes.
  if (labels_.resource.empty()) labels_.verb = "CONNECT";
  stream_status_ = status;
  long_running_ = long_running(labels_);
  long_running_.add(1);
}

std::shared_ptr<ResponseWriter> metered(std::shared_ptr<ResponseWriter> writer, std::shared_ptr<RequestMeter> meter) {
  return std::make_shared<MeteredWriter>(std::move(writer), std::move(meter));
}

void count_authentication(bool succeeded) {
  static const CounterFamily family{"authentication_attempts", "Authentications by result.", {"result"}};
  static const std::array counters = {family.with({"failure"}), family.with({"success"})};
  counters[succeeded ? 1 : 0].add();
}

void count_authorization(bool allowed) {
  static const CounterFamily family{"authorization_attempts_total", "Authorizations by result.", {"result"}};
  static const std::array counters = {family.with({"denied"}), family.with({"allowed"})};
  counters[allowed ? 1 : 0].add();
}

void observe_commit_to_response(double seconds) {
  static const HistogramFamily family{"shiplog_commit_to_response_duration_seconds",
                                      "Seconds from when a write is visible to when its response is handed over."};
  static const metrics::Histogram histogram = family.with({});
  histogram.observe(seconds);
}

}  // namespace shiplog::api
