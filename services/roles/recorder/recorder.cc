#include "services/roles/recorder/recorder.h"

#include <algorithm>
#include <cstdio>
#include <tuple>
#include <utility>

#include "events/base/time.h"
#include "services/runtime/append_without_lease.h"
#include "services/runtime/log.h"

namespace shiplog {
namespace {

using recorder::EventDraft;

constexpr const char* kEvents = "events";
constexpr const char* kInstance = "shiplogd";  // reportingInstance: distinguishes our Events from others
constexpr size_t kLongestMessage = 1024;       // as in Kubernetes
constexpr int kMostTries = 3;
constexpr Millis kBetweenComplaints{10'000};

/// Those of cluster-scoped objects lie in "default", as everywhere.
ObjectKey key_of(const EventDraft& report, const Hash128& identity) {
  const Value& meta = report.object["metadata"];
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(identity.lo));
  const std::string ns = meta["namespace"].str();
  return {kEvents, ns.empty() ? "default" : ns, meta["name"].str() + "." + digits};
}

std::string fitting(std::string message) {
  if (message.size() <= kLongestMessage) return message;
  size_t end = kLongestMessage - 3;
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0U) == 0x80U) --end;  // no half letters
  return message.substr(0, end) + "...";
}

}  // namespace

Recorder::Recorder(Options options) : options_{std::move(options)} {
  // Most Events are new: with many buckets, that one is not among thousands is seen without looking at others.
  waiting_.max_load_factor(0.25F);
  options_.record->add_observer(*this);
}

void Recorder::begin() {
  recording_ = true;
  kept_.clear();
  found_kept_ = false;  // others have written since
}

void Recorder::end() { recording_ = false; }

void Recorder::on_folded(const State& state, const DecodedRecord& record, const Folded& folded) {
  if (recording_) record_events(recorder::event_drafts_of(state, record.entry, folded), record.entry.time);
}

