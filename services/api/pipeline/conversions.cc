#include "services/api/pipeline/conversions.h"

#include <algorithm>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "events/base/json.h"
#include "services/api/versions/versions.h"

namespace shiplog::api {
namespace {

ConversionTask task_for(const Server& server, const RequestContext& context, const Kind& wanted,
                        std::vector<Value> objects, bool stored) {
  if (stored) {
    for (Value& object : objects) object = completed_as_stored(wanted, std::move(object));
  }
  ConversionTask task{server.webhook_calls(context), context.kinds, &wanted, std::move(objects)};
  task.stored = stored;
  task.for_watch = context.verb == "watch";
  if (!task.for_watch) task.until = context.arrived + std::chrono::milliseconds{context.timeout.value};
  task.abandoned = [writer = context.writer] { return writer->closed(); };
  return task;
}

/// As Converter::convert(). Continues on the lane.
awaitable<Result<std::vector<Value>>> convert(const Server& server, Lane& lane, ConversionTask& task) {
  using boost::asio::use_awaitable_t;
  return boost::asio::async_initiate<const use_awaitable_t<>, void(Result<std::vector<Value>>)>(
      [&server, &lane, &task](auto handler) {
        lane.entered = true;
        auto held = std::make_shared<decltype(handler)>(std::move(handler));
        server.converter->convert(std::move(task), [&lane, held](Result<std::vector<Value>> result) {
          lane.post([held, result = std::move(result)]() mutable { std::move (*held)(std::move(result)); });
        });
      },
      boost::asio::use_awaitable);
}

bool need_conversion(const Kind& kind, const std::vector<Value>& objects) {
  return std::ranges::any_of(objects, [&](const Value& object) { return needs_conversion(kind, object); });
}

/// Without fields that the schema does not have, with its defaults.
std::vector<Value> completed(const Kind& kind, std::vector<Value> objects) {
  for (Value& object : objects) object = pruned_in_version(kind, std::move(object));
  return objects;
}

/// The object of a request with the metadata that the commit gave it.
Value with_metadata_of(const Value& stored, Value requested) {
  Value metadata = stored["metadata"];
  for (const char* field : {"labels", "annotations"}) {
    if (const Value* texts = requested["metadata"].find(field)) {
      metadata.set(field, *texts);
    } else {
      metadata.erase(field);
    }
  }
  requested.set("metadata", std::move(metadata));
  return requested;
}

}  // namespace

bool shows_converted(const RequestContext& context) { return context.accept.form != Accept::Form::kPartialMetadata; }

awaitable<Result<std::vector<Value>>> in_requested_version(const Server& server, const RequestContext& context,
                                                           Lane& lane, std::vector<Value> stored) {
  if (!need_conversion(*context.kind, stored)) co_return std::move(stored);
  if (!lane.entered) co_await continue_on(lane);
  ConversionTask task = task_for(server, context, *context.kind, std::move(stored), true);
  auto converted = co_await convert(server, lane, task);
  if (!converted) co_return std::move(converted).error();
  co_return completed(*context.kind, std::move(converted).value());
}

awaitable<Result<Value>> in_requested_version(const Server& server, const RequestContext& context, Lane& lane,
                                              Value stored) {
  if (!needs_conversion(*context.kind, stored)) {
    co_return context.kind->builtin ? std::move(stored) : pruned_in_version(*context.kind, std::move(stored));
  }
  std::vector<Value> objects;
  objects.push_back(std::move(stored));
  auto converted = co_await in_requested_version(server, context, lane, std::move(objects));
  if (!converted) co_return std::move(converted).error();
  co_return std::move(converted.value()[0]);
}

awaitable<Result<Value>> in_stored_version(const Server& server, const RequestContext& context, Lane& lane,
                                           Value object) {
  const Kind* stored = context.kinds->find_type(context.kind->type());
  if (stored == nullptr || !needs_conversion(*stored, object)) co_return std::move(object);
  if (!lane.entered) co_await continue_on(lane);
  std::vector<Value> objects;
  objects.push_back(std::move(object));
  ConversionTask task = task_for(server, context, *stored, std::move(objects), false);
  auto converted = co_await convert(server, lane, task);
  if (!converted) co_return std::move(converted).error();
  Value result = written_in_version(*stored, std::move(converted.value()[0]));
  if (const size_t bytes = to_json(result).size(); bytes > server.options.http.max_body_bytes) {
    co_return Error{ErrorCode::kTooLarge, "the conversion webhook of " + stored->type() + " returned an object of " +
                                              std::to_string(bytes) + " bytes, which is more than a request may have"};
  }
  co_return std::move(result);
}

awaitable<Value> as_committed(const Server& server, const RequestContext& context, Lane& lane, Value requested,
                              const Committed& committed) {
  co_await continue_on(lane);
  // Without a change the object is gone, with its last finalizer: nothing is stored that could be converted.
  auto opened = server.objects.open_version(committed.object);
  if (committed.change != nullptr && opened) {
    auto converted = co_await in_requested_version(server, context, lane, std::move(opened).value());
    if (converted) co_return std::move(converted).value();
  }
  co_return with_metadata_of(committed.object, std::move(requested));
}

void convert_stored(const ServerPtr& server, const RequestContextPtr& context, std::vector<Value> stored,
                    std::function<void(Result<std::vector<Value>>)> then) {
  if (!need_conversion(*context->kind, stored)) return then(std::move(stored));
  server->converter->convert(task_for(*server, *context, *context->kind, std::move(stored), true),
                             [server, context, then = std::move(then)](Result<std::vector<Value>> converted) {
                               if (!converted) return then(converted.error());
                               then(completed(*context->kind, std::move(converted).value()));
                             });
}

}  // namespace shiplog::api
