#include "events/base/json.h"
#include "projections/history/history_query.h"
#include "projections/objects/object_query.h"
#include "services/api/context.h"
#include "services/api/selector/selector.h"
#include "services/api/views/views.h"

namespace shiplog::api {
namespace {

struct Page {
  std::optional<Revision> at;  // nullopt: the newest
  std::optional<ObjectList::Position> after;
};

Result<Page> page_of(const ReadOptions& options, Revision newest) {
  Page page;
  if (!options.continue_token.empty()) {
    SHIPLOG_TRY(const auto token, parse_continue_token(options.continue_token));
    page.at = token.revision;
    page.after = ObjectList::Position{token.ns, token.name};
    return page;
  }
  const bool exact = options.match == "Exact" || (options.match.empty() && options.limit > 0);
  if (options.revision && *options.revision != Revision{}) {
    if (*options.revision > newest) return too_large(*options.revision, newest);
    if (exact) page.at = *options.revision;
  }
  return page;
}

}  // namespace

Result<Listed> list_collection(Server& server, const Context& context, const ReadOptions& options) {
  const Kind& kind = *context.kind;
  SHIPLOG_TRY(const auto labels, parse_label_selector(options.label_selector));
  SHIPLOG_TRY(const auto fields, parse_field_selector(options.field_selector, kind));
  return server.store(kind).read([&](const View& view) -> Result<Listed> {
    SHIPLOG_TRY(const Page page, page_of(options, view.revision()));
    const ObjectQuery query{view};
    ObjectList which{.type = kind.type()};
    if (!context.path.ns.empty()) which.ns = context.path.ns;
    which.after = page.after;
    if (page.at && *page.at != view.revision()) which.at = page.at;
    const Revision revision = page.at.value_or(view.revision());

    Listed listed;
    std::optional<Error> failed;
    bool more = false;
    ObjectList::Position last;
    const auto take = [&](const ObjectRowView& row) {
      if (options.limit > 0 && listed.items.size() == options.limit) {
        more = true;
        return false;
      }
      auto value = which.at ? server.load_version(row.json) : server.load(row.json);
      if (!value) {
        if (value.error().code == ErrorCode::kGone) return true;  // removed meanwhile
        failed = value.error();
        return false;
      }
      if (!labels.matches(value.value()["metadata"]["labels"]) || !fields.matches(value.value())) return true;
      last = {std::string{row.ns}, std::string{row.name}};
      listed.items.push_back(std::move(value).value());
      return true;
    };
    if (const auto name = fields.name(); name && which.ns && !page.after && !page.at) {
      SHIPLOG_TRY(const auto row, query.get({which.type, *which.ns, *name}));
      if (row) take({row->key.ns, row->key.name, row->revision, row->json});
    } else {
      SHIPLOG_TRY(query.visit(which, take));
    }
    if (failed) return *failed;

    listed.metadata = Value::object({{"resourceVersion", std::to_string(revision.value)}});
    if (more) {
      listed.metadata.set("continue", encode(ContinueToken{revision, last.ns, last.name}));
      if (labels.empty() && fields.empty()) {
        which.after = last;
        SHIPLOG_TRY(const auto remaining, query.count(which));
        listed.metadata.set("remainingItemCount", static_cast<int64_t>(remaining));
      }
    }
    return listed;
  });
}

void list_objects(const ServerPtr& server, const ContextPtr& context) {
  auto options = read_options(context->request);
  if (!options) return server->fail(context, options.error());
  const Revision wanted = options.value().revision.value_or(Revision{});
  when_reached(server, context, wanted, [server, context, options = std::move(options).value()] {
    auto listed = list_collection(*server, *context, options);
    if (!listed) return server->fail(context, listed.error());
    // Of a list in pages they come with the last one.
    if (lists_views(*server, *context, options) && listed.value().metadata["continue"].is_null()) {
      if (auto added = add_views(*server, *context, options, listed.value().items); !added) {
        return server->fail(context, added.error());
      }
    }
    server->answer_list(context, std::move(listed.value().items), std::move(listed.value().metadata));
  });
}

void get_object(const ServerPtr& server, const ContextPtr& context) {
  auto options = read_options(context->request);
  if (!options) return server->fail(context, options.error());
  const Revision wanted = options.value().revision.value_or(Revision{});
  when_reached(server, context, wanted, [server, context, wanted, options = std::move(options).value()] {
    if (const Revision newest = server->store(*context->kind).feed().revision(); wanted > newest) {
      return server->fail(context, too_large(wanted, newest));
    }
    const ObjectKey key = context->key();
    // resourceVersion with match Exact reads the past here too: the one thing a get can ask that Kubernetes' cannot.
    const std::optional<Revision> at =
        options.match == "Exact" && options.revision ? options.revision : std::optional<Revision>{};
    auto row = server->store(*context->kind).read([&](const View& view) { return ObjectQuery{view}.get(key, at); });
    if (!row) return server->fail(context, row.error());
    if (!row.value() && !at && has_views(*server, *context->kind)) {
      const auto view = view_of(*server, *context->kind, key);
      if (!view) return server->fail(context, view.error());
      if (!view.value().is_null()) return server->answer(context, 200, view.value());
    }
    if (!row.value()) return server->fail(context, not_found(context->subject()));
    auto object = at ? server->load_version(row.value()->json) : server->load(row.value()->json);
    if (!object && object.error().code == ErrorCode::kGone) return server->fail(context, not_found(context->subject()));
    if (!object) return server->fail(context, object.error());
    server->answer(context, 200, object.value());
  });
}

void answer_unserved(const ServerPtr& server, const ContextPtr& context) {
  const Error missing{ErrorCode::kNotFound, "the server could not find the requested resource"};
  if (context->path.group.empty()) return server->fail(context, missing);
  server->when_current(context, [server, context, missing] {
    const ObjectKey key{"apiservices.apiregistration.k8s.io", "", context->path.version + "." + context->path.group};
    const auto row = server->options.record->read([&](const View& view) { return ObjectQuery{view}.get(key); });
    const auto service = row && row.value() ? server->load(row.value()->json) : Result<Value>{Value{}};
    if (!service || service.value()["spec"]["service"].is_null()) return server->fail(context, missing);
    const Value& at = service.value()["spec"]["service"];
    server->fail(context,
                 Error{ErrorCode::kUnavailable, "APIService " + key.name + " names the service \"" + at["name"].str() +
                                                    "\" of namespace \"" + at["namespace"].str() +
                                                    "\", and this server does not pass requests on to services"});
  });
}

}  // namespace shiplog::api
