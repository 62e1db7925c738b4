#include "services/api/pipeline/server.h"

#include <utility>

#include "events/base/valid_utf8.h"
#include "services/api/aggregation/aggregation.h"
#include "services/api/pipeline/responses.h"
#include "services/api/views/views.h"

namespace shiplog::api {
namespace {

/// Of the User-Agent, as much is stored with every change.
constexpr size_t kLongestUserAgent = 1024;

}  // namespace

Result<Value> Server::current(const RequestContext& context, const ObjectKey& key) const {
  SHIPLOG_TRY(const auto json, objects.find_json(*context.kind, key));
  if (!json) return absent(context, key);
  return objects.load_as(*context.kind, key, *json);
}

std::shared_ptr<const AggregatedVersions> Server::elsewhere(const RequestContext& context) const {
  return context.past || options.aggregation == nullptr ? nullptr : options.aggregation->current();
}

Error Server::absent(const RequestContext& context, const ObjectKey& key) const {
  if (options.control_plane && has_views(*context.kind)) {
    const auto view = view_of(objects, *context.kind, key);
    if (!view) return view.error();
    if (!view.value().is_null()) return view_is_read_only(context.subject(key.name.str()), view.value());
  }
  return not_found(context.subject(key.name.str()));
}

void post_blocking(const Server& server, const RequestContext& context, std::function<void()> work) {
  if (context.large != nullptr) return server.large->post(std::move(work));
  server.post_blocking(std::move(work));
}

void when_current(const ServerPtr& server, const RequestContextPtr& context, std::function<void()> then) {
  Store& store = context->kind == nullptr ? server->objects.record() : server->store(*context->kind);
  store.when_current([server, context, then = std::move(then)](const Result<void>& current) mutable {
    if (!current) return fail(*context, current.error());
    post_blocking(*server, *context, std::move(then));
  });
}

Entry entry_for(const Server& server, const RequestContext& context, const std::string& verb) {
  Entry entry;
  entry.time = server.options.clock->now();
  entry.actor = {.user = context.user.name,
                 .groups = context.user.groups,
                 .service = "api",
                 .source_ip = context.request.peer.address,
                 .user_agent = valid_utf8(clipped(context.request.headers.get("User-Agent"), kLongestUserAgent))};
  entry.request = {verb, context.request.path};
  entry.cause.trace_id = journaled(context.trace);
  if (context.produced != nullptr) {
    entry.id = new_entry_id(*server.options.random);
    entry.source = context.produced->source;
    if (context.produced->done_before != nullptr) entry.source.done_before = context.produced->done_before->load();
  }
  return entry;
}

}  // namespace shiplog::api
