#include "services/programs/shiplogd/kafka_feeds.h"

#include <algorithm>
#include <optional>

#include "services/feeds/protobuf_format.h"
#include "services/runtime/log.h"

namespace shiplog {

using feeds::CloudEvent;
using feeds::FeedPositions;

KafkaFeedSink::KafkaFeedSink(std::unique_ptr<KafkaFeedWriter> writer, std::string fleet, const FeedOptions& feeds)
    : writer_{std::move(writer)}, fleet_{std::move(fleet)}, protobuf_{feeds.format == "protobuf"} {
  for (const Family family : feeds::all_families()) {
    if (std::ranges::find(feeds.families, name_of(family)) != feeds.families.end()) families_.push_back(family);
  }
}

Result<std::unique_ptr<feeds::FeedSink>> KafkaFeedSink::open(const KafkaFeedOptions& options, const std::string& fleet,
                                                             const FeedOptions& feeds) {
  SHIPLOG_TRY(auto writer, KafkaFeedWriter::open(options));
  return std::unique_ptr<feeds::FeedSink>{new KafkaFeedSink{std::move(writer), fleet, feeds}};
}

Result<FeedPositions> KafkaFeedSink::positions() {
  SHIPLOG_TRY(const auto committed, writer_->committed());
  const std::string_view metadata = committed ? std::string_view{committed->metadata} : std::string_view{};
  const size_t end = std::min(metadata.find(';'), metadata.size());
  FeedPositions positions = feeds::parse_positions(metadata.substr(0, end));
  written_ = feeds::parse_positions(metadata.substr(std::min(end + 1, metadata.size())));
  for (const Family family : families_) {
    const std::string topic = feed_topic(fleet_, name_of(family));
    SHIPLOG_TRY(const bool has_events, writer_->has_events(topic));
    if (!has_events || Offset{writer_->written(topic)} < written_[family]) {
      positions.erase(family);  // made for the first time, or deleted so that it is made again
    } else if (committed && metadata.empty()) {
      positions[family] = Offset{committed->offset};  // set by an administrator
    } else if (!positions.contains(family)) {
      return Error{ErrorCode::kInvalid,
                   "topic " + topic + " has events, but how far it has come is unknown: the group " + fleet_ +
                       ".feeds has no offset for it. Delete the topic, so that it is made again with the same ids, or "
                       "set the group's offset for the topic " +
                       fleet_ + ".journal to the place in the journal where the feed is to continue"};
    }
  }
  return positions;
}

Result<void> KafkaFeedSink::publish(const std::vector<CloudEvent>& events, const FeedPositions& positions) {
  std::vector<KafkaFeedRecord> records;
  records.reserve(events.size());
  for (const CloudEvent& event : events) {
    const char* type = protobuf_ ? "application/cloudevents+protobuf" : "application/cloudevents+json; charset=UTF-8";
    records.push_back({.topic = feed_topic(fleet_, name_of(event.family)),
                       .key = event.subject.empty() ? event.source : event.subject,
                       .value = protobuf_ ? to_protobuf(event) : to_json(event),
                       .headers = {{"content-type", type}}});
  }
  std::optional<Offset> next;
  for (const Family family : families_) {
    const auto position = positions.find(family);
    if (position != positions.end()) next = next ? std::min(*next, position->second) : position->second;
  }
  return writer_->write(records, [&] {
    for (const Family family : families_)
      written_[family] = Offset{writer_->written(feed_topic(fleet_, name_of(family)))};
    return KafkaFeedProgress{next.value_or(Offset{0}).value,
                             feeds::to_string(positions) + ";" + feeds::to_string(written_)};
  });
}

Result<std::unique_ptr<feeds::FeedPublisher>> make_feed_publisher(const ServeOptions& options,
                                                                  const JournalAddress& address, JournalStack& record) {
  feeds::FeedPublisher::declare_metrics();
  const bool has_role = std::ranges::find(options.roles, "feeds") != options.roles.end();
  if (has_role && options.feeds.families.empty() && options.roles.size() == 1) {
    log::warn("feeds.off", {log::kv("reason", "this process publishes feeds, but --feeds names no family of events")});
  }
  if (!has_role || options.feeds.families.empty()) return std::unique_ptr<feeds::FeedPublisher>{};
  SHIPLOG_TRY(KafkaFeedOptions kafka, kafka_feed_options(address, options.journal, options.feeds.families));
  kafka.partitions = options.feeds.partitions;
  feeds::FeedPublisher::Options publisher{
      .projection = record.projections().path(),
      .journal = &record.journal(),
      .feed = &record.replica().feed(),
      .settle = [&record] { return record.replica().settle(); },
      .families = {},
      .open = [kafka, fleet = address.fleet,
               feeds = options.feeds] { return KafkaFeedSink::open(kafka, fleet, feeds); }};
  for (const Family family : feeds::all_families()) {
    if (std::ranges::find(options.feeds.families, name_of(family)) == options.feeds.families.end()) continue;
    publisher.families.push_back(family);
  }
  return std::make_unique<feeds::FeedPublisher>(std::move(publisher));
}

}  // namespace shiplog
