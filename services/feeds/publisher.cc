#include "services/feeds/publisher.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

#include "services/runtime/log.h"
#include "services/runtime/metrics.h"

namespace shiplog::feeds {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// Entries without events of the families are skipped again after a restart: their number is bounded by this.
constexpr size_t kMostSkipped = 10'000;

const metrics::CounterFamily& published_counters() {
  static const metrics::CounterFamily family{
      "shiplog_feed_published_events_total", "Events published to the topics of feeds", {"family"}};
  return family;
}
const metrics::GaugeFamily& lag_gauges() {
  static const metrics::GaugeFamily family{"shiplog_feed_lag_entries",
                                           "Entries of the journal that are folded but not published yet"};
  return family;
}
const metrics::CounterFamily& failed_counters() {
  static const metrics::CounterFamily family{
      "shiplog_feed_publish_failures_total",
      "Transactions of feeds that were not committed, and writers that could not "
      "be opened"};
  return family;
}

}  // namespace

std::string to_string(const FeedPositions& positions) {
  std::string text;
  for (const auto& [family, offset] : positions) {
    text += (text.empty() ? "" : " ") + std::string{name_of(family)} + "=" + std::to_string(offset.value);
  }
  return text;
}

FeedPositions parse_positions(std::string_view text) {
  FeedPositions positions;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t equals = std::min(word.find('='), word.size());
    Offset offset;
    const std::string_view number = word.substr(std::min(equals + 1, word.size()));
    const bool read = std::from_chars(number.data(), number.data() + number.size(), offset.value).ec == std::errc{};
    for (const Family family : all_families()) {
      if (read && word.substr(0, equals) == name_of(family)) positions[family] = offset;
    }
  }
  return positions;
}

/// What one sink is given, from its opening on.
struct FeedPublisher::Round {
  std::unique_ptr<FeedSink> sink;
  Reader reader;
  FeedPositions positions;  // as published, also of families that are not any more
  FeedReader feed;
  FamilySet families = FamilySet::none();
  size_t skipped = 0;  // entries since the last publication
  SteadyClock::time_point published = SteadyClock::now();
};

void FeedPublisher::declare_metrics() {
  for (const Family family : all_families()) published_counters().with({name_of(family)});
  lag_gauges().with({});
  failed_counters().with({});
}

FeedPublisher::FeedPublisher(Options options) : options_{std::move(options)}, thread_{[this] { run(); }} {}

FeedPublisher::~FeedPublisher() {
  {
    const std::lock_guard lock{mutex_};
    leading_ = false;
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void FeedPublisher::lead(bool leading) {
  {
    const std::lock_guard lock{mutex_};
    leading_ = leading;
  }
  changed_.notify_all();
}

bool FeedPublisher::leading() const {
  const std::lock_guard lock{mutex_};
  return leading_;
}

bool FeedPublisher::closing() const {
  const std::lock_guard lock{mutex_};
  return closing_;
}

void FeedPublisher::wait_for_news(Millis most) {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, std::chrono::milliseconds{most.value}, [this] { return !leading_ || woken_; });
  woken_ = false;
}

void FeedPublisher::wait_while_leading(Millis time) {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, std::chrono::milliseconds{time.value}, [this] { return !leading_; });
}

void FeedPublisher::run() {
  const int64_t listening = options_.feed->listen([this] {
    {
      const std::lock_guard lock{mutex_};
      woken_ = true;
    }
    changed_.notify_all();
  });
  std::string complained;
  while (!closing()) {
    {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [this] { return leading_ || closing_; });
    }
    if (closing()) break;
    const auto published = publish_while_leading();
    if (published) {
      complained.clear();
      continue;
    }
    failed_counters().with({}).add();
    const std::string& reason = published.error().message;
    if (reason != complained) log::warn("feeds.publish_failed", {log::kv("reason", reason)});
    complained = reason;
    wait_while_leading(options_.retry);
  }
  options_.feed->ignore(listening);
}

Result<void> FeedPublisher::publish_while_leading() {
  SHIPLOG_TRY(auto sink, options_.open());
  SHIPLOG_TRY(auto reader, Reader::open(options_.projection));
  SHIPLOG_TRY(auto positions, sink->positions());
  FamilySet families = FamilySet::none();
  std::optional<Offset> from;
  for (const Family family : options_.families) {
    families.add(family);
    const Offset position = positions.emplace(family, Offset{0}).first->second;
    from = from ? std::min(*from, position) : position;
  }
  std::string source;
  {
    SHIPLOG_TRY(const auto view, reader.view());
    SHIPLOG_TRY(source, source_of_fleet(view));
    // Of a process that has yet to fold what another one has published.
    if (view.next() < from.value_or(Offset{0})) {
      return Error{ErrorCode::kUnavailable, "the feeds have come to offset " + std::to_string(from->value) +
                                                " of the journal, this process to " +
                                                std::to_string(view.next().value)};
    }
  }
  Round round{std::move(sink), std::move(reader), std::move(positions), FeedReader{*options_.journal, source},
              families};
  {
    SHIPLOG_TRY(const auto view, round.reader.view());
    SHIPLOG_TRY(round.feed.begin_at(view, from.value_or(Offset{0})));
  }
  log::info("feeds.publishing", {log::kv("positions", to_string(round.positions))});
  while (leading()) {
    SHIPLOG_TRY(const bool more, publish_some(round));
    if (!more) wait_for_news(options_.confirm);
  }
  log::info("feeds.stopped", {log::kv("positions", to_string(round.positions))});
  return ok();
}

/// False: there is nothing more for now.
Result<bool> FeedPublisher::publish_some(Round& round) {
  std::vector<CloudEvent> events;
  bool caught_up = false;
  Offset folded;
  if (options_.settle) {
    SHIPLOG_TRY(options_.settle());
  }
  {
    SHIPLOG_TRY(const auto view, round.reader.view());
    folded = view.next();
    SHIPLOG_TRY(auto batch, round.feed.read(view, round.families, options_.limits));
    caught_up = batch.caught_up;
    round.skipped += batch.entries;
    // Of a family that has come further than others, only what is new.
    for (CloudEvent& event : batch.events) {
      if (event.sequence.offset >= round.positions[event.family]) events.push_back(std::move(event));
    }
  }
  const bool confirm = SteadyClock::now() - round.published >= std::chrono::milliseconds{options_.confirm.value};
  if (!events.empty() || round.skipped >= kMostSkipped || confirm) {
    FeedPositions next = round.positions;
    for (const Family family : options_.families) next[family] = std::max(next[family], round.feed.next());
    SHIPLOG_TRY(round.sink->publish(events, next));
    round.positions = std::move(next);
    round.skipped = 0;
    round.published = SteadyClock::now();
    for (const CloudEvent& event : events) published_counters().with({name_of(event.family)}).add();
  }
  lag_gauges().with({}).set(static_cast<double>(folded.value - round.feed.next().value));
  return !caught_up;
}

}  // namespace shiplog::feeds
