#include "services/programs/shiplogctl/replay_checks.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "events/codec/codec.h"
#include "events/codec/stored_decision.h"
#include "events/event.h"
#include "events/explanation_compare.h"
#include "events/slots.h"
#include "services/programs/shiplogctl/spin.h"

namespace shiplog::ctl {
namespace {

std::string described(const Event& event) {
  std::string text{name_of(event)};
  if (const ObjectKey subject = subject_of(event); !subject.empty()) text += " " + to_string(subject);
  if (const std::string summary = summary_of(event); !summary.empty()) text += ": " + summary;
  return text;
}

}  // namespace

std::string described_events(const std::vector<Event>& events) {
  if (events.empty()) return "nothing";
  std::string text;
  for (const Event& event : events) text += (text.empty() ? "" : "; ") + described(event);
  return text;
}

namespace {

std::string described(const std::vector<Expect>& expects) {
  if (expects.empty()) return "no object";
  std::string text;
  for (const Expect& expect : expects) {
    text +=
        (text.empty() ? "" : ", ") + to_string(expect.object) + " at revision " + std::to_string(expect.revision.value);
  }
  return text;
}

// Bytes decide: the journal keeps text that is no UTF-8 in a repaired form, and equal entries give equal bytes.
bool same_bytes(const Entry& recorded, const Decision& recomputed) {
  Entry twin = recorded;
  twin.events = recomputed.events;
  twin.expects = recomputed.expects;
  return encode(twin) == encode(recorded);
}

// The difference of the two, each as text; `recorded` and `recomputed` of `difference` are filled in.
void tell_apart(const Entry& recorded, const Decision& recomputed, Difference& difference) {
  difference.recorded = described_events(recorded.events);
  difference.recomputed = described_events(recomputed.events);
  if (difference.recorded != difference.recomputed) return;
  if (recorded.events == recomputed.events) {
    difference.recorded = "expects " + described(recorded.expects);
    difference.recomputed = "expects " + described(recomputed.expects);
    return;
  }
  const auto [old_event, new_event] = std::ranges::mismatch(recorded.events, recomputed.events);
  difference.recorded = described(*old_event);
  difference.recomputed = described(*new_event) + " (the same in short: its explanation or another field differs)";
}

}  // namespace

Difference difference_about(const ReplayRecord& record) {
  const Entry& entry = record.entry;
  return {record.offset, entry.as_of, entry.fence.service, entry.request.path, "", ""};
}

DecidedAgain decide_again(const Decides& decides, const State& as_of, const ReplayRecord& record) {
  const Entry& entry = record.entry;
  const auto differs = [&](std::string how) {
    Difference difference = difference_about(record);
    difference.recomputed = std::move(how);
    return difference;
  };
  const auto decide = decides.find(std::string{role_of_lease(entry.fence.service)});
  if (decide == decides.end()) {
    return differs("no service \"" + entry.fence.service + "\" in this build can decide it again");
  }
  const auto key = parse_object_key(entry.request.path);
  if (!key) return differs("its key cannot be read: " + key.error().message);
  auto decided = decide->second(as_of, key.value(), entry.time);
  if (!decided) return differs("an error: " + decided.error().message);
  if (const auto* needs = std::get_if<NeedsAnswers>(&decided.value())) return differs("questions: " + needs->why);
  auto* decision = std::get_if<Decision>(&decided.value());
  return decision == nullptr ? Decision{} : std::move(*decision);
}

void compare(DecidedComparison& comparison) {
  auto expected = DecidedComparison::kWaiting;
  if (!comparison.stage.compare_exchange_strong(expected, DecidedComparison::kUnderWay)) return;
  ReplayRecord& record = *comparison.record;
  if (!record.undecoded.empty()) {
    auto* const decision = std::get_if<Decision>(&comparison.decided);
    comparison.same = decision != nullptr && take_if_same(record, *decision);
    // An error when the fold gets there.
    if (!comparison.same) static_cast<void>(decode_events(record));
  }
  comparison.stage.store(DecidedComparison::kOver);
  comparison.stage.notify_all();
}

namespace {

void wait_for(const DecidedComparison& comparison) {
  if (spin_until([&] { return comparison.stage.load() == DecidedComparison::kOver; })) return;
  for (auto stage = comparison.stage.load(); stage != DecidedComparison::kOver; stage = comparison.stage.load()) {
    comparison.stage.wait(stage);
  }
}

}  // namespace

void finish_comparison(ReplayRecord& record) {
  if (!record.again) return;
  compare(*record.again);
  wait_for(*record.again);
  if (record.again->same) record.again = nullptr;
}

void abandon(DecidedComparison& comparison) {
  auto expected = DecidedComparison::kWaiting;
  if (!comparison.stage.compare_exchange_strong(expected, DecidedComparison::kOver)) wait_for(comparison);
}

bool take_if_same(ReplayRecord& record, Decision& decision) {
  if (record.entry.expects != decision.expects || !holds_events(record.undecoded, decision.events)) return false;
  record.entry.events = std::move(decision.events);
  record.undecoded.clear();
  return true;
}

Result<void> decode_events(ReplayRecord& record) {
  SHIPLOG_TRY(record.entry, decode(record.undecoded));
  record.undecoded.clear();
  return ok();
}

std::optional<Difference> difference_of(const ReplayRecord& record) {
  DecidedAgain again = record.again->decided;
  if (auto* difference = std::get_if<Difference>(&again)) {
    difference->recorded = described_events(record.entry.events);
    return std::move(*difference);
  }
  auto& recomputed = std::get<Decision>(again);
  const Entry& entry = record.entry;
  take_form_of(entry.events, recomputed.events);
  if ((recomputed.events == entry.events && recomputed.expects == entry.expects) || same_bytes(entry, recomputed)) {
    return std::nullopt;
  }
  Difference difference = difference_about(record);
  tell_apart(entry, recomputed, difference);
  return difference;
}

ReplayChecks::~ReplayChecks() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ReplayChecks::add(ReplayRecord record) {
  filling_.push_back(std::move(record));
  if (filling_.size() == kBatch) hand_over();
}

void ReplayChecks::hand_over() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [&] { return batches_.size() < kBatches; });
  batches_.push_back(std::exchange(filling_, {}));
  filling_.reserve(kBatch);
  lock.unlock();
  changed_.notify_all();
}

std::vector<Difference> ReplayChecks::found() {
  const std::lock_guard lock{mutex_};
  return std::exchange(found_, {});
}

std::vector<Difference> ReplayChecks::finish() {
  if (!filling_.empty()) hand_over();
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [&] { return batches_.empty() && !comparing_; });
  return std::exchange(found_, {});
}

void ReplayChecks::run() {
  std::unique_lock lock{mutex_};
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !batches_.empty(); });
    if (stopping_) return;
    Batch batch = std::move(batches_.front());
    batches_.pop_front();
    comparing_ = true;
    lock.unlock();
    changed_.notify_all();
    std::vector<Difference> found;
    for (const ReplayRecord& record : batch) {
      if (auto difference = difference_of(record)) found.push_back(*std::move(difference));
    }
    batch.clear();
    lock.lock();
    comparing_ = false;
    std::ranges::move(found, std::back_inserter(found_));
    changed_.notify_all();
  }
}

}  // namespace shiplog::ctl
