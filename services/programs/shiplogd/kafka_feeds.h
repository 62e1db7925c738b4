#pragma once

#include <memory>
#include <string>
#include <vector>

#include "services/feeds/publisher.h"
#include "services/programs/journals.h"
#include "services/programs/shiplogd/journal_stack.h"
#include "services/programs/shiplogd/options.h"

namespace shiplog {

/// The topics of a fleet's feeds. Their place in the journal is the offset that the group FLEET.feeds has committed for
/// the journal's topic. Its metadata are the place of each family and, behind a semicolon, how much its topic had then:
/// a topic that has less was deleted, and its feed begins again. Threads: one at a time.
class KafkaFeedSink final : public feeds::FeedSink {
 public:
  /// Errors: those of KafkaFeedWriter::open().
  static Result<std::unique_ptr<feeds::FeedSink>> open(const KafkaFeedOptions& options, const std::string& fleet,
                                                       const FeedOptions& feeds);

  /// Error: kInvalid, a topic has records, but no place is known.
  Result<feeds::FeedPositions> positions() override;
  Result<void> publish(const std::vector<feeds::CloudEvent>& events, const feeds::FeedPositions& positions) override;

 private:
  KafkaFeedSink(std::unique_ptr<KafkaFeedWriter> writer, std::string fleet, const FeedOptions& feeds);

  std::unique_ptr<KafkaFeedWriter> writer_;
  const std::string fleet_;
  std::vector<Family> families_;
  feeds::FeedPositions written_;  // to each topic, as committed; also of families that are not published any more
  const bool protobuf_;
};

/// What publishes the feeds of a process; nullptr: --feeds names none.
Result<std::unique_ptr<feeds::FeedPublisher>> make_feed_publisher(const ServeOptions& options,
                                                                  const JournalAddress& address, JournalStack& record);

}  // namespace shiplog
