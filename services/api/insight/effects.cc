#include "services/api/insight/effects.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "events/state/work.h"
#include "projections/history/history_query.h"
#include "services/api/insight/attribution.h"
#include "services/api/insight/render.h"
#include "services/api/insight/tenant_view.h"

namespace shiplog::api {
namespace {

/// A member may report on an object again and again: so many reports are listed below one entry.
constexpr size_t kMostReports = 20;
/// Entries are searched for an id in such portions, so that the time is looked at in between.
constexpr int64_t kSearchedAtOnce = 20'000;

/// An entry on its place in the tree, with the events that belong there.
struct Effect {
  AuditRow entry;
  size_t parent = 0;
  size_t depth = 0;
  bool part = false;  ///< some events of the entry belong elsewhere
  bool more = false;
};

class EffectsWalk {
 public:
  EffectsWalk(const View& view, const EffectsQuestion& question) : view_{view}, question_{question} {
    effects_.push_back({question.root, 0, 0, false, false});
    seen_.insert({question.root.offset, {}});
  }

  Result<void> run() {
    for (size_t at = 0; at < effects_.size(); ++at) {
      if (question_.expired && question_.expired()) {
        truncated_ = "time";
        return ok();
      }
      const AuditRow& entry = effects_[at].entry;
      if (entry.refusal || entry.duplicate || entry.denied()) continue;  // it changed nothing
      SHIPLOG_TRY(add_caused(at));
      SHIPLOG_TRY(add_unnamed(at));
      if (effects_.size() >= question_.limit && truncated_ == "limit") return ok();
    }
    return ok();
  }

  Value answer() {
    Value items = Value::array();
    Value kinds = Value::object();
    int64_t unreadable = 0;
    std::vector<size_t> shown_as(effects_.size());  // where an effect is left out: as what it followed from
    for (size_t at = 0; at < effects_.size(); ++at) {
      const Effect& effect = effects_[at];
      std::vector<AuditEvent> events;
      for (const AuditEvent& event : effect.entry.events) {
        if (readable(effect.entry, event)) {
          events.push_back(event);
        } else if (at > 0) {
          ++unreadable;
        }
      }
      if (at > 0 && events.empty()) {
        shown_as[at] = shown_as[effect.parent];
        continue;
      }
      shown_as[at] = items.size();
      Value item = item_of(effect, events);
      item.set("node", static_cast<int64_t>(items.size()));
      if (at > 0) {
        item.set("parent", static_cast<int64_t>(shown_as[effect.parent]));
        for (const AuditEvent& event : events) kinds.set(event.kind, kinds[event.kind].as_int() + 1);
      }
      items.push_back(std::move(item));
    }
    Value answer = Value::object({{"items", std::move(items)}, {"events", std::move(kinds)}});
    answer.set("unreadable", unreadable);
    if (!truncated_.empty()) answer.set("truncated", truncated_);
    return answer;
  }

  bool root_is_readable() {
    const AuditRow& root = effects_.front().entry;
    return std::ranges::any_of(root.events, [&](const AuditEvent& event) { return readable(root, event); });
  }

 private:
  /// Not of a namespace of the same name that was deleted before: its objects belonged to other users.
  bool readable(const AuditRow& entry, const AuditEvent& event) {
    if (!question_.may_read) return true;
    if (event.subject.empty() || !question_.may_read(event.subject)) return false;
    const bool is_namespace = event.subject.type == type::kNamespace;
    const auto [found, is_new] = oldest_.try_emplace(is_namespace ? event.subject.name.str() : event.subject.ns.str());
    if (is_new) {
      const auto oldest = oldest_shown(view_, event.subject);
      if (oldest) found->second = oldest.value();
    }
    return found->second && entry.revision >= *found->second;
  }

  Value item_of(const Effect& effect, const std::vector<AuditEvent>& events) const {
    const AuditRow& entry = effect.entry;
    AuditRow shown = entry;
    shown.events = events;
    const Value whole = to_value(shown);
    Value item = Value::object();
    for (const char* field :
         {"offset", "id", "time", "revision", "user", "service", "verb", "result", "trace", "events"}) {
      if (whole.contains(field)) item.set(field, whole[field]);
    }
    // A reason may name what another event of the entry is about.
    if (events.size() == entry.events.size() && whole.contains("refusal")) item.set("refusal", whole["refusal"]);
    item.set("afterMillis", entry.time.value - effects_.front().entry.time.value);
    if (effect.more) item.set("more", true);
    return item;
  }

  /// What names the entry as its cause.
  Result<void> add_caused(size_t at) {
    const AuditRow entry = effects_[at].entry;
    SHIPLOG_TRY(auto caused, AuditQuery{view_}.caused_by(entry, question_.limit + 1));
    std::optional<std::set<ObjectKey>> ours;
    for (AuditRow& effect : caused) {
      if (!names_cause(effect)) continue;
      if (effects_[at].part) {
        if (!ours) {
          SHIPLOG_TRY(ours, objects_of(entry));
        }
        if (!is_about(effect, *ours)) continue;
      }
      if (!add(at, std::move(effect), {})) return ok();
    }
    return ok();
  }

