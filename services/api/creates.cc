#include <algorithm>
#include <iterator>
#include <utility>

#include "events/base/json.h"
#include "projections/objects/object_query.h"
#include "services/api/auth/gate.h"
#include "services/api/certificates.h"
#include "services/api/customizations.h"
#include "services/api/token_secrets.h"
#include "services/api/writes.h"
#include "services/roles/serviceaccount_token/decide.h"

namespace shiplog::api {
namespace {

ObjectKey key_for(const Context& context, const Value& object) {
  return {context.kind->type(), context.kind->namespaced ? context.path.ns : "", object["metadata"]["name"].str()};
}

/// Goes on when there is such a namespace; answers NotFound when there is none.
void in_namespace(const ServerPtr& server, const ContextPtr& context, const std::string& name,
                  std::function<void()> then) {
  const Kind* namespaces = context->kinds->find_type(type::kNamespace);
  server->options.record->when_current([=](Result<void> current) mutable {
    if (!current) return server->fail(context, current.error());
    server->post(context, [=]() mutable {
      auto ns = server->options.record->read([&](const View& view) {
        return ObjectQuery{view}.get({namespaces->type(), "", name});
      });
      if (!ns) return server->fail(context, ns.error());
      if (!ns.value()) return fail_without_namespace(server, context, name);
      const auto object = parse_stored_json(ns.value()->json);
      if (!object) return server->fail(context, object.error());
      if (deleting(object.value())) {
        Error error = forbidden(context->subject(), "unable to create new content in namespace " + name +
                                                        " because it is being terminated");
        error.causes = {being_terminated(name)};
        return refuse(server, context, error);
      }
      then();
    });
  });
}

void store_new(const ServerPtr& server, const ContextPtr& context, const Creation& creation, Value object) {
  const ObjectKey key = key_for(*context, object);
  if (creation.options.dry_run) {
    // What the fold would have filled in; clients rely on finding it.
    std::string uid = uid_from(new_entry_id(*server->options.random), 0);
    uid[14] = '4';
    object.edit("metadata").set("uid", std::move(uid));
    object.edit("metadata").set("creationTimestamp", rfc3339(server->options.clock->now()));
    return server->when_current(context, [server, context, key, object = std::move(object)] {
      if (server->current(*context, key)) return server->fail(context, already_exists(context->subject(key.name)));
      if (key.ns.empty()) return server->answer(context, 201, object);
      in_namespace(server, context, key.ns, [server, context, object] { server->answer(context, 201, object); });
    });
  }
  if (!context->kind->ephemeral || key.ns.empty()) {
    if (context->kind->type() != type::kSecret || !serviceaccount_token::is_token_secret(object) ||
        server->options.tokens == nullptr) {
      return append_object(server, context, creation.write, key, Revision{}, std::move(object));
    }
    return server->when_current(context, [server, context, write = creation.write, key, object = std::move(object)] {
      auto filled = with_token(*server, key, object);
      if (!filled) return server->fail(context, filled.error());
      append_object(server, context, write, key, Revision{}, std::move(filled).value());
    });
  }
  const auto create = [server, context, write = creation.write, key, object = std::move(object)] {
    append_object(server, context, write, key, Revision{}, object);
  };
  // Namespaces live in the other journal: what is ephemeral is checked here, as the fold cannot.
  in_namespace(server, context, key.ns, create);
}

void admit_and_create(const ServerPtr& server, const ContextPtr& context, Creation creation) {
  if (context->kind->type() == type::kService && creation.tries > 1) {
    creation.write.on_address_taken = [server, context, again = creation] {
      Creation next = again;
      --next.tries;
      admit_and_create(server, context, std::move(next));
    };
  }
  const WriteOptions& options = creation.options;
  Admission admission = admission_for(*server, *context, options);
  if (context->request.method == "POST") admission.name.clear();  // the path has none
  admission.duplicate_fields = std::move(creation.duplicates);
  context->path.name = creation.object["metadata"]["name"].str();  // what is wrong with it is said with its name
  auto admitted = admit_create(admission, std::move(creation.object));
  if (!admitted) return refuse(server, context, admitted.error());
  context->warnings = std::move(creation.warnings);
  add_warnings(*context, std::move(admission.warnings));
  warn_of_idle_parts(*context, admitted.value());
  Value object = std::move(admitted).value();
  const ObjectKey key = key_for(*context, object);
  if (const auto denied = refuse_write(*server, *context, key, {}, object)) return refuse(server, context, *denied);
  if (const auto denied = refuse_certificate(*server, *context, {}, object)) return refuse(server, context, *denied);
  if (const auto denied = refuse_customization(*server, *context, object)) return refuse(server, context, *denied);
  if (creation.applied) {
    object.edit("metadata").set("managedFields", creation.managed);
  } else {
    object = tracked(*server, *context, options, Value{}, std::move(object), creation.managed);
  }
  auto with_addresses = addressed(*server, *context, Value{}, std::move(object));
  if (!with_addresses) return refuse(server, context, with_addresses.error());
  object = std::move(with_addresses).value();
  if (!must_ask(*server, *context, false, "CREATE", "")) {
    return store_new(server, context, creation, std::move(object));
  }
  server->post(context, [server, context, creation = std::move(creation), key, object = std::move(object)] {
    context->path.name = key.name;
    HookedAction action = action_of(*context, "CREATE", creation.options.dry_run);
    action.object = object;
    ask_validating(server, context, std::move(action), [server, context, creation, object](Hooked hooked) {
      add_warnings(*context, std::move(hooked.warnings));
      if (hooked.denial) return deny(server, context, *hooked.denial);
      store_new(server, context, creation, object);
    });
  });
}

/// Lets the mutating webhooks at it first. Where it may block.
void create_past_webhooks(const ServerPtr& server, const ContextPtr& context, Creation creation) {
  Admission admission = admission_for(*server, *context, creation.options);
  if (context->request.method == "POST") admission.name.clear();
  admission.duplicate_fields = std::move(creation.duplicates);
  context->path.name = creation.object["metadata"]["name"].str();
  auto draft = draft_create(admission, std::move(creation.object));
  if (!draft) return refuse(server, context, draft.error());
  creation.duplicates.clear();
  std::ranges::move(admission.warnings, std::back_inserter(creation.warnings));
  context->path.name = draft.value()["metadata"]["name"].str();
  HookedAction action = action_of(*context, "CREATE", creation.options.dry_run);
  action.object = std::move(draft).value();
  ask_mutating(server, context, std::move(action), [server, context, creation](Hooked hooked) mutable {
    std::ranges::move(hooked.warnings, std::back_inserter(creation.warnings));
    context->warnings = creation.warnings;
    if (hooked.denial) return deny(server, context, *hooked.denial);
    creation.object = std::move(hooked.object);
    admit_and_create(server, context, std::move(creation));
  });
}

}  // namespace

void create_from(const ServerPtr& server, const ContextPtr& context, Creation creation) {
  creation.managed = creation.object["metadata"]["managedFields"];
  if (!creation.applied) {
    auto stored = stored_form(*server, *context, creation.options, creation.duplicates, std::move(creation.object),
                              creation.warnings, true);
    if (!stored) return refuse(server, context, stored.error());
    creation.object = std::move(stored).value();
  }
  if (!must_ask(*server, *context, true, "CREATE", "")) return admit_and_create(server, context, std::move(creation));
  server->post(context,
               [server, context, creation = std::move(creation)] { create_past_webhooks(server, context, creation); });
}

void create_object(const ServerPtr& server, const ContextPtr& context) {
  if (!context->kind->builtin && server->options.catalogue->terminating(context->kind->type())) {  // CRD-13
    return server->fail(context, Error{ErrorCode::kMethodNotAllowed,
                                       "create not allowed while custom resource definition is terminating"});
  }
  auto options = write_options(context->request);
  if (!options) return server->fail(context, options.error());
  std::vector<std::string> duplicates;
  auto body = read_body(context->request, *context->kinds, *context->kind, &duplicates);
  if (!body) return server->fail(context, body.error());
  context->request.body = std::string{};
  create_from(server, context,
              {.options = options.value(),
               .object = std::move(body).value(),
               .write = {.verb = "create", .success = 201, .status = false, .on_conflict = {}},
               .duplicates = std::move(duplicates)});
}

}  // namespace shiplog::api
