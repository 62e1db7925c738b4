#pragma once

#include <memory>
#include <optional>

#include "events/base/time.h"
#include "services/api/store.h"
#include "services/feeds/feed_reader.h"
#include "services/http/server.h"

namespace shiplog::api {

/// How one client reads a feed.
struct FeedRequest {
  feeds::FamilySet families = feeds::FamilySet::all();
  Revision from;
  std::optional<feeds::Sequence> after;  ///< instead of `from`
  bool follow = true;
  bool server_sent_events = false;
  std::optional<Millis> timeout;
};

/// Begins a feed; its first bytes are under way when this returns. Errors: those of FeedReader::begin_at;
/// kTooManyRequests. Then nothing was written.
Result<void> stream_feed(Store& store, const FeedRequest& request, std::shared_ptr<ResponseWriter> writer);

}  // namespace shiplog::api
