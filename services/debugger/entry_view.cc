#include "services/debugger/entry_view.h"

#include <algorithm>
#include <array>

#include "events/base/json.h"
#include "events/event.h"
#include "events/explain/json.h"
#include "events/explain/text.h"
#include "services/api/insight/diff.h"
#include "services/feeds/facts.h"
#include "services/feeds/redact.h"

namespace shiplog::debugger {
namespace {

std::string result_of(const Folded& folded) {
  if (folded.duplicate) return "duplicate";
  return folded.refusal ? "refused" : "accepted";
}

const char* operation_of(const Change& change) {
  if (change.created()) return "created";
  return change.removed() ? "removed" : "changed";
}

std::vector<api::FieldChange> fields_of(const Change& change) {
  return api::diff(shown(change.object, change.before), shown(change.object, change.after));
}

void set_if(Value& value, std::string_view key, const std::string& text) {
  if (!text.empty()) value.set(key, text);
}

Value actor_value(const Actor& actor) {
  Value value = Value::object({{"user", actor.user}});
  set_if(value, "service", actor.service);
  set_if(value, "sourceIP", actor.source_ip);
  set_if(value, "userAgent", actor.user_agent);
  for (const std::string& group : actor.groups) value.edit("groups").push_back(group);
  return value;
}

Value event_value(const Event& event) {
  Value value =
      Value::object({{"kind", std::string{name_of(event)}}, {"family", std::string{name_of(family_of(event))}}});
  if (const ObjectKey subject = subject_of(event); !subject.empty()) value.set("object", to_string(subject));
  set_if(value, "summary", summary_of(event));
  value.set("facts", feeds::redact(feeds::facts_of(event)).value);
  return value;
}

Value change_value(const Change& change) {
  Value value = Value::object(
      {{"object", to_string(change.object)}, {"revision", change.revision.value}, {"operation", operation_of(change)}});
  if (change.created() || change.removed()) return value;
  Value fields = Value::array();
  for (const auto& field : fields_of(change)) {
    Value one = Value::object({{"path", field.path}, {"change", name_of(field.kind)}});
    set_if(one, "before", field.before);
    set_if(one, "after", field.after);
    fields.push_back(std::move(one));
  }
  value.set("fields", std::move(fields));
  return value;
}

std::string number(int64_t value) { return value < 0 ? "" : std::to_string(value); }

/// The first rejection, or what speaks for the cluster.
std::string verdict_of(const ClusterExplanation& cluster, const Explanation& why) {
  for (const Verdict& verdict : why.judgement_of(cluster).verdicts) {
    if (!verdict.passed) return verdict.rule + ": " + text_of(verdict.reason, why);
  }
  return cluster.replicas < 0 ? "passes every filter, not selected" : "chosen";
}

std::string score_of(const ClusterExplanation& cluster, const Explanation& why) {
  const auto& scores = why.judgement_of(cluster).scores;
  if (scores.empty()) return "";
  int64_t sum = 0;
  for (const Score& score : scores) sum += score.points;
  return std::to_string(sum);
}

using Row = std::array<std::string, 5>;

std::string table(const std::vector<Row>& rows) {
  std::array<size_t, 5> widths{};
  for (const Row& row : rows) {
    for (size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line = "  ";
    for (size_t column = 0; column < row.size(); ++column) {
      line += row[column];
      if (column + 1 < row.size()) line.append(widths[column] + 3 - row[column].size(), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string in_short(const Event& event) {
  std::string text{name_of(event)};
  if (const ObjectKey subject = subject_of(event); !subject.empty()) text += " " + to_string(subject);
  if (const std::string summary = summary_of(event); !summary.empty()) text += ": " + summary;
  return text;
}

Value shown(const ObjectKey& key, const Value& object) { return feeds::redact(key.type, object).value; }

const Explanation* explanation_of(const Event& event) {
  const Explanation* found = nullptr;
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { one.why.summary; }) found = &one.why;
      },
      event);
  return found;
}

std::string entry_line(size_t position, const Moment& moment) {
  if (moment.entry == nullptr)
    return "before the first entry, revision " + std::to_string(moment.state.revision().value);
  const Entry& entry = *moment.entry;
  std::string text = "#" + std::to_string(position) + " offset " + std::to_string(moment.offset.value) + " revision " +
                     std::to_string(moment.state.revision().value) + " " + rfc3339_millis(entry.time) + " " +
                     entry.actor.user;
  if (!entry.events.empty()) text += " " + in_short(entry.events.front());
  if (entry.events.size() > 1) text += " (and " + std::to_string(entry.events.size() - 1) + " more)";
  if (moment.folded != nullptr && moment.folded->refusal) {
    text += moment.folded->duplicate ? " [duplicate]" : " [refused: " + moment.folded->refusal->reason + "]";
  }
  return text;
}

Value entry_value(size_t position, const Moment& moment) {
  if (moment.entry == nullptr) return Value::object({{"position", position}});
  const Entry& entry = *moment.entry;
  Value value = Value::object({{"position", position},
                               {"offset", moment.offset.value},
                               {"id", to_string(entry.id)},
                               {"time", rfc3339_millis(entry.time)},
                               {"revision", moment.state.revision().value},
                               {"foldVersion", entry.fold_version},
                               {"actor", actor_value(entry.actor)}});
  if (!entry.request.verb.empty() || !entry.request.path.empty()) {
    value.set("request", Value::object({{"verb", entry.request.verb}, {"path", entry.request.path}}));
  }
  if (!entry.cause.entry_id.empty() || entry.cause.revision != Revision{}) {
    Value cause = Value::object({{"revision", entry.cause.revision.value}});
    if (!entry.cause.entry_id.empty()) cause.set("entry", to_string(entry.cause.entry_id));
    value.set("cause", std::move(cause));
  }
  set_if(value, "trace", entry.cause.trace_id);
  if (entry.as_of != Revision{}) value.set("asOf", entry.as_of.value);
  if (!entry.fence.service.empty()) {
    value.set("fence", Value::object({{"service", entry.fence.service}, {"epoch", entry.fence.epoch}}));
  }
  for (const Expect& expect : entry.expects) {
    value.edit("expects").push_back(
        Value::object({{"object", to_string(expect.object)}, {"revision", expect.revision.value}}));
  }
  Value events = Value::array();
  for (const Event& event : entry.events) events.push_back(event_value(event));
  value.set("events", std::move(events));
  if (moment.folded == nullptr) return value;
  value.set("result", result_of(*moment.folded));
  if (const auto& refusal = moment.folded->refusal) {
    value.set("refusal", Value::object({{"code", name_of(refusal->code)}, {"reason", refusal->reason}}));
  }
  if (moment.folded->stop) value.set("stop", *moment.folded->stop);
  Value changes = Value::array();
  for (const Change& change : moment.folded->changes) changes.push_back(change_value(change));
  value.set("changes", std::move(changes));
  return value;
}

std::string entry_text(size_t position, const Moment& moment) {
  if (moment.entry == nullptr) return entry_line(position, moment) + "\n";
  const Entry& entry = *moment.entry;
  std::string text = "entry #" + std::to_string(position) + " at offset " + std::to_string(moment.offset.value) +
                     ", revision " + std::to_string(moment.state.revision().value) + ", " + rfc3339_millis(entry.time) +
                     "\n";
  text += "  who      " + entry.actor.user;
  if (!entry.actor.service.empty()) text += " (service " + entry.actor.service + ")";
  if (!entry.actor.source_ip.empty()) text += " from " + entry.actor.source_ip;
  text += "\n";
  if (!entry.request.verb.empty()) text += "  request  " + entry.request.verb + " " + entry.request.path + "\n";
  if (!entry.cause.entry_id.empty()) {
    text += "  cause    entry " + to_string(entry.cause.entry_id) + " of revision " +
            std::to_string(entry.cause.revision.value) + "\n";
  }
  if (entry.as_of != Revision{}) text += "  as of    revision " + std::to_string(entry.as_of.value) + "\n";
  for (const Event& event : entry.events) text += "  event    " + in_short(event) + "\n";
  if (moment.folded == nullptr) return text;
  text += "  result   " + result_of(*moment.folded);
  if (moment.folded->refusal && !moment.folded->duplicate) text += ": " + moment.folded->refusal->reason;
  text += "\n";
  if (moment.folded->stop) text += "  stop     " + *moment.folded->stop + "\n";
  for (const Change& change : moment.folded->changes) {
    text += "  change   " + to_string(change.object) + " " + operation_of(change) + " (revision " +
            std::to_string(change.revision.value) + ")\n";
  }
  return text;
}

std::string changes_text(const Folded& folded) {
  if (folded.refusal) return "the entry was refused and changed nothing: " + folded.refusal->reason + "\n";
  if (folded.changes.empty()) return "the entry changed no object\n";
  std::string text;
  for (const Change& change : folded.changes) {
    text += to_string(change.object) + " " + operation_of(change) + " (revision " +
            std::to_string(change.revision.value) + ")\n";
    if (change.created() || change.removed()) continue;
    for (const auto& field : fields_of(change)) {
      text += "  " + field.path + ": ";
      if (!field.before.empty()) text += field.before;
      if (!field.before.empty() || !field.after.empty()) text += field.before.empty() ? "(none) -> " : " -> ";
      text += (field.after.empty() ? "(none)" : field.after) + "\n";
    }
  }
  return text;
}

std::string explanation_text(const Explanation& why) {
  std::string text = text_of(why.summary, why);
  if (!text.empty()) text += "\n";
  for (const Fact& step : why.steps) text += "  " + text_of(step, why) + "\n";
  if (!why.clusters.empty()) {
    std::vector<Row> rows{{"CLUSTER", "REPLICAS", "SCORE", "ROOM", "VERDICT"}};
    for (const ClusterExplanation& cluster : why.clusters) {
      rows.push_back({cluster.cluster, number(cluster.replicas), score_of(cluster, why),
                      number(cluster.available_replicas), verdict_of(cluster, why)});
    }
    text += table(rows);
  }
  if (!why.inputs_digest.empty()) text += "  digest of the inputs: " + why.inputs_digest + "\n";
  return text;
}

}  // namespace shiplog::debugger
