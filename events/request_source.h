#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "events/base/ids.h"

namespace shiplog {

/// Which produced request (schemas/requests/v1) an entry settles: it carries the request out, or records why that was
/// not done. The journal holds one such entry for a request, however often its record is delivered.
struct RequestSource {
  std::string id;     ///< the idempotency id, unique among the requests of one user; empty: not a produced request
  std::string topic;  ///< of the record; empty: the request came over HTTP
  int32_t partition = 0;
  int64_t offset = 0;
  /// When this was appended, the results of all records of the partition before this offset were committed; 0: unknown.
  int64_t done_before = 0;
  bool operator==(const RequestSource&) const = default;
};

/// Stands for an idempotency id among those of all users.
EntryId request_key(std::string_view user, std::string_view id);

/// "fleet.requests/3/1027": partition and offset after the topic.
std::string record_of(const RequestSource& source);

}  // namespace shiplog
