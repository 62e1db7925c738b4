#include <utility>

#include "services/api/pipeline/stages.h"
#include "services/api/proxied_request.h"
#include "services/api/search_request.h"

namespace shiplog::api {

StageResult<std::shared_ptr<ResponseWriter>> limit(const Server& server, const User& user, const HttpRequest& request,
                                                   std::shared_ptr<ResponseWriter> writer) {
  if (in_group(user, kMastersGroup)) return writer;
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const bool proxied = is_proxied(request.path);
  const bool searches = is_search(request.path);
  const bool streams = proxied    ? is_proxied_stream(request)
                       : searches ? is_search_stream(request)
                                  : flag(request, "watch");
  const auto use = streams && (reads || proxied || searches) ? ConcurrencyLimiter::Use::kWatch
                   : reads                                   ? ConcurrencyLimiter::Use::kRead
                                                             : ConcurrencyLimiter::Use::kWrite;
  auto slot = server.limiter->take(user.name, use);
  if (slot == nullptr) {
    return Error{ErrorCode::kTooManyRequests, "too many requests, please try again later"};
  }
  return with_slot(std::move(writer), std::move(slot), use);
}

StageResult<LargeRequests::Permit> limit_large(const Server& server, const User& user, size_t bytes) {
  if (bytes <= LargeRequests::kLargeBytes) return LargeRequests::Permit{};
  auto place = server.large->take(user.name);
  if (place != nullptr) return place;
  return Error{ErrorCode::kTooManyRequests, "too many large requests are under way, please try again later"};
}

}  // namespace shiplog::api
