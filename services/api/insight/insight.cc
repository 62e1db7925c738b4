#include "services/api/insight/insight.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <string>
#include <string_view>

#include "events/base/json.h"
#include "events/state/work.h"
#include "projections/audit/audit_query.h"
#include "projections/audit/outcome_query.h"
#include "projections/decisions/decision_query.h"
#include "projections/history/history_query.h"
#include "projections/objects/object_query.h"
#include "projections/store/checkpoint.h"
#include "services/api/insight/as_of.h"
#include "services/api/insight/blame.h"
#include "services/api/insight/chain.h"
#include "services/api/insight/comparison.h"
#include "services/api/insight/effects.h"
#include "services/api/insight/export.h"
#include "services/api/insight/failovers.h"
#include "services/api/insight/fleet_status.h"
#include "services/api/insight/follow.h"
#include "services/api/insight/former_kind.h"
#include "services/api/insight/history.h"
#include "services/api/insight/kubernetes_audit.h"
#include "services/api/insight/render.h"
#include "services/api/insight/resource.h"
#include "services/api/insight/why.h"
#include "services/api/status.h"

namespace shiplog::api {
namespace {

constexpr std::string_view kPrefix = "/shiplog/v1/";
// What one answer of `effects` may take of a worker.
constexpr std::chrono::seconds kEffectsTime{3};
constexpr size_t kMostEffects = 5'000;
constexpr size_t kDeepestEffects = 200;
/// What a user with `get` for the object may ask.
constexpr std::array<std::string_view, 4> kForTenants = {"history", "blame", "diff", "why"};
constexpr size_t kMostRows = 10'000;  // of one answer that is built in memory; `events` streams any number

/// Of the query; empty: not given.
std::string parameter(const HttpRequest& request, std::string_view key) {
  const std::string* value = request.query_value(key);
  return value == nullptr ? std::string{} : *value;
}

/// Of `kind` or `type`.
struct NamedType {
  std::string type;  ///< "deployments.apps"; empty: neither was given
  bool namespaced = true;
  /// A type that is served no longer still has a history: then `namespace` is used as given.
  bool known = false;
};

Result<NamedType> type_named(const Kinds& kinds, const HttpRequest& request) {
  if (const std::string given = parameter(request, "kind"); !given.empty()) {
    SHIPLOG_TRY(const Kind* kind, find_resource(kinds, given));
    return NamedType{kind->type(), kind->namespaced, true};
  }
  NamedType named{parameter(request, "type")};
  if (const Kind* kind = kinds.find_type(named.type)) named = {kind->type(), kind->namespaced, true};
  return named;
}

Result<ObjectKey> object_named(NamedType named, const HttpRequest& request) {
  if (named.type.empty()) return Error{ErrorCode::kBadRequest, "the object is not named: kind (or type) is missing"};
  ObjectKey key{std::move(named.type), named.namespaced ? parameter(request, "namespace") : "",
                parameter(request, "name")};
  if (key.name.empty()) return Error{ErrorCode::kBadRequest, "the object is not named: name is missing"};
  if (named.namespaced && key.ns.empty() && named.known) key.ns = "default";
  return key;
}

/// One question, with its parameters read and checked.
struct InsightRequest {
  Store& store;
  const Clock& clock;
  const Kinds& kinds;
  const HttpRequest& request;
  const InsightReader& reader;

  std::string text(std::string_view key) const { return parameter(request, key); }

  bool flag(std::string_view key) const {
    const std::string* value = request.query_value(key);
    return value != nullptr && *value != "false" && *value != "0";
  }

  /// nullopt: not given.
  Result<std::optional<int64_t>> number(std::string_view key) const {
    const std::string given = text(key);
    if (given.empty()) return std::nullopt;
    int64_t value = 0;
    const auto [end, wrong] = std::from_chars(given.data(), given.data() + given.size(), value);
    if (wrong != std::errc{} || end != given.data() + given.size() || value < 0) {
      return Error{ErrorCode::kBadRequest, std::string{key} + ": \"" + given + "\" is not a whole number from 0 up"};
    }
    return std::optional{value};
  }

