#include "services/api/reads.h"

#include <utility>

#include "projections/history/history_query.h"
#include "projections/objects/object_query.h"
#include "services/api/component_statuses.h"
#include "services/api/computed_kinds.h"
#include "services/api/listing.h"
#include "services/api/pipeline/codecs/codecs.h"
#include "services/api/pipeline/conversions.h"
#include "services/api/pipeline/oldest_readable.h"
#include "services/api/pipeline/responses.h"
#include "services/api/pods.h"
#include "services/api/resource_metrics.h"
#include "services/api/selector/selector.h"
#include "services/api/status.h"
#include "services/api/views/views.h"
#include "services/api/watch.h"

namespace shiplog::api {
namespace {

/// The list that is requested. Of the past every page, and whatever version is asked for, is of its moment.
Result<ReadOptions> list_options(const RequestContext& context) {
  SHIPLOG_TRY(auto options, read_options(context.request));
  if (!context.past) return options;
  const Revision at = context.past->past->revision(*context.kind);
  if (!options.continue_token.empty()) {
    SHIPLOG_TRY(const auto token, parse_continue_token(options.continue_token));
    if (token.revision == at) return options;
    return Error{ErrorCode::kBadRequest, "continue: the token is of revision " + std::to_string(token.revision.value) +
                                             ", and the moment to be read is revision " + std::to_string(at.value)};
  }
  options.revision = at;
  options.match = "Exact";
  return options;
}

/// Of the past of Events and Leases, which are not kept for long.
bool nothing_is_kept(const RequestContext& context) {
  return context.past && context.past->past->revision(*context.kind) == Revision{};
}

/// Of the present there would be objects that are computed.
bool would_have_views(const Server& server, const RequestContext& context) {
  return context.past && server.options.control_plane && has_views(*context.kind);
}

/// A page that is no longer held: the client may start again, or go on with what is there now (LIST-9).
void fail_list(const RequestContext& context, const ReadOptions& options, const Error& error) {
  const auto token = parse_continue_token(options.continue_token);
  if (error.code != ErrorCode::kGone || context.past || !token) return fail(context, error);
  const Error expired{ErrorCode::kGone,
                      "The provided continue parameter is too old to display a consistent list result. You can start a "
                      "new list without the continue parameter, or use the continue token in this response to retrieve "
                      "the remainder of the results. Continuing with the provided token results in an inconsistent "
                      "list - objects that were created, modified, or deleted between the time the first chunk was "
                      "returned and now may show up in the list."};
  Value status = failure_status(expired, context.subject());
  status.edit("metadata").set("continue", encode(ContinueToken{{}, token.value().ns, token.value().name}));
  answer_status(context, http_status(expired.code), status);
}

/// Answers with a list of stored objects.
void show_list(const ServerPtr& server, const RequestContextPtr& context, const ReadOptions& options, Listed listed,
               const Warnings& warnings) {
  if (!shows_converted(*context) && options.field_selector.empty()) {
    return answer_list(*context, std::move(listed.items), std::move(listed.metadata), server->time_of(*context),
                       warnings);
  }
  convert_stored(
      server, context, std::move(listed.items),
      [server, context, options, metadata = std::move(listed.metadata), warnings](Result<std::vector<Value>> items) {
        if (!items) return fail(*context, items.error());
        auto selected = selected_again(std::move(items).value(), *context->kind, options);
        if (!selected) return fail(*context, selected.error());
        answer_list(*context, std::move(selected).value(), metadata, server->time_of(*context), warnings);
      });
}

/// Answers with a stored object.
void show_object(const ServerPtr& server, const RequestContextPtr& context, Value object) {
  if (!shows_converted(*context)) return answer_object(*context, 200, object, server->time_of(*context));
  std::vector<Value> objects;
  objects.push_back(std::move(object));
  convert_stored(server, context, std::move(objects), [server, context](Result<std::vector<Value>> shown) {
    if (!shown) return fail(*context, shown.error());
    answer_object(*context, 200, shown.value()[0], server->time_of(*context));
  });
}

void list_objects(const ServerPtr& server, const RequestContextPtr& context) {
  auto options = list_options(*context);
  if (!options) return fail(*context, options.error());
  if (nothing_is_kept(*context)) {
    return answer_list(*context, {}, Value::object({{"resourceVersion", "0"}}), server->time_of(*context));
  }
  const Revision wanted = options.value().revision.value_or(Revision{});
  when_reached(server, context, wanted, [server, context, options = std::move(options).value()] {
    const auto oldest = oldest_readable(*server, *context, options);
    if (!oldest) return fail(*context, oldest.error());
    auto listed = list_collection(server->objects, *context->kind, context->path.ns, options, oldest.value());
    if (!listed) return fail_list(*context, options, listed.error());
    // Of a list in pages they are part of the last one. Of the past there are none: they are of what is there now.
    if (server->options.control_plane && !context->past && lists_views(*context->kind, options) &&
        listed.value().metadata["continue"].is_null()) {
      if (auto added = add_views(server->objects, *context->kind, context->path.ns, options, listed.value().items);
          !added) {
        return fail(*context, added.error());
      }
    }
    Warnings warnings;
    if (would_have_views(*server, *context)) {
      warnings.push_back(context->kind->kind +
                         "s of the past are not computed from the rollout histories of workloads");
    }
    show_list(server, context, options, std::move(listed).value(), warnings);
  });
}

/// kubectl asks the past for the ReplicaSet that the present has shown: it learns why there is none.
Error not_found_then(const Server& server, const RequestContext& context) {
  Error error = not_found(context.subject());
  if (would_have_views(server, context)) {
    error.message += ": it would be computed from the rollout history of a workload, which is not done for the past";
  }
  return error;
}

void get_object(const ServerPtr& server, const RequestContextPtr& context) {
  auto options = read_options(context->request);
  if (!options) return fail(*context, options.error());
  if (nothing_is_kept(*context)) return fail(*context, not_found(context->subject()));
  if (context->past) {
    options.value().revision = context->past->past->revision(*context->kind);
    options.value().match = "Exact";
  }
  const Revision wanted = options.value().revision.value_or(Revision{});
  when_reached(server, context, wanted, [server, context, wanted, options = std::move(options).value()] {
    if (const Revision newest = server->store(*context->kind).feed().revision(); wanted > newest) {
      return fail(*context, too_large(wanted, newest));
    }
    const ObjectKey key = context->key();
    // resourceVersion with match Exact reads the past here too: the only extension of Kubernetes' get.
    const std::optional<Revision> at =
        options.match == "Exact" && options.revision ? options.revision : std::optional<Revision>{};
    if (at && !context->past) {
      const auto oldest = oldest_readable(*server, *context);
      if (!oldest) return fail(*context, oldest.error());
      if (*at < oldest.value()) return fail(*context, too_old(*at, oldest.value()));
    }
    Store& store = server->store(*context->kind);
    auto row = at ? store.read([&](const View& view) { return ObjectQuery{view}.get(key, at); }) : store.newest(key);
    if (!row) return fail(*context, row.error());
    if (!row.value() && !at && server->options.control_plane && has_views(*context->kind)) {
      const auto view = view_of(server->objects, *context->kind, key);
      if (!view) return fail(*context, view.error());
      if (!view.value().is_null()) return answer_object(*context, 200, view.value(), server->time_of(*context));
    }
    if (!row.value()) return fail(*context, not_found_then(*server, *context));
    auto object = at ? server->objects.load_version(row.value()->json) : server->objects.load(row.value()->json);
    if (!object && object.error().code == ErrorCode::kGone) return fail(*context, not_found(context->subject()));
    if (!object) return fail(*context, object.error());
    show_object(server, context, std::move(object).value());
  });
}

/// The object that the request names, as it was.
Result<Value> past_object(const Server& server, const RequestContext& context) {
  const Revision at = context.past->past->revision(*context.kind);
  SHIPLOG_TRY(const auto row, server.store(*context.kind).read([&](const View& view) {
    return ObjectQuery{view}.get(context.key(), at);
  }));
  if (!row) return not_found(context.subject());
  return server.objects.load_version(row->json);
}

void show_scale(const Server& server, const RequestContext& context, const Value& object) {
  if (!has_scale(*context.kind, object)) {
    return fail(context, Error{ErrorCode::kInternal, "the spec replicas field \"" + context.kind->scale->spec_replicas +
                                                         "\" does not exist in " + to_string(context.key())});
  }
  answer_object(context, 200, scale_of(*context.kind, object), server.time_of(context));
}

/// The scale of an object (SUB-3).
void get_scale(const ServerPtr& server, const RequestContextPtr& context) {
  when_current(server, context, [server, context] {
    const auto object = context->past ? past_object(*server, *context) : server->current(*context, context->key());
    if (!object) return fail(*context, object.error());
    std::vector<Value> objects{object.value()};
    convert_stored(server, context, std::move(objects), [server, context](Result<std::vector<Value>> converted) {
      if (!converted) return fail(*context, converted.error());
      show_scale(*server, *context, converted.value()[0]);
    });
  });
}

/// The watch that is requested: of one object by its name too (PATH-5).
Result<ReadOptions> watch_options(const RequestContext& context) {
  SHIPLOG_TRY(auto options, read_options(context.request));
  if (context.path.name.empty()) return options;
  SHIPLOG_TRY(const auto fields, parse_field_selector(options.field_selector, *context.kind));
  if (const auto name = fields.name(); name && *name != context.path.name) {
    return Error{ErrorCode::kBadRequest,
                 "the field selector is about metadata.name=" + *name + ", the path about " + context.path.name};
  }
  if (!options.field_selector.empty()) options.field_selector += ',';
  options.field_selector += "metadata.name=" + context.path.name;
  return options;
}

void watch_objects(const ServerPtr& server, const RequestContextPtr& context) {
  auto options = watch_options(*context);
  if (!options) return fail(*context, options.error());
  const auto serve = [server, context, watch = options.value()] { server->watches->start(context, watch); };
  if (!context->past && answer_wait_for_pods(server, context, options.value(), serve)) return;
  serve();
}

}  // namespace

void serve_read(const ServerPtr& server, const RequestContextPtr& context) {
  if (is_component_status(*context->kind)) return serve_component_statuses(server, context);
  if (is_metrics(*context->kind) && server->options.metrics) return serve_metrics(server, context);
  if (context->path.subresource == "scale") return get_scale(server, context);
  if (context->verb == "watch") return watch_objects(server, context);
  if (context->verb == "list") return list_objects(server, context);
  get_object(server, context);
}

}  // namespace shiplog::api
