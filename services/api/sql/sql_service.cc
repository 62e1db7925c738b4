#include "services/api/sql/sql_service.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>

#include "events/base/ids.h"
#include "events/base/json.h"
#include "services/api/sql/reading_turns.h"
#include "services/api/status.h"
#include "services/feeds/redact.h"
#include "services/runtime/log.h"
#include "services/runtime/workers.h"

namespace shiplog::api {
namespace {

using std::chrono::steady_clock;

/// As in the feeds: without the payload of Secrets and without sealed text.
Result<std::string> without_secrets(std::string_view type, std::string_view json) {
  if (!feeds::may_need_redaction(type, json)) return std::string{json};
  SHIPLOG_TRY(Value value, parse_stored_json(json));
  return to_json(feeds::redact(type, std::move(value)).value);
}

std::string body_of(const SqlAnswer& answer) {
  std::string out = R"({"kind":"SqlResult","revision":)" + std::to_string(answer.revision.value) + R"(,"columns":[)";
  for (bool first = true; const std::string& column : answer.columns) {
    if (!first) out += ',';
    first = false;
    append_json_string(column, out);
  }
  out += R"(],"truncated":")" + std::string{answer.truncated} + R"(","rows":[)";
  out += answer.rows;
  return out + "]}\n";
}

void send(ResponseWriter& writer, int status, std::string body) {
  HttpResponse response{
      status, {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}}, std::move(body)};
  if (status == 429) response.headers.set("Retry-After", "1");
  writer.send(std::move(response));
}

void send(ResponseWriter& writer, const Error& error) {
  send(writer, http_status(error.code), to_json(failure_status(error)) + "\n");
}

}  // namespace

struct SqlService::Impl {
  Impl(const Clock& time, Random& chance, Limits most) : clock{time}, random{chance}, limits{most} {}

  const Clock& clock;
  Random& random;
  const Limits limits;
  std::atomic<bool> stopping{false};
  std::mutex mutex;
  size_t total = 0;
  std::map<std::string, size_t> by_user;
  std::mutex turns_mutex;
  std::condition_variable turns_changed;
  ReadingTurns turns;
  std::unique_ptr<Workers> workers;  // from the first statement on: most servers never get one

  /// Waits for a turn to read. False: the request is over before that.
  bool begin_reading(const SqlRequest& request) {
    constexpr std::chrono::milliseconds kBetweenLooks{50};
    std::unique_lock lock{turns_mutex};
    while (!turns.may_begin(steady_clock::now())) {
      if (request.cancelled() || steady_clock::now() >= request.deadline) return false;
      turns_changed.wait_for(lock, kBetweenLooks);
    }
    turns.begin(steady_clock::now());
    return true;
  }
  void end_reading() {
    {
      const std::lock_guard lock{turns_mutex};
      turns.end(steady_clock::now());
    }
    turns_changed.notify_all();
  }

  void post(std::function<void()> work) {
    const std::lock_guard lock{mutex};
    if (stopping) return;
    if (workers == nullptr) workers = std::make_unique<Workers>(limits.threads, 5);
    workers->post(std::move(work));
  }
  void stop() {
    stopping = true;
    Workers* running = nullptr;
    {
      const std::lock_guard lock{mutex};
      running = workers.get();
    }
    if (running != nullptr) running->stop();
  }

  bool enter(const std::string& user) {
    const std::lock_guard lock{mutex};
    size_t& own = by_user[user];
    if (total >= limits.most || own >= limits.most_of_user) {
      if (own == 0) by_user.erase(user);
      return false;
    }
    ++own;
    ++total;
    return true;
  }
  void leave(const std::string& user) {
    const std::lock_guard lock{mutex};
    --total;
    if (const auto own = by_user.find(user); own != by_user.end() && --own->second == 0) by_user.erase(own);
  }
};

namespace {

/// A place among the statements, until it is left or destroyed. Threads: any.
class Place {
 public:
  explicit Place(std::function<void()> leave) : leave_{std::move(leave)} {}
  ~Place() { leave(); }
  void leave() {
    if (!left_.exchange(true)) leave_();
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  std::function<void()> leave_;
  std::atomic<bool> left_{false};
};

}  // namespace

SqlService::SqlService(const Clock& clock, Random& random, Limits limits)
    : impl_{std::make_shared<Impl>(clock, random, limits)} {}
SqlService::~SqlService() { stop(); }

void SqlService::stop() { impl_->stop(); }

void SqlService::serve(const std::string& path, const std::string& user, const HttpRequest& request,
                       const std::string& body, std::shared_ptr<ResponseWriter> writer) {
  const auto question = sql_question(request, body);
  if (!question) return send(*writer, question.error());
  if (!impl_->enter(user)) {
    return send(*writer, Error{ErrorCode::kTooManyRequests,
                               "too many statements are running or waiting: at most " +
                                   std::to_string(impl_->limits.most_of_user) + " of one user, and " +
                                   std::to_string(impl_->limits.most) + " in all; try again later"});
  }
  // Not the Impl: its last owner must not be a thread of its own.
  auto place = std::make_shared<Place>([weak = std::weak_ptr{impl_}, user] {
    if (const auto impl = weak.lock()) impl->leave(user);
  });
  const auto closed = std::make_shared<std::atomic<bool>>(false);
  // One that still waits gives its place to another at once.
  writer->on_close([closed, left = std::weak_ptr{place}] {
    *closed = true;
    if (const auto its = left.lock()) its->leave();
  });
  SqlRequest run;
  run.statement = question.value().statement;
  run.parameters = question.value().parameters;
  run.most_rows = question.value().most_rows;
  run.memory_bytes = impl_->limits.memory_bytes;
  run.deadline = steady_clock::now() + std::chrono::milliseconds{question.value().timeout.value};
  run.cancelled = [closed, &stopping = impl_->stopping] { return *closed || stopping; };
  run.now = impl_->clock.now();
  run.secret = to_string(new_entry_id(impl_->random));
  run.without_secrets = without_secrets;
  impl_->post([&impl = *impl_, path, user, run = std::move(run), writer = std::move(writer),
               place = std::move(place)]() mutable {
    if (run.cancelled()) return;
    const auto start = steady_clock::now();
    if (!impl.begin_reading(run)) {
      return send(*writer, Error{ErrorCode::kTimeout, "other statements took all the time: try again later"});
    }
    auto answer = run_sql(path, run);
    impl.end_reading();
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - start).count();
    place->leave();
    if (answer) {
      log::info("sql.answered", {log::kv("user", user), log::kv("rows", answer.value().count),
                                 log::kv("ms", static_cast<int64_t>(took))});
      return send(*writer, 200, body_of(answer.value()));
    }
    log::info("sql.failed", {log::kv("user", user), log::kv("ms", static_cast<int64_t>(took)),
                             log::kv("reason", answer.error().message)});
    send(*writer, answer.error());
  });
}

}  // namespace shiplog::api