  Result<size_t> limit(size_t fallback) const {
    SHIPLOG_TRY(const auto given, number("limit"));
    const auto wanted = given ? static_cast<size_t>(*given) : fallback;
    const size_t most = reader.everything ? kMostRows : kMostTenantVersions;
    return wanted == 0 || wanted > most ? most : wanted;
  }

  /// A point in time, or how long before now.
  Result<std::optional<UtcMillis>> time(std::string_view key) const {
    const std::string given = text(key);
    if (given.empty()) return std::nullopt;
    if (const auto before = parse_duration(given))
      return std::optional{UtcMillis{clock.now().value - before.value().value}};
    auto time = parse_rfc3339(given);
    if (time) return std::optional{time.value()};
    return Error{
        ErrorCode::kBadRequest,
        std::string{key} + ": \"" + given + "\" is neither a time like 2024-05-01T12:00:00Z nor a duration like 1h30m"};
  }

  /// The revision that `key` means; nullopt: not given. Error: kBadRequest.
  Result<std::optional<Revision>> revision(const View& view, std::string_view key) const {
    const std::string given = text(key);
    if (given.empty()) return std::nullopt;
    SHIPLOG_TRY(const Revision revision, revision_of(view, key, given, clock.now()));
    return std::optional{revision};
  }

