#include "services/adapters/members/https_members.h"

#include <mutex>
#include <utility>
#include <vector>

#include "events/base/json.h"
#include "services/adapters/members/api_host.h"
#include "services/adapters/members/member_target.h"
#include "services/adapters/members/watch_line.h"
#include "services/runtime/log.h"
#include "services/runtime/metrics.h"

namespace shiplog {
namespace {

/// Further concurrent requests would only queue up in the member.
constexpr size_t kRequestsPerMember = 8;

/// Bytes of responses that are being read or wait to be processed.
constexpr size_t kMemberBudget = size_t{48} << 20U;
constexpr size_t kTotalBudget = size_t{128} << 20U;
/// Parsed JSON is held as values; short values take more memory than their text.
constexpr size_t kBytesPerValue = 40;
constexpr size_t kMostValues = 250'000;
/// Servers' own are some dozen bytes.
constexpr size_t kMostEtag = 256;
/// Length of the excerpt, for a message, of a response that is not JSON.
constexpr size_t kMostText = 2048;
/// Values of one watch event: an object and its envelope.
constexpr size_t kMostLine = kMostObjectBytes + 4096;
/// Events of one watch that the fold thread has not processed yet.
constexpr size_t kMostAhead = size_t{16} << 20U;
constexpr Millis kLogEvery{10'000};

/// A request to a member has ended, with this HTTP status or, 0, without an answer.
void count_request(const std::string& cluster, const std::string& host, const std::string& method, int status,
                   double seconds) {
  static const metrics::CounterFamily requests{
      "rest_client_requests_total", "Requests to members by HTTP status, method and host.", {"code", "method", "host"}};
  static const metrics::HistogramFamily durations{"rest_client_request_duration_seconds",
                                                  "Seconds of requests to members.",
                                                  {"verb", "host"},
                                                  {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}};
  static const metrics::CounterFamily by_cluster{"shiplog_member_requests_total",
                                                 "Requests to members by cluster, method and HTTP status.",
                                                 {"member_cluster", "method", "code"}};
  // A member chooses the status: only those that HTTP has become a label.
  const std::string code = status >= 100 && status < 600 ? std::to_string(status) : "<error>";
  requests.with({code, method, host}).add();
  durations.with({method, host}).observe(seconds);
  by_cluster.with({cluster, method, code}).add();
}

/// Reserves memory for the values of a text before they are created.
Result<Value> parse_within(std::string_view text, ByteLease& lease) {
  const size_t values = values_in(text);
  if (values > kMostValues) {
    return Error{ErrorCode::kTooLarge, "the answer: it has more than " + std::to_string(kMostValues) + " values"};
  }
  if (!lease.grow(values * kBytesPerValue)) {
    return Error{ErrorCode::kTooLarge, "the answers under way hold more bytes than allowed together"};
  }
  return parse_json(text);
}

Edition edition_of(const HttpResponse& answer) {
  const auto etag = answer.headers.get("ETag");
  return {std::string{etag.size() > kMostEtag ? "" : etag}, siphash128(answer.body)};
}

/// What the caller reads of a response.
struct Wanted {
  bool only_errors = false;
  std::optional<Edition> known;
};

Result<MemberResponse> response_from(const HttpResponse& answer, const Wanted& wanted, ByteLease& lease) {
  MemberResponse response;
  response.status = answer.status;
  const bool succeeded = answer.status >= 200 && answer.status < 300;
  if (wanted.known && answer.status == 304) response.edition = *wanted.known;
  if (wanted.known && answer.status == 200) {
    response.edition = edition_of(answer);
    if (response.edition.digest == wanted.known->digest) {
      response.status = 304;
      return response;
    }
  }
  if (answer.body.empty() || (wanted.only_errors && succeeded)) return response;
  auto parsed = parse_within(answer.body, lease);
  if (!parsed && parsed.error().code == ErrorCode::kTooLarge) return parsed.error();
  response.body = parsed ? std::move(parsed).value() : Value{std::string_view{answer.body}.substr(0, kMostText)};
  return response;
}

}  // namespace

/// Splits the stream into lines on the network thread and passes events to the executor's thread.
class HttpsMembers::Watch final : public MemberWatch {
 public:
  struct Shared {
    Executor* executor = nullptr;
    std::function<void(const Value&)> on_event;
    std::function<void(Result<void>)> on_end;
    std::shared_ptr<ByteBudget> budget;  // of the member; nullptr until there is a client
    std::shared_ptr<ByteBudget> ahead = std::make_shared<ByteBudget>(kMostAhead);
    std::function<void()> drop;  // executor only
    bool ended = false;          // executor only
    std::string rest;            // network thread only: the incomplete last line
    std::unique_ptr<ByteLease> rest_lease;
    std::string trimmed;    // network thread only: a line without what is left out
    bool exceeded = false;  // network thread only
    bool leaves_out_managed_fields = false;
    std::optional<ObjectParts> parts;  // nothing else of the objects is read
    int status = 0;
  };

