#include "services/api/conversion/converter.h"

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
constexpr size_t kMostKnownBytes = 4U << 20U;   // of the converted objects that are kept of a kind
constexpr auto kKnownFor = std::chrono::seconds{5};
constexpr auto kPatience = std::chrono::seconds{Converter::kTimeoutSeconds};

void observe_call(const Kind& wanted, bool succeeded, double seconds) {
  static const metrics::HistogramFamily family{"apiserver_crd_conversion_webhook_duration_seconds",
                                               "Seconds for the call of a conversion webhook.",
                                               {"crd_name", "to_version", "succeeded"},
                                               {0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30},
                                               500};
  family.with({wanted.type(), wanted.version, succeeded ? "true" : "false"}).observe(seconds);
}

/// "": the object is not known again.
std::string key_of(const Kind& wanted, const Value& object) {
  const Value& metadata = object["metadata"];
  if (metadata["uid"].is_empty() || metadata["resourceVersion"].is_empty()) return "";
  return metadata["uid"].str() + " " + metadata["resourceVersion"].str() + " " + object["apiVersion"].str() + " " +
         wanted.version;
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

}  // namespace

void Converter::convert(ConversionTask task, Done done) {
  auto job = std::make_shared<Job>();
  job->missing = unconverted(task);
  job->task = std::move(task);
  job->done = std::move(done);
  job->waits_until = Steady::now() + kPatience;
  const Kind& wanted = *job->task.wanted;
  bool full = false;
  {
    const std::lock_guard lock{mutex_};
    Line& line = lines_[wanted.type()];
    if (line.conversion != wanted.conversion) {
      line.conversion = wanted.conversion;
      while (!line.known.empty()) forget_oldest(line);
    }
    fill_in_known(line, *job);
    if (!job->missing.empty()) {
      full = !admit(line, *job);
      if (!full && line.calls == kCallsAtOnce) {
        line.waiting.push_back(job);
        return;
      }
      if (!full) ++line.calls;
    }
  }
  if (full) {
    return job->done(Error{ErrorCode::kTooManyRequests, "too many requests wait for the conversion webhook of " +
                                                            wanted.type() + ", please try again later"});
  }
  if (job->missing.empty()) return job->done(std::move(job->task.objects));
  call(job);
}

bool Converter::admit(Line& line, const Job& job) {
  if (job.task.for_watch) {
    if (line.watches == kMostWatches) return false;
    ++line.watches;
    return true;
  }
  if (line.requests == kMostRequests || requests_ == kMostRequestsOfAll) return false;
  ++line.requests;
  ++requests_;
  return true;
}

void Converter::release(Line& line, const Job& job) {
  if (job.task.for_watch) {
    --line.watches;
    return;
  }
  --line.requests;
  --requests_;
}

void Converter::call(const JobPtr& job) {
  const ConversionTask& task = job->task;
  const WebhookCalls& calls = task.calls;
  const Value& first = task.objects[job->missing[0]];
  if (calls.webhooks == nullptr) return finish(job, conversion_failed(first, "this server calls no webhooks"));
  const std::string version = conversion_review_version(task.wanted->conversion);
  if (version.empty()) return finish(job, conversion_failed(first, "no supported conversion review versions"));
  const auto endpoint = webhook_endpoint(
      task.wanted->conversion["clientConfig"], [&](const ObjectKey& key) { return calls.objects->find(key); },
      UnknownService::kRefused);
  if (!endpoint) return finish(job, conversion_failed(first, endpoint.error().message));

  std::vector<size_t> asked = next_of(task, job->missing);
  std::vector<Value> originals;
  for (const size_t index : asked) originals.push_back(task.objects[index]);
  const std::string uid = uid_from(new_entry_id(*calls.random), 0);
  const std::string wanted = task.wanted->api_version();
  const std::string shown = endpoint.value().shown + "?timeout=" + std::to_string(kTimeoutSeconds) + "s";
  const Value review = conversion_review(version, originals, wanted, uid);
  const metrics::Stopwatch watch;
  calls.webhooks->call(endpoint.value(), review, kTimeoutSeconds, trace_headers(calls),
                       [self = shared_from_this(), job, asked = std::move(asked), originals = std::move(originals),
                        version, wanted, uid, shown, watch](Result<Value> answer) {
                         job->task.calls.post([self, job, asked, originals, version, wanted, uid, shown,
                                               seconds = watch.seconds(), answer = std::move(answer)] {
                           Result<std::vector<Value>> converted =
                               answer ? converted_objects(version, originals, wanted, answer.value(), uid)
                                      : Result<std::vector<Value>>{conversion_failed(
                                            originals[0], "Post \"" + shown + "\": " + answer.error().message)};
                           observe_call(*job->task.wanted, converted.has_value(), seconds);
                           self->take_answer(job, asked, std::move(converted));
                         });
                       });
}