  /// Also one whose definition has been deleted.
  Result<NamedType> type() const {
    auto named = type_named(kinds, request);
    if (named) return named;
    const auto former = store.read([&](const View& view) { return former_kind(view, kinds, text("kind")); });
    if (!former || !former.value()) return named;
    return NamedType{former.value()->type(), former.value()->namespaced, true};
  }
  Result<ObjectKey> object() const {
    SHIPLOG_TRY(auto named, type());
    return object_named(std::move(named), request);
  }
};

/// From which revision on the reader is shown the object, if that is not everything; and `at` is not before.
Result<Revision> first_shown(const InsightRequest& question, const View& view, const ObjectKey& object,
                             std::optional<Revision> at) {
  if (question.reader.everything) return Revision{};
  // Again: a kind that was added meanwhile may have given the words another meaning.
  if (!question.reader.may_get(object)) {
    return Error{ErrorCode::kForbidden, "you may not get " + to_string(object)};
  }
  SHIPLOG_TRY(const Revision oldest, oldest_shown(view, object));
  SHIPLOG_TRY(check_shown(oldest, at));
  return oldest;
}

Error unknown_object(const InsightRequest& question, const ObjectKey& key) {
  const Kind* kind = question.kinds.find_type(key.type);
  if (kind == nullptr) return Error{ErrorCode::kNotFound, key.type + " \"" + key.name + "\" not found"};
  return not_found({kind->group, kind->kind, kind->plural, key.name.str()});
}

Result<Value> history(const InsightRequest& question) {
  SHIPLOG_TRY(const ObjectKey key, question.object());
  SHIPLOG_TRY(const size_t limit, question.limit(50));
  const std::string order = question.text("order");
  if (!order.empty() && order != "newest" && order != "oldest") {
    return Error{ErrorCode::kBadRequest, "order: \"" + order + "\" is neither newest nor oldest"};
  }
  return question.store.read([&](const View& view) -> Result<Value> {
    SHIPLOG_TRY(const auto at, question.revision(view, "at"));
    SHIPLOG_TRY(const Revision oldest, first_shown(question, view, key, at));
    SHIPLOG_TRY(auto versions, history_of(view, key, limit, order != "oldest", at));
    if (versions.size() == 0) return unknown_object(question, key);
    const Value& earliest = versions[order == "oldest" ? 0 : versions.size() - 1];
    const Revision before{static_cast<uint64_t>(earliest["revision"].as_int()) - 1};
    SHIPLOG_TRY(const auto older, HistoryQuery{view}.versions(key, true, 1, before));
    Value answer = Value::object({{"kind", "History"},
                                  {"object", to_value(key)},
                                  {"revision", view.revision().value},
                                  {"items", std::move(versions)}});
    if (!older.empty() && older.front().revision >= oldest) answer.set("more", true);
    if (question.reader.everything) return answer;
    answer = tenant_history(answer, oldest, question.reader);
    if (answer["items"].size() == 0) return unknown_object(question, key);
    return answer;
  });
}

Result<Value> blame(const InsightRequest& question) {
  BlameQuestion asked;
  SHIPLOG_TRY(asked.object, question.object());
  asked.field = question.text("field");
  asked.with_status = question.flag("status");
  SHIPLOG_TRY(asked.versions, question.limit(asked.versions));
  if (!question.reader.everything) asked.versions = std::min(asked.versions, kMostTenantVersionsRead);
  return question.store.read([&](const View& view) -> Result<Value> {
    SHIPLOG_TRY(asked.at, question.revision(view, "at"));
    SHIPLOG_TRY(const Revision oldest, first_shown(question, view, asked.object, asked.at));
    SHIPLOG_TRY(Value answer, blame_of(view, asked));
    if (answer.is_null()) return unknown_object(question, asked.object);
    answer.set("kind", "Blame");
    answer.set("object", to_value(asked.object));
    answer.set("revision", asked.at.value_or(view.revision()).value);
    return question.reader.everything ? answer : tenant_blame(answer, oldest, question.reader);
  });
}

Result<Value> difference(const InsightRequest& question) {
  ComparisonQuestion asked;
  SHIPLOG_TRY(const NamedType named, question.type());
  asked.type = named.type;
  if (named.namespaced && !question.text("namespace").empty()) asked.ns = question.text("namespace");
  asked.name = question.text("name");
  asked.user = question.text("user");
  SHIPLOG_TRY(asked.limit, question.limit(1000));
  ObjectKey only;  // what a reader sees who may not read everything
  if (!question.reader.everything) {
    SHIPLOG_TRY(only, question.object());
    asked.ns = only.ns;
    asked.most_versions = kMostTenantVersionsRead;
    if (!asked.user.empty()) {
      return Error{ErrorCode::kForbidden, "user: only users with the permission for " + question.request.path +
                                              " may select changes by their user"};
    }
  }
  return question.store.read([&](const View& view) -> Result<Value> {
    SHIPLOG_TRY(const auto from, question.revision(view, "from"));
    if (!from) return Error{ErrorCode::kBadRequest, "from: a revision or a time is missing"};
    SHIPLOG_TRY(const auto to, question.revision(view, "to"));
    asked.from = *from;
    asked.to = to.value_or(view.revision());
    if (asked.to < asked.from) {
      return Error{ErrorCode::kBadRequest, "from: revision " + std::to_string(asked.from.value) +
                                               " is after revision " + std::to_string(asked.to.value) +
                                               ", which `to` means"};
    }
    SHIPLOG_TRY(const Revision oldest, first_shown(question, view, only, asked.from));
    SHIPLOG_TRY(Value answer, compare(view, asked));
    answer.set("kind", "Comparison");
    answer.set("from", asked.from.value);
    answer.set("to", asked.to.value);
    return question.reader.everything ? answer : tenant_comparison(answer, oldest, question.reader);
  });
}

Result<Value> failovers(const InsightRequest& question) {
  std::optional<ObjectKey> binding;
  if (!question.text("kind").empty() || !question.text("type").empty()) {
    SHIPLOG_TRY(binding, question.object());
    const Kind* kind = question.kinds.find_type(binding->type);
    if (!is_binding(binding->type)) binding = binding_key(*binding, kind == nullptr ? binding->type : kind->kind);
  }
  SHIPLOG_TRY(const size_t limit, question.limit(50));
  return question.store.read([&](const View& view) -> Result<Value> {
    SHIPLOG_TRY(auto items, failovers_of(view, binding, question.text("namespace"), limit));
    return Value::object({{"kind", "FailoverList"}, {"revision", view.revision().value}, {"items", std::move(items)}});
  });
}

Result<Value> chain(const InsightRequest& question) {
  SHIPLOG_TRY(const ObjectKey key, question.object());
  return question.store.read([&](const View& view) -> Result<Value> {
    SHIPLOG_TRY(auto at, question.revision(view, "at"));
    if (!at) {
      SHIPLOG_TRY(at, question.revision(view, "revision"));
    }
    SHIPLOG_TRY(const auto entries, chain_of(view, key, at));
    if (entries.empty()) return unknown_object(question, key);
    Value items = Value::array();
    for (const AuditRow& entry : entries) items.push_back(to_value(entry));
    return Value::object({{"kind", "Chain"},
                          {"object", to_value(key)},
                          {"revision", view.revision().value},
                          {"items", std::move(items)}});
  });
}

Result<AuditRow> root_of_effects(const InsightRequest& question, const View& view,
                                 const std::function<bool()>& expired) {
  const std::string of = question.text("of");
  if (of.empty()) return Error{ErrorCode::kBadRequest, "of: a revision, a time or the id of an entry is missing"};
  if (const auto id = parse_entry_id(of)) return entry_with_id(view, *id, expired);
  SHIPLOG_TRY(const auto revision, question.revision(view, "of"));
  SHIPLOG_TRY(const Offset offset, OutcomeQuery{view}.reaching(*revision));
  SHIPLOG_TRY(auto root, AuditQuery{view}.at(offset));
  if (root) return *std::move(root);
  return Error{ErrorCode::kGone, "of: the entry that made revision " + std::to_string(revision->value) +
                                     " is no longer in the audit trail"};
}

Result<Value> effects(const InsightRequest& question) {
  EffectsQuestion asked;
  SHIPLOG_TRY(const auto limit, question.number("limit"));
  SHIPLOG_TRY(const auto depth, question.number("depth"));
  if (limit) asked.limit = static_cast<size_t>(*limit);
  if (depth) asked.depth = static_cast<size_t>(*depth);
  if (asked.limit == 0 || asked.limit > kMostEffects) asked.limit = kMostEffects;
  if (asked.depth == 0 || asked.depth > kDeepestEffects) asked.depth = kDeepestEffects;
  if (const std::string within = question.text("within"); !within.empty()) {
    const auto duration = parse_duration(within);
    if (!duration) return duration.error().context("within");
    if (duration.value().value < 0) return Error{ErrorCode::kBadRequest, "within: \"" + within + "\" is negative"};
    asked.within = duration.value();
  }
  if (!question.reader.everything) asked.may_read = question.reader.may_get;
  asked.expired = [until = std::chrono::steady_clock::now() + kEffectsTime] {
    return std::chrono::steady_clock::now() > until;
  };
  return question.store.read([&](const View& view) -> Result<Value> {
    SHIPLOG_TRY(asked.root, root_of_effects(question, view, asked.expired));
    SHIPLOG_TRY(Value answer, effects_of(view, asked));
    answer.set("kind", "Effects");
    answer.set("revision", asked.root.revision.value);
    return answer;
  });
}

Result<Value> why(const InsightRequest& question, const Sources& sources) {
  WhyQuestion asked;
  SHIPLOG_TRY(asked.object, question.object());
  asked.cluster = question.text("cluster");
  const InsightReader& reader = question.reader;
  if (!reader.everything && !asked.cluster.empty() && !reader.may_get({type::kCluster, "", asked.cluster})) {
    return Error{ErrorCode::kForbidden,
                 "cluster: you may not get clusters.cluster.karmada.io \"" + asked.cluster + "\""};
  }
  return question.store.read([&](const View& view) -> Result<Value> {
    SHIPLOG_TRY(asked.at, question.revision(view, "at"));
    if (reader.everything) return api::why(view, question.kinds, asked, sources);
    SHIPLOG_TRY(first_shown(question, view, asked.object, asked.at));
    // Without sources: what a cluster would have needed takes a while to compute, and tells of its labels and taints.
    SHIPLOG_TRY(const Value answer, api::why(view, question.kinds, asked, Sources{}));
    Value binding;
    if (const Value& key = answer["binding"]; !key.is_null()) {
      SHIPLOG_TRY(const auto row,
                  ObjectQuery{view}.get({key["type"].str(), key["namespace"].str(), key["name"].str()}, asked.at));
      if (row) {
        SHIPLOG_TRY(binding, parse_stored_json(row->json));
      }
    }
    return tenant_why(answer, binding, reader);
  });
}

/// What `at` means: for clients that read objects as of a time.
Result<Value> revision(const InsightRequest& question) {
  return question.store.read([&](const View& view) -> Result<Value> {
    SHIPLOG_TRY(const auto at, question.revision(view, "at"));
    const Revision revision = at.value_or(view.revision());
    SHIPLOG_TRY(const std::string time, time_of(view, revision));
    Value answer = Value::object({{"kind", "Revision"}, {"revision", revision.value}});
    if (!time.empty()) answer.set("time", time);
    return answer;
  });
}

Result<Value> decisions(const InsightRequest& question) {
  SHIPLOG_TRY(const ObjectKey key, question.object());
  SHIPLOG_TRY(const size_t limit, question.limit(50));
  return question.store.read([&](const View& view) -> Result<Value> {
    SHIPLOG_TRY(const auto rows, DecisionQuery{view}.of(key, limit));
    Value items = Value::array();
    for (const DecisionRow& row : rows) {
      SHIPLOG_TRY(auto item, to_value(row));
      items.push_back(std::move(item));
    }
    return Value::object({{"kind", "DecisionList"},
                          {"object", to_value(key)},
                          {"revision", view.revision().value},
                          {"items", std::move(items)}});
  });
}

/// What `audit` and `events` have in common.
Result<AuditFilter> filter_of(const InsightRequest& question) {
  AuditFilter filter;
  filter.user = question.text("user");
  filter.service = question.text("service");
  filter.verb = question.text("verb");
  filter.family = question.text("family");
  filter.event_kind = question.text("event");
  filter.trace = question.text("trace");
  SHIPLOG_TRY(const NamedType named, question.type());
  filter.type = named.type;
  // A kind without namespaces has none to filter by, though clients add the one of their context.
  if (const std::string ns = question.text("namespace"); named.namespaced && !ns.empty()) filter.ns = ns;
  filter.name = question.text("name");
  SHIPLOG_TRY(filter.since, question.time("since"));
  SHIPLOG_TRY(filter.until, question.time("until"));
  filter.only_refused = question.flag("refused");
  return filter;
}

Result<Value> audit(const InsightRequest& question) {
  SHIPLOG_TRY(auto filter, filter_of(question));
  SHIPLOG_TRY(filter.limit, question.limit(100));
  filter.newest_first = question.text("order") != "oldest";
  SHIPLOG_TRY(const auto after, question.number("after"));
  if (after) filter.after = Offset{*after};
  const std::string format = question.text("format");
  if (!format.empty() && format != "k8s") {
    return Error{ErrorCode::kBadRequest, "format: \"" + format + "\" is not known; there is k8s"};
  }
  return question.store.read([&](const View& view) -> Result<Value> {
    SHIPLOG_TRY(const auto rows, AuditQuery{view}.find(filter));
    Value items = Value::array();
    for (const AuditRow& row : rows) items.push_back(format.empty() ? to_value(row) : kubernetes_event(row));
    if (!format.empty()) {
      return Value::object({{"kind", "EventList"},
                            {"apiVersion", "audit.k8s.io/v1"},
                            {"metadata", Value::object({{"resourceVersion", std::to_string(view.revision().value)}})},
                            {"items", std::move(items)}});
    }
    return Value::object({{"kind", "AuditList"}, {"revision", view.revision().value}, {"items", std::move(items)}});
  });
}

Result<void> events(const InsightRequest& question, const std::shared_ptr<ResponseWriter>& writer) {
  SHIPLOG_TRY(auto filter, filter_of(question));
  SHIPLOG_TRY(const auto limit, question.number("limit"));
  filter.limit = limit ? static_cast<size_t>(*limit) : 0;
  SHIPLOG_TRY(const auto from, question.number("from"));
  const bool follow = question.flag("follow");
  // An invalid request is answered before the stream begins; this also determines the present revision.
  SHIPLOG_TRY(const Offset next, question.store.read([&](const View& view) -> Result<Offset> {
    AuditFilter probe = filter;
    probe.limit = 1;
    probe.newest_first = true;
    probe.after = Offset{0};
    SHIPLOG_TRY(AuditQuery{view}.find(probe));
    return view.next();
  }));
  if (from) {
    filter.after = Offset{*from - 1};
  } else if (follow) {
    filter.after = Offset{next.value - 1};
  }
  stream_entries(question.store, std::move(filter), follow, writer);
  return ok();
}

Result<Value> state(const InsightRequest& question, const Sources& sources) {
  return question.store.read([&](const View& view) -> Result<Value> {
    SHIPLOG_TRY(const auto checkpoint, store::read_checkpoint(view.connection()));
    if (!checkpoint) return Error{ErrorCode::kUnavailable, "nothing has been folded yet"};
    Value leases = Value::object();
    for (const auto& [service, lease] : checkpoint->meta.leases.all()) {
      leases.set(service, Value::object({{"holder", lease.holder}, {"epoch", lease.epoch}}));
    }
    Value roles = Value::array();
    for (const RoleLeadership& role : sources.roles ? sources.roles() : std::vector<RoleLeadership>{}) {
      roles.push_back(Value::object({{"role", role.role}, {"led", role.led}, {"since", rfc3339_millis(role.since)}}));
    }
    return Value::object({{"kind", "State"},
                          {"revision", checkpoint->meta.revision.value},
                          {"nextOffset", checkpoint->next.value},
                          {"time", rfc3339_millis(checkpoint->meta.time)},
                          {"foldVersion", checkpoint->meta.fold_version},
                          {"stateHash", to_string(hash_of(checkpoint->meta))},
                          {"leases", std::move(leases)},
                          {"roles", std::move(roles)}});
  });
}

void answer(ResponseWriter& writer, int status, const Value& body) {
  writer.send(
      {status, {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}}, to_json(body) + "\n"});
}

void answer(ResponseWriter& writer, const Error& error) {
  answer(writer, http_status(error.code), failure_status(error));
}

}  // namespace

