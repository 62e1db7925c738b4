#include "services/api/webhooks/ask.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "projections/objects/object_query.h"
#include "services/api/auth/claims.h"
#include "services/api/patch/patch.h"
#include "services/api/versions/versions.h"
#include "services/api/webhooks/webhooks.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

/// One action before one row of webhooks.
struct Asking {
  Asking(ServerPtr the_server, ContextPtr the_context, HookedAction the_action)
      : server{std::move(the_server)}, context{std::move(the_context)}, action{std::move(the_action)} {}

  ServerPtr server;
  ContextPtr context;  // holds the kinds that the action points to
  HookedAction action;
  std::optional<Value> namespace_labels;

  Result<Value> find(const ObjectKey& key) const {
    SHIPLOG_TRY(const auto row,
                server->options.record->read([&](const View& view) { return ObjectQuery{view}.get(key); }));
    if (!row) return Error{ErrorCode::kNotFound, to_string(key) + " not found"};
    return server->load(row->json);
  }

  bool selects_namespace(const Hook& hook) {
    if (hook.any_namespace) return true;
    const bool is_namespace = action.kind->type() == type::kNamespace;
    if (!is_namespace && !action.kind->namespaced) return true;  // of no namespace: there is nothing to select
    if (is_namespace) {
      const Value& object = action.object.is_null() ? action.old : action.object;
      return hook.namespaces.matches(object["metadata"]["labels"]);
    }
    if (!namespace_labels) {
      const auto ns = find({type::kNamespace, "", action.ns});
      namespace_labels = ns ? ns.value()["metadata"]["labels"] : Value{};
    }
    return hook.namespaces.matches(*namespace_labels);
  }
};

using OnVerdict = std::function<void(Verdict)>;

/// A webhook that could not be asked: failurePolicy says what that means.
Verdict without_answer(const Hook& hook, const std::string& why) {
  log::warn("webhook.failed", {log::kv("webhook", hook.name), log::kv("configuration", hook.configuration),
                               log::kv("ignored", !hook.fails_closed), log::kv("reason", why)});
  Verdict verdict;
  if (hook.fails_closed) verdict.denial = failed_call(hook, why);
  return verdict;
}

/// False: the hook has no say in this. Else `then` is called, on a worker thread or here.
bool ask_one(Asking& asking, const Hook& hook, const OnVerdict& then) {
  const HookedAction& action = asking.action;
  const Kind* wanted = matched_kind(hook, action);
  if (wanted == nullptr || !asking.selects_namespace(hook) || !selects_object(hook, action)) return false;
  const auto fail = [&](const std::string& why) {
    then(without_answer(hook, why));
    return true;
  };
  if (hook.conditional) return fail("matchConditions are CEL expressions, which this server does not evaluate");
  if (action.dry_run && !hook.fit_for_dry_run) {
    Verdict verdict;
    verdict.denial = unfit_for_dry_run(hook);
    then(std::move(verdict));
    return true;
  }
  const auto endpoint = webhook_endpoint(
      hook.client, [&](const ObjectKey& key) { return asking.find(key); }, UnknownService::kRefused);
  if (!endpoint) return fail("failed to call webhook: " + endpoint.error().message);
  const Server& server = *asking.server;
  const std::string uid = uid_from(new_entry_id(*server.options.random), 0);
  const auto review = review_request(hook, action, *wanted, uid);
  if (!review) return fail(review.error().message);
  const std::string shown = endpoint.value().shown + "?timeout=" + std::to_string(hook.timeout_seconds) + "s";
  server.options.webhooks->call(endpoint.value(), review.value(), hook.timeout_seconds,
                                [server = asking.server, hook, uid, shown, then](Result<Value> answer) {
                                  server->workers->post([hook, uid, shown, then, answer = std::move(answer)] {
                                    if (!answer) {
                                      return then(without_answer(hook, "failed to call webhook: Post \"" + shown +
                                                                           "\": " + answer.error().message));
                                    }
                                    auto verdict = read_review(hook, answer.value(), uid);
                                    if (!verdict) return then(without_answer(hook, verdict.error().message));
                                    then(std::move(verdict).value());
                                  });
                                });
  return true;
}

class Mutation : public std::enable_shared_from_this<Mutation> {
 public:
  Mutation(Asking asking, OnHooked then)
      : asking_{std::move(asking)}, hooks_{asking_.server->options.webhooks->hooks(true)}, then_{std::move(then)} {}

  void go_on() {
    while (next_ < hooks_->size() || begin_again()) {
      const size_t index = next_++;
      if (second_ && !again_.contains(index)) continue;
      const Hook& hook = (*hooks_)[index];
      const auto heard = [self = shared_from_this(), index](Verdict verdict) { self->hear(index, std::move(verdict)); };
      if (ask_one(asking_, hook, heard)) return;
    }
    done_.object = asking_.action.object;
    then_(std::move(done_));
  }

 private:
  /// The second round is for those that were asked before somebody else changed the object.
  bool begin_again() {
    if (second_ || again_.empty()) return false;
    second_ = true;
    next_ = 0;
    return true;
  }

