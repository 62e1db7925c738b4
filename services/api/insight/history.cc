#include "services/api/insight/history.h"

#include <algorithm>
#include <map>

#include "events/base/json.h"
#include "events/state/object.h"
#include "projections/decisions/decision_query.h"
#include "services/api/insight/chain.h"
#include "services/api/insight/diff.h"
#include "services/api/insight/render.h"

namespace shiplog::api {
namespace {

constexpr size_t kMostChanges = 200;

// The steps that led to a version in short, oldest first: what `why` needs beside the version's own entry.
Result<Value> causes_of(const View& view, const VersionRow& version) {
  SHIPLOG_TRY(const auto chain, chain_of(view, version.object, version.revision, true));
  Value steps = Value::array();
  for (const AuditRow& entry : chain) {
    if (entry.offset == version.entry.offset) continue;
    Value step = Value::object({{"offset", entry.offset.value}, {"revision", entry.revision.value}});
    step.set("user", entry.actor.user);
    if (!entry.actor.service.empty()) step.set("service", entry.actor.service);
    if (!entry.events.empty()) {
      step.set("event", entry.events.front().kind);
      step.set("object", to_value(entry.events.front().subject));
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

Value who_of(const Actor& actor) {
  Value requester = Value::object({{"user", actor.user}});
  if (!actor.service.empty()) requester.set("service", actor.service);
  if (!actor.source_ip.empty()) requester.set("sourceIP", actor.source_ip);
  if (!actor.user_agent.empty()) requester.set("userAgent", actor.user_agent);
  return requester;
}

}  // namespace

bool is_secret_path(const ObjectKey& key, const std::string& path) {
  return key.type == type::kSecret && !path.starts_with("metadata") && path != "type" && path != "immutable";
}

Result<Value> origin_of(const View& view, const VersionRow& version) {
  const Value entry = to_value(version.entry);
  Value why = Value::object({{"events", entry["events"]}});
  if (version.event_index >= 0) {
    const auto& event = version.entry.events[static_cast<size_t>(version.event_index)];
    why.set("event", event.kind);
    why.set("summary", event.summary);
  } else if (!version.entry.events.empty()) {
    const auto& event = version.entry.events.front();
    why.set("event", event.kind);
    why.set("summary", event.summary);
    why.set("object", to_value(event.subject));
  }
  SHIPLOG_TRY(auto causes, causes_of(view, version));
  why.set("causes", std::move(causes));
  Value item = Value::object({{"revision", version.revision.value},
                              {"time", entry["time"]},
                              {"offset", entry["offset"]},
                              {"operation", name_of(version.operation)},
                              {"who", who_of(version.entry.actor)},
                              {"why", std::move(why)}});
  if (!version.entry.request.verb.empty()) item.set("verb", version.entry.request.verb);
  if (!version.entry.cause.trace_id.empty()) item.set("trace", version.entry.cause.trace_id);
  return item;
}

Result<Value> changes_between(const ObjectKey& key, const std::string& before, const std::string& after) {
  SHIPLOG_TRY(const Value from, parse_stored_json(before));
  SHIPLOG_TRY(const Value to, parse_stored_json(after));
  Value list = Value::array();
  for (FieldChange& change : diff(from, to)) {
    if (list.size() == kMostChanges) {
      list.push_back(Value::object({{"path", "..."}, {"change", "more changes than are listed"}}));
      break;
    }
    if (is_secret_path(key, change.path)) {
      if (!change.before.empty()) change.before = kHidden;
      if (!change.after.empty()) change.after = kHidden;
    }
    list.push_back(to_value(change));
  }
  return list;
}

Result<Value> history_of(const View& view, const ObjectKey& key, size_t limit, bool newest_first,
                         std::optional<Revision> at) {
  // One more than requested: the oldest one is compared with the version before it.
  SHIPLOG_TRY(auto versions, HistoryQuery{view}.versions(key, true, limit == 0 ? 0 : limit + 1, at));
  // An entry may hold several decisions about one object; the last one is the one that shows.
  std::map<Offset, Value> explanations;
  SHIPLOG_TRY(const auto decisions, DecisionQuery{view}.of(key, limit == 0 || at ? 0 : 4 * limit));
  for (const DecisionRow& decision : decisions) {
    SHIPLOG_TRY(auto explanation, parse_json(decision.explanation));
    explanations.emplace(decision.offset, std::move(explanation));
  }

  const size_t count = limit == 0 ? versions.size() : std::min(limit, versions.size());
  Value::Array items;
  for (size_t i = 0; i < count; ++i) {
    const VersionRow& version = versions[i];
    SHIPLOG_TRY(Value item, origin_of(view, version));
    if (const auto found = explanations.find(version.entry.offset); found != explanations.end()) {
      item.edit("why").set("explanation", found->second);
    }
    Value changes = Value::array();
    if (version.operation == VersionOperation::kUpdated) {
      if (i + 1 < versions.size()) {
        SHIPLOG_TRY(changes, changes_between(key, versions[i + 1].json, version.json));
      } else {
        item.set("previousDeleted", true);  // by retention: what this version changed is unknown
      }
    }
    item.set("changes", std::move(changes));
    items.push_back(std::move(item));
  }
  if (!newest_first) std::ranges::reverse(items);
  return Value::array(std::move(items));
}

}  // namespace shiplog::api