bool serve_insight(Store& store, const Clock& clock, const std::shared_ptr<const Kinds>& kinds, const Sources& sources,
                   const HttpRequest& request, std::shared_ptr<ResponseWriter> writer, const InsightReader& reader) {
  if (!request.path.starts_with(kPrefix)) return false;
  const std::string_view what = std::string_view{request.path}.substr(kPrefix.size());
  const InsightRequest question{store, clock, *kinds, request, reader};
  if (request.method != "GET") {
    answer(*writer,
           Error{ErrorCode::kMethodNotAllowed, request.path + " is for reading: use GET, not " + request.method});
    return true;
  }
  // Who asks for effects has the permission for that path, and is shown those of objects that it may get.
  if (!reader.everything && what != "effects" && std::ranges::find(kForTenants, what) == kForTenants.end()) {
    answer(*writer, Error{ErrorCode::kForbidden, request.path + " needs a permission for this path"});
    return true;
  }
  if (what == "events") {
    if (const auto begun = events(question, writer); !begun) answer(*writer, begun.error());
    return true;
  }
  if (what == "export") {
    const auto page = store.read([&](const View& view) -> Result<std::string> {
      SHIPLOG_TRY(const auto at, question.revision(view, "at"));
      return export_page(view, at, question.text("continue"));
    });
    if (!page) {
      answer(*writer, page.error());
    } else {
      writer->send({200, {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}}, page.value()});
    }
    return true;
  }
  const auto result = [&]() -> Result<Value> {
    if (what == "history") return history(question);
    if (what == "failovers") return failovers(question);
    if (what == "blame") return blame(question);
    if (what == "diff") return difference(question);
    if (what == "chain") return chain(question);
    if (what == "effects") return effects(question);
    if (what == "why") return why(question, sources);
    if (what == "decisions") return decisions(question);
    if (what == "audit") return audit(question);
    if (what == "state") return state(question, sources);
    if (what == "status") return fleet_status(store, sources, clock.now());
    if (what == "revision") return revision(question);
    return Error{ErrorCode::kNotFound,
                 "there is nothing at " + request.path +
                     ": history, blame, diff, failovers, chain, effects, why, decisions, audit, events, "
                     "export, state, status and revision "
                     "are here"};
  }();
  if (result) {
    answer(*writer, 200, result.value());
  } else {
    answer(*writer, result.error());
  }
  return true;
}

std::optional<ObjectKey> object_in_question(const std::shared_ptr<const Kinds>& kinds, const HttpRequest& request) {
  if (request.method != "GET" || !request.path.starts_with(kPrefix)) return std::nullopt;
  const std::string_view what = std::string_view{request.path}.substr(kPrefix.size());
  if (std::ranges::find(kForTenants, what) == kForTenants.end()) return std::nullopt;
  auto named = type_named(*kinds, request);
  if (!named) return std::nullopt;
  const auto object = object_named(std::move(named).value(), request);
  if (!object) return std::nullopt;
  return object.value();
}

}  // namespace shiplog::api