void Converter::take_answer(const JobPtr& job, const std::vector<size_t>& asked, Result<std::vector<Value>> converted) {
  if (!converted) {
    log::warn("conversion.failed",
              {log::kv("kind", job->task.wanted->type()), log::kv("reason", converted.error().message),
               log::kv("trace_id", job->task.calls.trace.id)});
    return finish(job, converted.error());
  }
  {
    const std::lock_guard lock{mutex_};
    Line& line = lines_[job->task.wanted->type()];
    if (job->task.stored && line.conversion == job->task.wanted->conversion) {
      remember(line, *job, asked, converted.value());
    }
  }
  for (size_t i = 0; i < asked.size(); ++i) job->task.objects[asked[i]] = std::move(converted.value()[i]);
  job->missing.erase(job->missing.begin(), job->missing.begin() + static_cast<std::ptrdiff_t>(asked.size()));
  if (!job->missing.empty()) return call(job);
  finish(job, std::move(job->task.objects));
}

void Converter::finish(const JobPtr& job, Result<std::vector<Value>> result) {
  JobPtr next;
  std::vector<JobPtr> known;
  std::vector<JobPtr> late;
  {
    const std::lock_guard lock{mutex_};
    Line& line = lines_[job->task.wanted->type()];
    --line.calls;
    release(line, *job);
    while (!line.waiting.empty() && next == nullptr) {
      const JobPtr waiting = std::move(line.waiting.front());
      line.waiting.pop_front();
      fill_in_known(line, *waiting);
      if (waiting->missing.empty()) {
        release(line, *waiting);
        known.push_back(waiting);
      } else if (waiting->waits_until < Steady::now()) {
        release(line, *waiting);
        late.push_back(waiting);
      } else {
        next = waiting;
        ++line.calls;
      }
    }
    if (line.calls == 0 && line.waiting.empty() && line.known.empty()) lines_.erase(job->task.wanted->type());
  }
  if (next != nullptr) call(next);
  job->done(std::move(result));
  for (const JobPtr& each : known) {
    each->task.calls.post([each] { each->done(std::move(each->task.objects)); });
  }
  for (const JobPtr& each : late) {
    const Error error = conversion_failed(
        each->task.objects[each->missing[0]],
        "it was not called, as it has not answered earlier calls within " + std::to_string(kTimeoutSeconds) + "s");
    each->task.calls.post([each, error] { each->done(error); });
  }
}

void Converter::forget_oldest(Line& line) {
  line.known_bytes -= line.known.back().bytes;
  line.by_key.erase(line.known.back().key);
  line.known.pop_back();
}

void Converter::fill_in_known(Line& line, Job& job) {
  const auto now = Steady::now();
  while (!line.known.empty() && line.known.back().until < now) forget_oldest(line);
  if (!job.task.stored || line.conversion != job.task.wanted->conversion) return;
  std::erase_if(job.missing, [&](size_t index) {
    const auto found = line.by_key.find(key_of(*job.task.wanted, job.task.objects[index]));
    if (found == line.by_key.end()) return false;
    job.task.objects[index] = found->second->object;
    return true;
  });
}

void Converter::remember(Line& line, const Job& job, const std::vector<size_t>& asked,
                         const std::vector<Value>& results) {
  const auto until = Steady::now() + kKnownFor;
  for (size_t i = 0; i < asked.size(); ++i) {
    std::string key = key_of(*job.task.wanted, job.task.objects[asked[i]]);
    if (key.empty() || line.by_key.contains(key)) continue;
    const size_t bytes = to_json(results[i]).size();
    line.known.push_front({key, results[i], bytes, until});
    line.by_key.emplace(std::move(key), line.known.begin());
    line.known_bytes += bytes;
    while (line.known_bytes > kMostKnownBytes) forget_oldest(line);
  }
}

}  // namespace shiplog::api