  void hear(size_t index, Verdict verdict) {
    const Hook& hook = (*hooks_)[index];
    std::ranges::move(verdict.warnings, std::back_inserter(done_.warnings));
    if (verdict.denial) {
      done_.denial = std::move(verdict.denial);
      return then_(std::move(done_));
    }
    if (!verdict.patch.is_null() && !asking_.action.object.is_null()) {
      const Value& object = asking_.action.object;
      // The patch is for the version that the webhook was shown.
      const Kind* shown = asking_.action.form.is_null() ? matched_kind(hook, asking_.action) : nullptr;
      const Kind* own = asking_.action.kinds->find_kind(object["apiVersion"].as_string(), object["kind"].as_string());
      auto patched = apply_json_patch(shown == nullptr ? object : in_version(*shown, object), verdict.patch,
                                      JsonPatchRules::kKubernetes);
      if (!patched) {
        done_.denial = failed_call(hook, "its patch cannot be applied: " + patched.error().message);
        return then_(std::move(done_));
      }
      Value changed = own == nullptr ? patched.value() : in_version(*own, patched.value());
      if (changed != object) {
        asking_.action.object = std::move(changed);
        if (!second_) again_.merge(asked_);
      }
    }
    if (hook.reinvoked && !second_) asked_.insert(index);
    go_on();
  }

  Asking asking_;
  Webhooks::Hooks hooks_;
  OnHooked then_;
  Hooked done_;
  size_t next_ = 0;
  bool second_ = false;
  std::set<size_t> asked_;  // hooks with reinvocationPolicy IfNeeded since the last change
  std::set<size_t> again_;  // those that have not seen a later change
};

/// What the validating webhooks say, as it comes in.
struct Gathered {
  std::mutex mutex;
  std::vector<Verdict> verdicts;
  size_t left = 0;
  OnHooked then;

  void add(size_t index, Verdict verdict) {
    {
      const std::lock_guard lock{mutex};
      verdicts[index] = std::move(verdict);
    }
    one_less();
  }
  void one_less() {
    {
      const std::lock_guard lock{mutex};
      if (--left > 0) return;
    }
    Hooked hooked;
    for (Verdict& verdict : verdicts) {
      std::ranges::move(verdict.warnings, std::back_inserter(hooked.warnings));
      if (verdict.denial && !hooked.denial) hooked.denial = std::move(verdict.denial);
    }
    then(std::move(hooked));
  }
};

const char* options_kind(const std::string& method) {
  if (method == "POST") return "CreateOptions";
  if (method == "PATCH") return "PatchOptions";
  return method == "DELETE" ? "DeleteOptions" : "UpdateOptions";
}

}  // namespace

bool must_ask(const Server& server, const Context& context, bool mutating, const std::string& operation,
              const std::string& subresource) {
  const Webhooks* webhooks = server.options.webhooks;
  if (webhooks == nullptr || webhooks->none(mutating) || is_beyond_webhooks(*context.kind)) return false;
  HookedAction action;
  action.kinds = context.kinds.get();
  action.kind = context.kind;
  action.operation = operation;
  action.subresource = subresource;
  const auto hooks = webhooks->hooks(mutating);
  return std::ranges::any_of(*hooks, [&](const Hook& hook) { return matched_kind(hook, action) != nullptr; });
}

HookedAction action_of(const Context& context, const std::string& operation, bool dry_run) {
  HookedAction action;
  action.kinds = context.kinds.get();
  action.kind = context.kind;
  action.operation = operation;
  action.subresource = context.path.subresource;
  action.ns = context.kind->type() == type::kNamespace ? context.path.name : context.path.ns;
  action.name = context.path.name;
  action.dry_run = dry_run;
  action.options = Value::object({{"kind", options_kind(context.request.method)}, {"apiVersion", "meta.k8s.io/v1"}});
  if (dry_run) action.options.set("dryRun", Value::array({"All"}));
  const std::string manager = text(context.request, "fieldManager");
  if (!manager.empty() && operation != "DELETE") action.options.set("fieldManager", manager);
  action.user = user_info(context.user);
  return action;
}

void ask_mutating(const ServerPtr& server, const ContextPtr& context, HookedAction action, OnHooked then) {
  std::make_shared<Mutation>(Asking{server, context, std::move(action)}, std::move(then))->go_on();
}

void ask_validating(const ServerPtr& server, const ContextPtr& context, HookedAction action, OnHooked then) {
  const auto hooks = server->options.webhooks->hooks(false);
  const auto gathered = std::make_shared<Gathered>();
  gathered->verdicts.resize(hooks->size());
  gathered->left = hooks->size() + 1;  // one for this loop, so that an answer never ends it too early
  gathered->then = std::move(then);
  Asking asking{server, context, std::move(action)};
  for (size_t index = 0; index < hooks->size(); ++index) {
    const auto heard = [gathered, index](Verdict verdict) { gathered->add(index, std::move(verdict)); };
    if (!ask_one(asking, (*hooks)[index], heard)) gathered->one_less();
  }
  gathered->one_less();
}

}  // namespace shiplog::api