  explicit Watch(std::shared_ptr<Shared> shared) : shared_{std::move(shared)} {}
  ~Watch() override {
    shared_->ended = true;
    if (stream_) stream_->cancel();
  }

  /// Error: kTooLarge, the stream must be dropped.
  static Result<void> feed(const std::shared_ptr<Shared>& shared, std::string_view data) {
    shared->rest += data;
    size_t begin = 0;
    auto events = std::make_shared<std::vector<Value>>();
    const auto leases = std::make_shared<std::pair<ByteLease, ByteLease>>(shared->budget, shared->ahead);
    for (size_t end = shared->rest.find('\n'); end != std::string::npos; end = shared->rest.find('\n', begin)) {
      auto line = std::string_view{shared->rest}.substr(begin, end - begin);
      if (line.size() > kMostLine) return too_long();
      if (shared->parts) {
        line = with_parts(line, *shared->parts, shared->trimmed);
      } else if (shared->leaves_out_managed_fields) {
        line = without_managed_fields(line, shared->trimmed);
      }
      auto event = parse_within(line, leases->first);
      if (!event && event.error().code == ErrorCode::kTooLarge) return event.error();
      if (!leases->second.grow(line.size() + kBytesPerValue)) {
        return Error{ErrorCode::kTooLarge, "a watch: its events arrive faster than they are processed, by more than " +
                                               std::to_string(kMostAhead) + " bytes"};
      }
      if (event && event.value().is_object()) events->push_back(std::move(event).value());
      begin = end + 1;
    }
    shared->rest.erase(0, begin);
    if (shared->rest.size() > kMostLine) return too_long();
    shared->rest_lease = std::make_unique<ByteLease>(shared->budget);
    if (!shared->rest_lease->grow(shared->rest.size())) {
      return Error{ErrorCode::kTooLarge, "the answers under way hold more bytes than allowed together"};
    }
    if (events->empty()) return ok();
    shared->executor->post([shared, events, leases] {
      for (const Value& event : *events) {
        if (shared->ended) return;
        shared->on_event(event);
      }
    });
    return ok();
  }

  static Error too_long() {
    return {ErrorCode::kTooLarge, "a watch: a line is longer than " + std::to_string(kMostLine) + " bytes"};
  }

  static void finish(const std::shared_ptr<Shared>& shared, Result<void> end) {
    shared->executor->post([shared, end = std::move(end)] {
      if (std::exchange(shared->ended, true)) return;
      shared->on_end(end);
    });
  }

