#include "events/state/legal_hold.h"

#include <algorithm>

namespace shiplog {
namespace {

std::vector<std::string> strings_of(const Value& list) {
  std::vector<std::string> strings;
  for (const Value& item : list.items()) strings.push_back(item.str());
  return strings;
}

bool empty_or_has(const std::vector<std::string>& list, std::string_view word) {
  return list.empty() || std::ranges::find(list, word) != list.end();
}

Result<std::optional<UtcMillis>> time_of(const Value& time) {
  if (time.is_null()) return std::optional<UtcMillis>{};
  SHIPLOG_TRY(const UtcMillis at, parse_rfc3339(time.as_string()));
  return std::optional{at};
}

}  // namespace

bool LegalHold::Subjects::match(const ObjectKey& object) const {
  return (type == "*" || type == object.type) && empty_or_has(namespaces, object.ns) &&
         empty_or_has(names, object.name);
}

bool LegalHold::covers(UtcMillis begin, UtcMillis end) const { return (!from || end >= *from) && (!to || begin < *to); }

bool LegalHold::about(const ObjectKey& object) const {
  return subjects.empty() || std::ranges::any_of(subjects, [&](const Subjects& each) { return each.match(object); });
}

bool LegalHold::by(const std::string& user) const { return empty_or_has(users, user); }

Result<LegalHold> legal_hold_from(const Value& object) {
  const Value& spec = object["spec"];
  LegalHold hold;
  hold.name = object["metadata"]["name"].str();
  std::string field;
  if (const std::string problem = legal_hold_problem(spec, field); !problem.empty()) {
    return Error{ErrorCode::kCorrupt, "LegalHold " + hold.name + " cannot be read: " + field + ": " + problem};
  }
  for (const Value& from : spec["subjects"].items()) {
    const std::string group = from["group"].str();
    const std::string resource = from["resource"].str();
    hold.subjects.push_back({resource == "*" || group.empty() ? resource : resource + "." + group,
                             strings_of(from["namespaces"]), strings_of(from["names"])});
  }
  hold.users = strings_of(spec["users"]);
  hold.families = strings_of(spec["families"]);
  SHIPLOG_TRY(hold.from, time_of(spec["from"]));
  SHIPLOG_TRY(hold.to, time_of(spec["to"]));
  return hold;
}

std::string legal_hold_problem(const Value& spec, std::string& field) {
  const bool conditions = spec["subjects"].size() > 0 || spec["users"].size() > 0 || spec["families"].size() > 0;
  field = "spec.everything";
  if (!conditions && !spec["everything"].as_bool()) {
    return "must be true if there are neither subjects nor users nor families";
  }
  if (conditions && spec["everything"].as_bool()) return "must not be true beside subjects, users or families";
  std::optional<UtcMillis> times[2];
  const char* const names[2] = {"from", "to"};
  for (size_t i = 0; i < 2; ++i) {
    field = std::string{"spec."} + names[i];
    if (spec[names[i]].is_null()) continue;
    const auto time = parse_rfc3339(spec[names[i]].as_string());
    if (!time) return "must be a time like 2026-05-01T12:00:00Z";
    times[i] = time.value();
  }
  if (times[0] && times[1] && *times[0] >= *times[1]) return "must be after spec.from";
  field = "spec.subjects";
  for (const Value& subject : spec["subjects"].items()) {
    if (subject["resource"].as_string() == "*" && !subject["group"].as_string().empty()) {
      return "the resource * is every resource of every group: leave the group out";
    }
  }
  return "";
}

}  // namespace shiplog
