#include <utility>

#include "events/base/json.h"
#include "services/api/pipeline/conversions.h"
#include "services/api/pipeline/stages.h"
#include "services/api/versions/versions.h"

namespace shiplog::api {
namespace {

/// Of a kind that a definition defines: an object keeps the version that it was stored in until it is written.
bool is_outdated(const RequestContext& context, const Value& stored) {
  if (context.kind->builtin || !stored.is_object()) return false;
  const Kind* now = context.kinds->find_type(context.kind->type());
  return now != nullptr && stored["apiVersion"].as_string() != now->api_version();
}

/// As it is stored.
Result<Value> load_current(const Server& server, const RequestContext& context, const WriteRequest& write,
                           const std::string& json) {
  auto object = server.objects.load(json);
  if (!object && object.error().code == ErrorCode::kGone) return not_found(context.subject(write.key.name.str()));
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
  if (!current.object || context.kind->builtin) co_return std::move(current);
  current.outdated = is_outdated(context, current.object.value());
  // What is deleted is not converted: a webhook that fails must not keep objects for ever. Nor is it pruned, as it may
  // be put into the journal without some of its finalizers.
  if (write.form == WriteForm::kDeletion) co_return std::move(current);
  auto converted = co_await in_requested_version(server, context, lane, std::move(current.object).value());
  if (!converted) co_return std::move(converted).error();
  current.object = std::move(converted).value();
  current.object = pruned_in_version(*context.kind, std::move(current.object).value());
  co_return std::move(current);
}

}  // namespace shiplog::api