  std::shared_ptr<Shared> shared_;
  std::shared_ptr<HttpClient::Stream> stream_;
};

HttpsMembers::HttpsMembers(Options options)
    : options_{std::move(options)},
      total_{std::make_shared<ByteBudget>(kTotalBudget)},
      answers_{std::make_shared<Answers>()} {}

HttpsMembers::~HttpsMembers() { close(); }

void HttpsMembers::close() {
  closed_ = true;
  *alive_ = false;
  for (const auto& [cluster, member] : members_) {
    if (member.client) member.client->close();
  }
}

Result<std::shared_ptr<HttpClient>> HttpsMembers::client_for(const std::string& cluster) {
  if (closed_) return Error{ErrorCode::kUnavailable, "cluster " + cluster + ": this process is stopping"};
  const State& state = *options_.state;
  const Cluster* view = state.cluster(cluster);
  if (view == nullptr) return Error{ErrorCode::kNotFound, "there is no cluster " + cluster};
  const Value& spec = state.value_of({type::kCluster, "", cluster})["spec"];
  const ObjectKey secret_key{type::kSecret, view->secret_namespace, view->secret_name};
  const Object* secret = state.find(secret_key);
  if (secret == nullptr) {
    return Error{ErrorCode::kNotFound, "cluster " + cluster + ": its credentials, secret " + view->secret_namespace +
                                           "/" + view->secret_name + ", do not exist"};
  }
  Member& member = members_[cluster];
  const bool known = member.client && member.secret == secret->revision;
  if (known && member.spec == spec) return member.client;  // usually one and the same Value
  std::string route = route_of(spec);
  if (known && member.route == route) {
    member.spec = spec;
    return member.client;
  }

  Value opened = secret->value;
  if (options_.open) {
    SHIPLOG_TRY(opened, options_.open(std::move(opened)));
  }
  ClientTarget target = member_target(spec);
  SHIPLOG_TRY(add_credentials(cluster, opened, target));
  HttpClient::Options options;
  options.max_connections = kRequestsPerMember;
  options.user_agent = options_.user_agent;
  options.denied_networks = options_.denied_networks;
  auto made = HttpClient::create(options_.io, target, options);
  if (!made) return made.error().context("cluster " + cluster);
  // The budget outlives the client: responses that are still held count.
  if (member.budget == nullptr) member.budget = std::make_shared<ByteBudget>(kMemberBudget, total_);
  member = {spec,
            std::move(route),
            secret->revision,
            std::move(made).value(),
            std::move(member.budget),
            host_of_url(view->api_endpoint)};
  return member.client;
}

HttpsMembers::OnMemberResponse HttpsMembers::sent_again_if_rotated(const std::string& cluster, MemberRequest request,
                                                                   std::shared_ptr<HttpClient> used,
                                                                   OnMemberResponse done) {
  return [this, cluster, request = std::move(request), used = std::move(used),
          done = std::move(done)](Result<MemberResponse> response) {
    if (response && response.value().status == 401) {
      const auto client = client_for(cluster);
      if (client && client.value() != used) return this->request(cluster, request, done);
    }
    done(std::move(response));
  };
}

/// Answers to patient requests, until the executor takes them all.
struct HttpsMembers::Answers {
  std::mutex mutex;
  std::vector<std::function<void()>> waiting;

  void put(const std::shared_ptr<Answers>& self, Executor& executor, Millis patience, std::function<void()> answer) {
    const std::lock_guard lock{mutex};
    waiting.push_back(std::move(answer));
    if (waiting.size() == 1) executor.post_after(patience, [self] { self->take(); });
  }
  void take() {
    std::vector<std::function<void()>> taken;
    {
      const std::lock_guard lock{mutex};
      taken.swap(waiting);
    }
    for (const auto& answer : taken) answer();
  }
};

/// A request to a member, and the one that follows it at once, if there is one.
struct HttpsMembers::Exchange : std::enable_shared_from_this<Exchange> {
  struct Part {
    HttpRequest http;
    std::string call, method;
    Millis timeout;
    size_t max_response_bytes = 0;
    bool asks_for_less = false;
    Wanted wanted;
  };

  HttpsMembers* members = nullptr;
  std::shared_ptr<bool> alive;
  Executor* executor = nullptr;
  std::string cluster, host;
  std::shared_ptr<HttpClient> client;  // kept meanwhile: a change of credentials must not interrupt it
  std::shared_ptr<ByteLease> lease;
  std::vector<Part> parts;
  size_t at = 0;
  metrics::Stopwatch watch;
  OnMemberResponse done;
  Millis patience{0};
  std::shared_ptr<Answers> answers;
  Result<MemberResponse> response = Error{ErrorCode::kInternal, "there is no answer yet"};
  std::string excess;  // what exceeded a limit

