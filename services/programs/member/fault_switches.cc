#include "services/programs/member/fault_switches.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "events/base/json.h"
#include "services/http/server.h"

namespace shiplog {
namespace {

constexpr const char* kAdmins = "system:masters";
constexpr int64_t kMostMillis = 3'600'000;  // an hour

/// The HTTP status that `refuse` names; 0 when it names none.
int status_of(const std::string& refuse) {
  int status = 0;
  const char* end = refuse.data() + refuse.size();
  const auto read = std::from_chars(refuse.data(), end, status);
  return read.ec == std::errc{} && read.ptr == end && status >= 400 && status <= 599 ? status : 0;
}

HttpResponse json(int status, const Value& body) {
  HttpResponse response;
  response.status = status;
  response.headers.set("Content-Type", "application/json");
  response.body = to_json(body) + "\n";
  if (status == 429 || status == 503) response.headers.set("Retry-After", "1");
  return response;
}

const char* reason_of(int status) {
  switch (status) {
    case 400:
      return "BadRequest";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "NotFound";
    case 405:
      return "MethodNotAllowed";
    case 409:
      return "Conflict";
    case 422:
      return "Invalid";
    case 429:
      return "TooManyRequests";
    case 500:
      return "InternalError";
    case 503:
      return "ServiceUnavailable";
    case 504:
      return "Timeout";
    default:
      return "";
  }
}

/// A metav1.Status.
HttpResponse failure(int status, const std::string& message) {
  return json(status, Value::object({{"apiVersion", "v1"},
                                     {"kind", "Status"},
                                     {"metadata", Value::object()},
                                     {"status", "Failure"},
                                     {"message", message},
                                     {"reason", reason_of(status)},
                                     {"code", status}}));
}

bool writes(const HttpRequest& request) {
  return request.method != "GET" && request.method != "HEAD" && request.method != "OPTIONS";
}

bool watches(const HttpRequest& request) {
  const std::string* flag = request.query_value("watch");
  return flag != nullptr && *flag != "false" && *flag != "0";
}

Error wrong(std::string_view field, const std::string& why) {
  return {ErrorCode::kInvalid, std::string{field} + ": " + why, {{std::string{field}, "FieldValueInvalid", why}}};
}

Result<int64_t> bounded(const Value::Member& member, int64_t most) {
  if (member.value.is_int() && member.value.as_int() >= 0 && member.value.as_int() <= most) {
    return member.value.as_int();
  }
  return wrong(member.key(), "must be a whole number from 0 to " + std::to_string(most));
}

}  // namespace

Value to_value(const FaultSwitches::Settings& settings) {
  return Value::object({{"latencyMs", settings.latency.value},
                        {"refuse", settings.refuse},
                        {"flapSeconds", settings.flap_seconds},
                        {"down", settings.down},
                        {"readyDelayMs", settings.ready_delay.value}});
}

Result<FaultSwitches::Settings> changed(FaultSwitches::Settings settings, const Value& fields) {
  if (!fields.is_object()) return Error{ErrorCode::kInvalid, "the switches are a JSON object"};
  for (const Value::Member& member : fields.members()) {
    const std::string_view field = member.key();
    if (field == "latencyMs") {
      SHIPLOG_TRY(settings.latency.value, bounded(member, kMostMillis));
    } else if (field == "readyDelayMs") {
      SHIPLOG_TRY(settings.ready_delay.value, bounded(member, kMostMillis));
    } else if (field == "flapSeconds") {
      SHIPLOG_TRY(settings.flap_seconds, bounded(member, kMostMillis / 1000));
    } else if (field == "down") {
      if (!member.value.is_bool()) return wrong(field, "must be true or false");
      settings.down = member.value.as_bool();
    } else if (field == "refuse") {
      settings.refuse = member.value.is_int() ? std::to_string(member.value.as_int()) : member.value.str();
      const std::string& refuse = settings.refuse;
      if (refuse != "none" && refuse != "writes" && refuse != "all" && status_of(refuse) == 0) {
        return wrong(field, "must be none, writes, all or an HTTP status from 400 to 599");
      }
    } else {
      return wrong(field, "is not a switch; the switches are latencyMs, refuse, flapSeconds, down and readyDelayMs");
    }
  }
  return settings;
}

Result<std::shared_ptr<FaultSwitches>> FaultSwitches::make(Executor& executor, Settings settings) {
  SHIPLOG_TRY(auto checked, changed(Settings{}, to_value(settings)));
  std::shared_ptr<FaultSwitches> switches{new FaultSwitches{executor}};
  switches->settings_ = checked;
  switches->settings_.flap_seconds = 0;  // set below
  switches->settings_.latency = Millis{0};
  const Millis latency = std::exchange(checked.latency, Millis{0});
  SHIPLOG_TRY(switches->apply(checked));
  switches->settings_.latency = latency;  // the server calls resume_with() before the first request
  return switches;
}

void FaultSwitches::resume_with(Handler handler) {
  const std::lock_guard lock{mutex_};
  resume_ = std::move(handler);
}

FaultSwitches::Settings FaultSwitches::settings() const {
  const std::lock_guard lock{mutex_};
  return settings_;
}

Millis FaultSwitches::ready_delay() const { return settings().ready_delay; }

bool FaultSwitches::is_down() const {
  const std::lock_guard lock{mutex_};
  return down_at(executor_.now());
}

bool FaultSwitches::down_at(UtcMillis now) const {
  if (settings_.down) return true;
  if (settings_.flap_seconds == 0) return false;
  return (now - flapping_since_).value / (settings_.flap_seconds * 1000) % 2 == 1;
}

Result<void> FaultSwitches::change(const Value& fields) {
  SHIPLOG_TRY(auto wanted, changed(settings(), fields));
  return apply(std::move(wanted));
}

Result<void> FaultSwitches::apply(Settings wanted) {
  bool down = false;
  {
    const std::lock_guard lock{mutex_};
    if (wanted.latency.value > 0 && !resume_) return wrong("latencyMs", "this server cannot delay requests");
    const bool flap_anew = wanted.flap_seconds != settings_.flap_seconds;
    settings_ = std::move(wanted);
    if (flap_anew) {
      flapping_since_ = executor_.now();
      ++round_;
    }
    down = down_at(executor_.now());
    if (flap_anew && settings_.flap_seconds > 0) arm_flapping(round_);
  }
  if (down) end_watches();
  return ok();
}

/// Requests check the clock; running watches must be ended. The caller holds the lock.
void FaultSwitches::arm_flapping(uint64_t round) {
  const int64_t half = settings_.flap_seconds * 1000;
  const int64_t gone = (executor_.now() - flapping_since_).value;
  executor_.post_after(Millis{half - gone % half}, [weak = weak_from_this(), round] {
    const auto self = weak.lock();
    if (!self) return;
    bool down = false;
    {
      const std::lock_guard lock{self->mutex_};
      if (round != self->round_) return;
      down = self->down_at(self->executor_.now());
      self->arm_flapping(round);
    }
    if (down) self->end_watches();
  });
}

void FaultSwitches::remember_watch(const std::shared_ptr<ResponseWriter>& writer) {
  const std::lock_guard lock{mutex_};
  std::erase_if(watches_, [](const auto& watch) { return watch.expired(); });
  watches_.push_back(writer);
}

void FaultSwitches::end_watches() {
  std::vector<std::weak_ptr<ResponseWriter>> ending;
  {
    const std::lock_guard lock{mutex_};
    ending.swap(watches_);
  }
  for (const auto& watch : ending) {
    if (const auto writer = watch.lock()) writer->end();
  }
}

void FaultSwitches::serve(const HttpRequest& request, ResponseWriter& writer) {
  const auto& groups = request.peer.organizations;
  if (!request.peer.certified) return writer.send(failure(401, "Unauthorized"));
  if (std::ranges::find(groups, kAdmins) == groups.end()) {
    return writer.send(failure(403, "only members of the group system:masters may read and change the switches"));
  }
  if (request.method == "PUT" || request.method == "PATCH") {
    const auto fields = parse_json(request.body);
    if (!fields) return writer.send(failure(400, "the switches: " + fields.error().message));
    if (const auto done = change(fields.value()); !done) return writer.send(failure(422, done.error().message));
  } else if (request.method != "GET") {
    return writer.send(failure(405, "the switches support GET, PUT and PATCH"));
  }
  writer.send(json(200, to_value(settings())));
}

bool FaultSwitches::intercept(const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer) {
  if (request.path == kPath) {
    serve(request, *writer);
    return true;
  }
  Settings now;
  Handler resume;
  bool down = false;
  {
    const std::lock_guard lock{mutex_};
    now = settings_;
    resume = resume_;
    down = down_at(executor_.now());
  }
  if (down) {
    writer->start(503, {});  // dropping the stream closes the connection
    return true;
  }
  const int status = status_of(now.refuse);
  if (status != 0 || now.refuse == "all" || (now.refuse == "writes" && writes(request))) {
    writer->send(failure(status != 0 ? status : 503, "this member refuses requests, as its switches specify"));
    return true;
  }
  if (watches(request)) remember_watch(writer);
  if (now.latency.value == 0 || !resume) return false;
  executor_.post_after(now.latency, [request, writer, resume] { resume(request, writer); });
  return true;
}

}  // namespace shiplog
