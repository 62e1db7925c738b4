#include "services/requests/resumption.h"

#include <algorithm>

namespace shiplog::requests {
namespace {

std::string created_again(const std::string& topic, int32_t partition, const std::string& evidence) {
  return "partition " + std::to_string(partition) + " of " + topic +
         " is not the one that was consumed before: " + evidence +
         ". If the topic was deleted and created again, its offsets mean other requests now, which would be taken for "
         "duplicates: give the new topic a name that this fleet has not used (--requests-topic)";
}

}  // namespace

Resumption resume(const std::string& topic, int32_t partition, int64_t committed, int64_t oldest, int64_t end,
                  const SettledOffsets& settled) {
  Resumption resumption;
  if (end < settled.end()) {
    resumption.refused =
        created_again(topic, partition,
                      "it ends at offset " + std::to_string(end) + ", but the journal settles requests up to offset " +
                          std::to_string(settled.end() - 1));
    return resumption;
  }
  if (committed < 0 && settled.done_before() > 0) {
    resumption.refused =
        created_again(
            topic, partition,
            "its consumer group has no position, but had committed offset " + std::to_string(settled.done_before())) +
        "; if only the group's position is lost, set it to that offset with kafka-consumer-groups.sh --reset-offsets";
    return resumption;
  }
  resumption.from = std::max(committed, oldest);
  if (committed >= 0) resumption.expired = std::max<int64_t>(0, oldest - committed);
  return resumption;
}

}  // namespace shiplog::requests