  void add(const MemberRequest& request, Random& random) {
    Part part{.http = {},
              .call = request.method + " " + request.path.substr(0, request.path.find('?')),
              .method = request.method,
              .timeout = request.timeout,
              .max_response_bytes = request.max_response_bytes,
              .asks_for_less = request.asks_for_less,
              .wanted = {request.only_errors, request.known}};
    part.http.method = request.method;
    part.http.target = request.path;
    part.http.headers.set("Accept", request.accept);
    if (request.known && !request.known->etag.empty()) part.http.headers.set("If-None-Match", request.known->etag);
    part.http.headers.set("traceparent",
                          traceparent_of(request.trace.id.empty() ? new_trace(random) : request.trace, random));
    if (!request.body.is_null()) {
      part.http.body = to_json(request.body);
      part.http.headers.set("Content-Type", request.content_type);
    }
    parts.push_back(std::move(part));
  }

  void send() {
    Part& part = parts[at];
    watch = {};
    client->request(std::move(part.http), part.timeout,
                    [self = shared_from_this()](Result<HttpResponse> answer) { self->answered(std::move(answer)); },
                    {.max_response_bytes = part.max_response_bytes, .lease = lease});
  }

  /// On a network thread.
  void answered(Result<HttpResponse> answer) {
    const Part& part = parts[at];
    count_request(cluster, host, part.method, answer ? answer.value().status : 0, watch.seconds());
    auto read = answer ? response_from(answer.value(), part.wanted, *lease) : Result<MemberResponse>{answer.error()};
    answer = Error{ErrorCode::kInternal, ""};  // only the parsed response is still needed
    if (!read) {
      const Error& error = read.error();
      if (error.code == ErrorCode::kTooLarge && !part.asks_for_less) excess = part.call + ": " + error.message;
      read = error.context("cluster " + cluster);
    }
    if (at == 0) {
      response = std::move(read);
      if (parts.size() == 2 && response && response.value().status == 200) {
        ++at;
        return send();
      }
    } else if (!read || read.value().status != 401) {  // credentials may have changed: then it is sent again
      response.value().next = std::make_shared<Result<MemberResponse>>(std::move(read));
    }
    auto over = [self = shared_from_this()] { self->hand_over(); };
    patience.value > 0 ? answers->put(answers, *executor, patience, std::move(over)) : executor->post(std::move(over));
  }

