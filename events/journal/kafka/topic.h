#pragma once

#include "events/journal/kafka/client.h"

namespace shiplog::kafka {

/// Creates the topic if it is missing (and the options allow it), and refuses one that could lose records. `reader`
/// must be a reader: the queries of a producer would create the topic with the broker's defaults.
/// Errors: kUnavailable, kNotFound, kInvalid, naming the topic, the setting and the remedy.
Result<void> prepare_topic(const KafkaClient& reader, const KafkaJournalOptions& options);

/// Deletes the records before `before`, as Kafka's DeleteRecords does. Errors: kUnavailable, kIo.
Result<void> delete_records(const KafkaClient& reader, int64_t before, Millis timeout);

}  // namespace shiplog::kafka
