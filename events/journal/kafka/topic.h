#pragma once

#include "events/journal/kafka/client.h"

namespace shiplog::kafka {

/// The largest record of a feed: an event contains an object and its explanation as JSON.
inline constexpr size_t kMaxFeedRecordBytes = size_t{16} << 20U;

/// Creates the topic if it is missing (and the options allow it), and refuses one that could lose records. `reader`
/// must be a reader: the queries of a producer would create the topic with the broker's defaults. Returns the number of
/// partitions.
/// Errors: kUnavailable, kNotFound, kInvalid, naming the topic, the setting and the remedy.
Result<int> prepare_topic(const KafkaClient& reader, const KafkaJournalOptions& options);

/// Deletes the records before `before`, as Kafka's DeleteRecords does. Errors: kUnavailable, kIo.
Result<void> delete_records(const KafkaClient& reader, int64_t before, Millis timeout);

}  // namespace shiplog::kafka
