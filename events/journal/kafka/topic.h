#pragma once

#include "events/journal/kafka/client.h"

namespace shiplog::kafka {

/// Makes the topic when it is missing (if the options say so), and refuses one that could lose records.
/// `reader` must be a reader: a producer's questions would make a topic in the broker's own way.
/// Errors: kUnavailable, kNotFound, kInvalid, naming the topic, the setting and what to do.
Result<void> prepare_topic(const Client& reader, const KafkaJournalOptions& options);

/// Forgets the records before `before`, as Kafka's DeleteRecords does. Errors: kUnavailable, kIo.
Result<void> delete_records(const Client& reader, int64_t before, Millis timeout);

}  // namespace shiplog::kafka