  void hand_over() {
    if (!*alive) return;
    if (!excess.empty()) members->exceeded(cluster, excess);
    std::exchange(done, nullptr)(std::move(response));
  }
};

void HttpsMembers::request(const std::string& cluster, MemberRequest request,
                           std::function<void(Result<MemberResponse>)> done) {
  auto client = client_for(cluster);
  if (!client) {
    options_.executor->post([done = std::move(done), error = client.error()] { done(error); });
    return;
  }
  const Member& member = members_[cluster];
  const auto exchange = std::make_shared<Exchange>();
  exchange->members = this;
  exchange->alive = alive_;
  exchange->executor = options_.executor;
  exchange->cluster = cluster;
  exchange->host = member.host;
  exchange->client = client.value();
  exchange->lease = std::make_shared<ByteLease>(member.budget);
  exchange->patience = request.patience;
  exchange->answers = answers_;
  exchange->add(request, *options_.random);
  if (request.next != nullptr) exchange->add(*request.next, *options_.random);
  exchange->done = sent_again_if_rotated(cluster, std::move(request), client.value(), std::move(done));
  if (exchange->patience.value == 0) return exchange->send();
  patient_.push_back(exchange);
  if (patient_.size() > 1) return;
  options_.executor->post_after(exchange->patience, [this, alive = alive_] {
    if (!*alive) return;
    for (const auto& each : std::exchange(patient_, {})) each->send();
  });
}

void HttpsMembers::exceeded(const std::string& cluster, const std::string& what) {
  const UtcMillis now = options_.executor->now();
  excess_[cluster] = {now, what};
  excesses_.fetch_add(1, std::memory_order_relaxed);
  const auto [at, first] = logged_.try_emplace(cluster, now);
  if (!first && now - at->second < kLogEvery) return;
  at->second = now;
  log::warn("member.limit_exceeded", {log::kv("cluster", cluster), log::kv("reason", what)});
}

std::optional<Excess> HttpsMembers::excess(const std::string& cluster) const {
  const auto found = excess_.find(cluster);
  return found == excess_.end() ? std::nullopt : std::optional{found->second};
}

std::unique_ptr<MemberWatch> HttpsMembers::watch(const std::string& cluster, std::string path,
                                                 std::function<void(const Value&)> on_event,
                                                 std::function<void(Result<void>)> on_end) {
  return start_watch(cluster, path, std::nullopt, std::move(on_event), std::move(on_end));
}

std::unique_ptr<MemberWatch> HttpsMembers::watch_parts(const std::string& cluster, std::string path,
                                                       const ObjectParts& parts,
                                                       std::function<void(const Value&)> on_event,
                                                       std::function<void(Result<void>)> on_end) {
  return start_watch(cluster, path, parts, std::move(on_event), std::move(on_end));
}

std::unique_ptr<MemberWatch> HttpsMembers::start_watch(const std::string& cluster, const std::string& path,
                                                       std::optional<ObjectParts> parts,
                                                       std::function<void(const Value&)> on_event,
                                                       std::function<void(Result<void>)> on_end) {
  auto shared = std::make_shared<Watch::Shared>();
  shared->executor = options_.executor;
  shared->on_event = std::move(on_event);
  shared->on_end = std::move(on_end);
  shared->leaves_out_managed_fields = options_.watches_leave_out_managed_fields;
  shared->parts = std::move(parts);
  auto watch = std::make_unique<Watch>(shared);
  auto client = client_for(cluster);
  if (!client) {
    Watch::finish(shared, client.error());
    return watch;
  }
  HttpRequest http;
  http.target = path + (path.find('?') == std::string::npos ? "?" : "&") + "watch=true&allowWatchBookmarks=true";
  http.headers.set("Accept", "application/json");
  http.headers.set("traceparent", traceparent_of(new_trace(*options_.random), *options_.random));
  shared->budget = members_[cluster].budget;
  const std::string http_path = "GET " + path.substr(0, path.find('?'));
  watch->stream_ = client.value()->stream(
      std::move(http), [shared](const HttpResponse& head) { shared->status = head.status; },
      [this, alive = alive_, shared, cluster, what = http_path](std::string_view data) {
        if (shared->status != 200 || shared->exceeded) return;
        const auto fed = Watch::feed(shared, data);
        if (fed) return;
        shared->exceeded = true;
        shared->rest = {};
        shared->rest_lease = nullptr;
        // Dropped here and not through the stream's handle, which may not be set yet.
        shared->executor->post([this, alive, shared, cluster, error = fed.error().context(what)] {
          if (!*alive || shared->ended) return;
          exceeded(cluster, error.message);
          if (shared->drop) shared->drop();
        });
      },
      [shared, cluster, kept = client.value()](Result<void> end) {
        if (end && shared->status != 200) {
          end = Error{shared->status == 410 ? ErrorCode::kGone : ErrorCode::kUnavailable,
                      "cluster " + cluster + ": watch answered with HTTP status " + std::to_string(shared->status)};
        }
        // `kept` is destroyed with this callback, not on the network thread, which its destructor may wait for.
        shared->executor->post([kept] {});
        Watch::finish(shared, std::move(end));
      });
  shared->drop = [stream = std::weak_ptr{watch->stream_}] {
    if (const auto running = stream.lock()) running->cancel();
  };
  return watch;
}

}  // namespace shiplog