  /// What names no cause, and follows from the entry because it is about an object that the entry wrote: the run of
  /// equal events behind it. The same relation as that of chain_of(), in the other direction.
  Result<void> add_unnamed(size_t at) {
    const AuditRow entry = effects_[at].entry;
    std::set<ObjectKey> subjects;
    for (const AuditEvent& event : entry.events) {
      if (!event.subject.empty()) subjects.insert(event.subject);
    }
    for (const ObjectKey& subject : subjects) {
      SHIPLOG_TRY(auto after, HistoryQuery{view_}.entries_after(subject, entry.revision, kMostReports + 1));
      if (after.empty()) continue;
      const std::string kind = kind_about(after.front(), subject);
      if (kind.empty() || kind == kind_about(entry, subject)) continue;
      size_t reports = 0;
      for (AuditRow& next : after) {
        if (kind_about(next, subject) != kind) break;
        if (is_request(next) || is_probe(next) || names_cause(next)) continue;
        if (++reports > kMostReports) {
          effects_[at].more = true;
          break;
        }
        if (!add(at, std::move(next), subject)) return ok();
      }
    }
    return ok();
  }

  /// `about`: of a report, the object whose part of it belongs here. False: there is no more room.
  bool add(size_t parent, AuditRow entry, const ObjectKey& about) {
    if (entry.duplicate || entry.offset <= effects_.front().entry.offset) return true;
    if (question_.within && entry.time - effects_.front().entry.time > *question_.within) {
      effects_[parent].more = true;
      return true;
    }
    const bool part = !about.empty() && is_report(entry) && entry.events.size() > 1;
    if (!seen_.insert({entry.offset, part ? about : ObjectKey{}}).second) return true;
    if (effects_.size() >= question_.limit) return cut(parent, "limit");
    const size_t depth = effects_[parent].depth + 1;
    if (depth > question_.depth) return cut(parent, "depth");
    if (part) std::erase_if(entry.events, [&](const AuditEvent& event) { return event.subject != about; });
    effects_.push_back({std::move(entry), parent, depth, part, false});
    return true;
  }

  bool cut(size_t parent, const char* why) {
    effects_[parent].more = true;
    truncated_ = why;
    return false;
  }

  /// The objects of an entry's part, with the bindings of its Works.
  Result<std::set<ObjectKey>> objects_of(const AuditRow& entry) const {
    std::set<ObjectKey> objects;
    for (const AuditEvent& event : entry.events) {
      objects.insert(event.subject);
      if (event.subject.type != type::kWork) continue;
      SHIPLOG_TRY(const ObjectKey binding, binding_of_work(view_, event.subject, entry.revision));
      if (!binding.empty()) objects.insert(binding);
    }
    return objects;
  }

  /// A decision about a binding or a Work follows from that part of a report which is about it.
  static bool is_about(const AuditRow& entry, const std::set<ObjectKey>& objects) {
    bool elsewhere = false;
    for (const AuditEvent& event : entry.events) {
      if (objects.contains(event.subject)) return true;
      elsewhere = elsewhere || is_binding(event.subject.type) || event.subject.type == type::kWork;
    }
    return !elsewhere;
  }

  const View& view_;
  const EffectsQuestion& question_;
  std::deque<Effect> effects_;
  std::set<std::pair<Offset, ObjectKey>> seen_;
  std::string truncated_;
  std::map<std::string, std::optional<Revision>> oldest_;  // that is shown, by namespace; nullopt: it cannot be read
};

}  // namespace

Result<Value> effects_of(const View& view, const EffectsQuestion& question) {
  EffectsWalk walk{view, question};
  if (question.may_read && !walk.root_is_readable()) {
    return Error{ErrorCode::kForbidden, "you may not read any object that revision " +
                                            std::to_string(question.root.revision.value) + " is about"};
  }
  SHIPLOG_TRY(walk.run());
  return walk.answer();
}

Result<AuditRow> entry_with_id(const View& view, const EntryId& id, const std::function<bool()>& expired) {
  Offset before = view.next();
  while (before.value > 0) {
    const Offset from{std::max<int64_t>(0, before.value - kSearchedAtOnce)};
    SHIPLOG_TRY(auto found, AuditQuery{view}.with_id(id, from, before));
    if (found) return *std::move(found);
    before = from;
    if (before.value > 0 && expired && expired()) {
      return Error{ErrorCode::kNotFound, "entry " + to_string(id) + " is not among those from offset " +
                                             std::to_string(before.value) +
                                             " on, and there was no time to search more: name its revision"};
    }
  }
  return Error{ErrorCode::kNotFound, "there is no entry " + to_string(id)};
}

std::optional<EntryId> parse_entry_id(std::string_view text) {
  EntryId id;
  if (text.size() != 2 * id.bytes.size()) return std::nullopt;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool digit = c >= '0' && c <= '9';
    if (!digit && (c < 'a' || c > 'f')) return std::nullopt;
    const int value = digit ? c - '0' : c - 'a' + 10;
    auto& byte = id.bytes[at / 2];
    byte = static_cast<uint8_t>((byte << 4U) | static_cast<unsigned>(value));
  }
  return id;
}

}  // namespace shiplog::api
