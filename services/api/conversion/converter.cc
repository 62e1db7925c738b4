#include "services/api/conversion/converter.h"

#include <algorithm>
#include <utility>

#include "events/base/json.h"
#include "services/api/conversion/review.h"
#include "services/api/versions/versions.h"
#include "services/runtime/log.h"
#include "services/runtime/metrics.h"

namespace shiplog::api {
namespace {

constexpr size_t kMostObjectsOfCall = 200;
constexpr size_t kMostBytesOfCall = 2U << 20U;  // unless one object is larger
// An answer may have so many bytes more than this many times those of the question: parsing it takes time and memory.
constexpr size_t kMostAnswerBytes = 1U << 20U;
constexpr size_t kMostGrowth = 4;
constexpr auto kPatience = std::chrono::seconds{Converter::kTimeoutSeconds};

void observe_call(const Kind& wanted, bool succeeded, double seconds) {
  static const metrics::HistogramFamily family{"apiserver_crd_conversion_webhook_duration_seconds",
                                               "Seconds for the call of a conversion webhook.",
                                               {"crd_name", "to_version", "succeeded"},
                                               {0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30},
                                               500};
  family.with({wanted.type(), wanted.version, succeeded ? "true" : "false"}).observe(seconds);
}

std::vector<size_t> unconverted(const ConversionTask& task) {
  std::vector<size_t> indices;
  for (size_t i = 0; i < task.objects.size(); ++i) {
    if (needs_conversion(*task.wanted, task.objects[i])) indices.push_back(i);
  }
  return indices;
}

/// The first of the missing objects, as many as one call may contain.
std::vector<size_t> next_of(const ConversionTask& task, const std::vector<size_t>& missing) {
  std::vector<size_t> indices;
  size_t bytes = 0;
  for (const size_t index : missing) {
    bytes += to_json(task.objects[index]).size();
    if (!indices.empty() && (bytes > kMostBytesOfCall || indices.size() == kMostObjectsOfCall)) break;
    indices.push_back(index);
  }
  return indices;
}

HttpHeaders trace_headers(const WebhookCalls& calls) {
  HttpHeaders headers{{"traceparent", traceparent_of(calls.trace, *calls.random)}};
  if (!calls.trace.state.empty()) headers.add("tracestate", calls.trace.state);
  return headers;
}

/// Why no call is to be made for it any more; nullopt: it is.
std::optional<Error> why_over(const ConversionTask& task, ConversionTask::Moment now) {
  if (task.abandoned && task.abandoned()) return Error{ErrorCode::kUnavailable, "the client has disconnected"};
  if (now < task.until) return std::nullopt;
  return Error{ErrorCode::kTimeout, "the conversion webhook of " + task.wanted->type() +
                                        " has not converted all objects within the time of the request"};
}

/// How long its next call may take.
int64_t seconds_of_call(const ConversionTask& task, ConversionTask::Moment now) {
  if (task.until - now >= kPatience) return Converter::kTimeoutSeconds;
  return std::max<int64_t>(std::chrono::ceil<std::chrono::seconds>(task.until - now).count(), 1);
}

}  // namespace

void Converter::convert(ConversionTask task, Done done) {
  auto job = std::make_shared<Job>();
  job->missing = unconverted(task);
  job->task = std::move(task);
  job->done = std::move(done);
  job->waits_until = Steady::now() + kPatience;
  const std::string type = job->task.wanted->type();
  bool full = false;
  {
    const std::lock_guard lock{mutex_};
    fill_in_known(*job);
    if (!job->missing.empty()) {
      Line& line = lines_[type];
      full = !admit(line, *job);
      if (!full && line.calls == kCallsAtOnce) {
        line.waiting.push_back(job);
        return;
      }
      if (!full) ++line.calls;
      if (line.calls == 0) lines_.erase(type);
    }
  }
  if (full) {
    return job->done(Error{ErrorCode::kTooManyRequests, "too many requests wait for the conversion webhook of " + type +
                                                            ", please try again later"});
  }
  if (job->missing.empty()) return job->done(std::move(job->task.objects));
  run(job);
}

bool Converter::admit(Line& line, const Job& job) {
  if (job.task.for_watch) {
    if (line.watches == kMostWatches) return false;
    ++line.watches;
    return true;
  }
  if (is_full(line)) drop_abandoned(line);
  if (is_full(line)) return false;
  ++line.requests;
  ++requests_;
  return true;
}

bool Converter::is_full(const Line& line) const {
  return line.requests >= std::min(kMostRequests, kMostRequestsOfAll - requests_);
}

void Converter::release(Line& line, const Job& job) {
  if (job.task.for_watch) {
    --line.watches;
    return;
  }
  --line.requests;
  --requests_;
}

/// Calls the webhook for the job, which occupies one of the calls of its kind, or for those after it, as long as no
/// call can be made. In a loop: all that wait may be in this situation.
void Converter::run(JobPtr job) {
  while (job != nullptr) {
    const auto failed = call(job);
    if (!failed) return;
    job = finish(job, *failed);
  }
}

/// Error: no call is made.
std::optional<Error> Converter::call(const JobPtr& job) {
  const ConversionTask& task = job->task;
  const WebhookCalls& calls = task.calls;
  const Value& first = task.objects[job->missing[0]];
  const auto now = Steady::now();
  if (auto over = why_over(task, now)) return over;
  if (calls.webhooks == nullptr) return conversion_failed(first, "this server calls no webhooks");
  const std::string version = conversion_review_version(task.wanted->conversion);
  if (version.empty()) return conversion_failed(first, "no supported conversion review versions");
  const auto endpoint = webhook_endpoint(
      task.wanted->conversion["clientConfig"], [&](const ObjectKey& key) { return calls.objects->find(key); },
      UnknownService::kRefused);
  if (!endpoint) return conversion_failed(first, endpoint.error().message);

  std::vector<size_t> asked = next_of(task, job->missing);
  std::vector<Value> originals;
  for (const size_t index : asked) originals.push_back(task.objects[index]);
  const std::string uid = uid_from(new_entry_id(*calls.random), 0);
  const std::string wanted = task.wanted->api_version();
  const int64_t seconds = seconds_of_call(task, now);
  const std::string shown = endpoint.value().shown + "?timeout=" + std::to_string(seconds) + "s";
  WebhookQuestion question{.body = to_json(conversion_review(version, originals, wanted, uid)),
                           .timeout = Millis{seconds * 1000},
                           .headers = trace_headers(calls),
                           .use = WebhookUse::kConversion};
  question.most_answer_bytes = kMostAnswerBytes + kMostGrowth * question.body.size();
  const metrics::Stopwatch watch;
  calls.webhooks->call(endpoint.value(), std::move(question),
                       [self = shared_from_this(), job, asked = std::move(asked), originals = std::move(originals),
                        version, wanted, uid, shown, watch](Result<std::string> answer) {
                         job->task.calls.post([self, job, asked, originals, version, wanted, uid, shown,
                                               elapsed = watch.seconds(), answer = std::move(answer)] {
                           const Result<Value> review = webhook_answer(answer);
                           Result<std::vector<Value>> converted =
                               review ? converted_objects(version, originals, wanted, review.value(), uid)
                                      : Result<std::vector<Value>>{conversion_failed(
                                            originals[0], "Post \"" + shown + "\": " + review.error().message)};
                           observe_call(*job->task.wanted, converted.has_value(), elapsed);
                           self->run(self->take_answer(job, asked, std::move(converted)));
                         });
                       });
  return std::nullopt;
}

/// The job whose turn it is: this one, if objects of it are still missing, or another one.
Converter::JobPtr Converter::take_answer(const JobPtr& job, const std::vector<size_t>& asked,
                                         Result<std::vector<Value>> converted) {
  ConversionTask& task = job->task;
  if (!converted) {
    log::warn("conversion.failed", {log::kv("kind", task.wanted->type()), log::kv("reason", converted.error().message),
                                    log::kv("trace_id", task.calls.trace.id)});
    return finish(job, converted.error());
  }
  if (task.stored) {
    const std::lock_guard lock{mutex_};
    for (size_t i = 0; i < asked.size(); ++i) {
      known_.add(*task.wanted, task.objects[asked[i]], converted.value()[i], Steady::now());
    }
  }
  for (size_t i = 0; i < asked.size(); ++i) task.objects[asked[i]] = std::move(converted.value()[i]);
  job->missing.erase(job->missing.begin(), job->missing.begin() + static_cast<std::ptrdiff_t>(asked.size()));
  if (!job->missing.empty()) return job;
  return finish(job, std::move(task.objects));
}

/// Ends the job. Its call is that of the next one, which is returned; nullptr: none waits.
Converter::JobPtr Converter::finish(const JobPtr& job, Result<std::vector<Value>> result) {
  JobPtr next;
  {
    const std::lock_guard lock{mutex_};
    const std::string type = job->task.wanted->type();
    Line& line = lines_[type];
    --line.calls;
    release(line, *job);
    next = next_waiting(line);
    if (next != nullptr) ++line.calls;
    if (line.calls == 0) lines_.erase(type);
  }
  job->task.calls.post([job, result = std::move(result)] { job->done(result); });
  return next;
}

/// The next one that needs a call. Those before it that need none, or have waited too long, are done.
Converter::JobPtr Converter::next_waiting(Line& line) {
  while (!line.waiting.empty()) {
    JobPtr job = std::move(line.waiting.front());
    line.waiting.pop_front();
    fill_in_known(*job);
    const auto now = Steady::now();
    std::optional<Error> over;
    if (!job->missing.empty()) {
      over = why_over(job->task, now);
      if (!over && now >= job->waits_until) {
        over = conversion_failed(
            job->task.objects[job->missing[0]],
            "it was not called, as it has not answered earlier calls within " + std::to_string(kTimeoutSeconds) + "s");
      }
      if (!over) return job;
    }
    release(line, *job);
    job->task.calls.post(
        [job, over = std::move(over)] { over ? job->done(*over) : job->done(std::move(job->task.objects)); });
  }
  return nullptr;
}

void Converter::drop_abandoned(Line& line) {
  std::erase_if(line.waiting, [&](const JobPtr& job) {
    if (!job->task.abandoned || !job->task.abandoned()) return false;
    release(line, *job);
    job->task.calls.post([job] { job->done(Error{ErrorCode::kUnavailable, "the client has disconnected"}); });
    return true;
  });
}

void Converter::fill_in_known(Job& job) {
  if (!job.task.stored) return;
  std::erase_if(job.missing, [&](size_t index) {
    const Value* known = known_.find(*job.task.wanted, job.task.objects[index], Steady::now());
    if (known != nullptr) job.task.objects[index] = *known;
    return known != nullptr;
  });
}

}  // namespace shiplog::api