void Recorder::record_events(std::vector<EventDraft> reports, UtcMillis time) {
  if (reports.empty()) return;
  const UtcMillis now = options_.executor->now();
  for (EventDraft& report : reports) {
    const auto correlated = correlation_.correlate(report, time, now);
    if (!correlated) {
      filtered_.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    told_ = now;
    take({std::move(report), correlated->first, time, correlated->count}, correlated->identity);
  }
  if (!waiting_.empty()) arm(options_.gather);
}

void Recorder::take(Waiting waiting, const Hash128& identity) {
  const auto [at, is_new] = waiting_.try_emplace(identity, std::move(waiting));
  if (!is_new) {  // then `waiting` was not moved from
    Waiting& before = at->second;
    before.count += waiting.count;
    before.first = std::min(before.first, waiting.first);
    if (waiting.last < before.last) return;
    before.last = waiting.last;
    before.report = std::move(waiting.report);  // of those that are combined, the newest message is shown
    return;
  }
  order_.push_back(identity);
  if (waiting_.size() <= options_.most_waiting) return;
  waiting_.erase(order_.front());
  order_.pop_front();
  drop(1);
}

void Recorder::drop(size_t count) {
  dropped_.fetch_add(count, std::memory_order_relaxed);
  const UtcMillis now = options_.executor->now();
  if (now - said_dropped_ < kBetweenComplaints) return;
  const uint64_t all = dropped();
  log::warn("recorder.dropped",
            {log::kv("events", all - dropped_said_), log::kv("reason", "more than can be written")});
  said_dropped_ = now;
  dropped_said_ = all;
}

void Recorder::arm(Millis after) {
  if (armed_ || appending_) return;
  armed_ = true;
  options_.executor->post_after(after, [this, alive = alive_] {
    if (!*alive) return;
    armed_ = false;
    flush();
  });
}

/// What earlier leaders, or this process before it was started again, have written.
void Recorder::find_kept() {
  found_kept_ = true;
  std::vector<std::pair<Revision, ObjectKey>> found;
  for (const auto& [name, object] : options_.ephemera->state().objects(kEvents)) {
    if (object.value["reportingInstance"].as_string() != kInstance) continue;
    found.emplace_back(object.revision, ObjectKey{kEvents, name.ns, name.name});
  }
  std::ranges::sort(found);
  for (auto& [revision, key] : found) kept_.push_back(std::move(key));
}

void Recorder::flush() {
  if (waiting_.empty()) return;
  const UtcMillis now = options_.executor->now();
  const bool busy = now - told_ < options_.gather && now - appended_ < options_.patience;
  if (busy || !options_.ephemera->caught_up()) return arm(options_.gather);
  appended_ = now;
  if (!found_kept_) find_kept();
  std::vector<Event> events;
  std::vector<std::pair<Hash128, Waiting>> batch;
  while (batch.size() < options_.at_once && !order_.empty()) {
    auto node = waiting_.extract(order_.front());
    order_.pop_front();
    put(node.mapped(), node.key(), events);
    batch.emplace_back(node.key(), std::move(node.mapped()));
  }
  if (events.empty()) {
    if (!waiting_.empty()) arm(options_.between);
    return;
  }
  forget_oldest(events);
  appending_ = true;
  append_without_lease(*options_.ephemera,
                       {.service = "recorder", .user_agent = options_.user_agent, .user = "system:shiplog:recorder"},
                       {std::move(events), {}},
                       [this, alive = alive_, batch = std::move(batch)](const Result<Outcome>& outcome) mutable {
                         if (*alive) after_append(outcome, std::move(batch));
                       });
}

void Recorder::put(const Waiting& waiting, const Hash128& identity, std::vector<Event>& events) {
  const EventDraft& report = waiting.report;
  ObjectKey key = key_of(report, identity);
  // Objects in a terminating namespace get no Events.
  const Value& ns = options_.record->state().value_of({type::kNamespace, "", key.ns});
  if (ns.is_null() || deleting(ns)) return;
  if (const Object* before = options_.ephemera->state().find(key)) {
    Value counted = before->value;
    counted.set("count", before->value["count"].as_int() + waiting.count);
    counted.set("lastTimestamp", rfc3339(waiting.last));
    counted.set("message", fitting(report.message));
    counted.edit("involvedObject").set("resourceVersion", report.object["metadata"]["resourceVersion"]);
    events.emplace_back(ObjectUpdated{std::move(key), std::move(counted)});
    return;
  }
  const Value& meta = report.object["metadata"];
  Value involved = Value::object({{"apiVersion", report.object["apiVersion"]},
                                  {"kind", report.object["kind"]},
                                  {"name", meta["name"]},
                                  {"resourceVersion", meta["resourceVersion"]},
                                  {"uid", meta["uid"]}});
  if (!meta["namespace"].is_empty()) involved.set("namespace", meta["namespace"]);
  Value event = Value::object({{"apiVersion", "v1"},
                               {"count", waiting.count},
                               {"eventTime", Value{}},
                               {"firstTimestamp", rfc3339(waiting.first)},
                               {"involvedObject", std::move(involved)},
                               {"kind", "Event"},
                               {"lastTimestamp", rfc3339(waiting.last)},
                               {"message", fitting(report.message)},
                               {"metadata", Value::object({{"name", key.name}, {"namespace", key.ns}})},
                               {"reason", report.reason},
                               {"reportingComponent", report.component},
                               {"reportingInstance", kInstance},
                               {"source", Value::object({{"component", report.component}})},
                               {"type", report.warning ? "Warning" : "Normal"}});
  kept_.push_back(key);
  events.emplace_back(ObjectCreated{std::move(key), std::move(event)});
}

void Recorder::forget_oldest(std::vector<Event>& events) {
  while (kept_.size() > options_.most_kept) {
    ObjectKey oldest = std::move(kept_.front());
    kept_.pop_front();
    if (options_.ephemera->state().find(oldest) == nullptr) continue;
    const bool counted = std::ranges::any_of(events, [&](const Event& event) { return subject_of(event) == oldest; });
    if (!counted) events.emplace_back(ObjectRemoved{std::move(oldest)});
  }
}

void Recorder::after_append(const Result<Outcome>& outcome, std::vector<std::pair<Hash128, Waiting>> batch) {
  appending_ = false;
  if (outcome && !outcome.value().refusal) {
    written_.fetch_add(batch.size(), std::memory_order_relaxed);
  } else {
    // An Event was removed meanwhile, or another process was first: read again, they are counted up or created.
    size_t given_up = 0;
    for (auto& [identity, waiting] : batch) {
      if (++waiting.tries >= kMostTries) {
        ++given_up;
      } else {
        take(std::move(waiting), identity);
      }
    }
    if (given_up > 0) drop(given_up);
  }
  if (!waiting_.empty()) arm(options_.between);
}

namespace {

/// Holds the lease; has no keys.
class RecorderRole final : public Role {
 public:
  explicit RecorderRole(Recorder& recorder) : recorder_{recorder} {}
  std::string_view name() const override { return "recorder"; }
  void on_change(const State&, const Change&, std::vector<ObjectKey>&) override {}
  void on_start(const State&, std::vector<ObjectKey>&) override { recorder_.begin(); }
  void on_stop() override { recorder_.end(); }
  void reconcile(TaskPtr task) override { task->done(); }

 private:
  Recorder& recorder_;
};

}  // namespace

std::unique_ptr<Role> make_recorder_role(Recorder& recorder) { return std::make_unique<RecorderRole>(recorder); }

}  // namespace shiplog
