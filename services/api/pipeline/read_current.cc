#include <utility>

#include "events/base/json.h"
#include "services/api/pipeline/stages.h"

namespace shiplog::api {
namespace {

Result<Value> load_current(const Server& server, const RequestContext& context, const WriteRequest& write,
                           const std::string& json) {
  auto object = server.objects.load_as(*context.kind, write.key, json);
  const bool unreadable = !object && object.error().code == ErrorCode::kCorrupt;
  return unreadable && write.replaces_unreadable ? parse_stored_json(json) : std::move(object);
}

}  // namespace

awaitable<StageResult<Current>> read_current(const Server& server, const RequestContext& context,
                                             const WriteRequest& write, Lane& lane) {
  Current current;
  if (write.reads == WriteReads::kNothing) co_return std::move(current);
  auto caught_up = co_await when_current(server.store(*context.kind), lane);
  if (!caught_up) co_return std::move(caught_up).error();
  if (write.reads == WriteReads::kStore) co_return std::move(current);
  auto json = server.objects.find_json(*context.kind, write.key);
  if (!json) {
    current.object = std::move(json).error();
    co_return std::move(current);
  }
  if (!json.value()) {
    current.object = server.absent(context, write.key);
    co_return std::move(current);
  }
  if (write.rewrites && lane.large == nullptr) {
    auto place = limit_large(server, context.user, json.value()->size());
    if (!place) co_return std::move(place).error();
    lane.large = std::move(place).value();
    if (lane.large != nullptr) co_await continue_on(lane);
  }
  current.object = load_current(server, context, write, *json.value());
  co_return std::move(current);
}

}  // namespace shiplog::api
