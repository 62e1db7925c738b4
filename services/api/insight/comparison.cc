#include "services/api/insight/comparison.h"

#include <map>
#include <vector>

#include "projections/history/history_query.h"
#include "services/api/insight/history.h"
#include "services/api/insight/render.h"

namespace shiplog::api {
namespace {

constexpr size_t kChangesRead = 1000;
/// Of one object; the newest ones are listed.
constexpr size_t kMostListedVersions = 20;

/// One object between the two revisions.
struct Span {
  std::string before;  ///< empty: there was none
  std::string after;   ///< empty: there is none
  std::vector<Revision> versions;
};

Result<std::map<ObjectKey, Span>> spans_of(const View& view, const ComparisonQuestion& question) {
  std::map<ObjectKey, Span> spans;
  ChangeList which{.type = question.type,
                   .ns = question.ns,
                   .after = question.from,
                   .upto = question.to,
                   .limit = kChangesRead,
                   .with_previous = true};
  size_t read = 0;
  while (true) {
    SHIPLOG_TRY(auto rows, HistoryQuery{view}.changes(which));
    for (ChangeRow& row : rows) {
      which.after = row.revision;
      if (!question.name.empty() && row.object.name != question.name) continue;
      const auto [span, is_new] = spans.try_emplace(row.object);
      if (is_new) span->second.before = std::move(row.previous);
      span->second.after = row.operation == VersionOperation::kRemoved ? "" : std::move(row.json);
      span->second.versions.push_back(row.revision);
    }
    if (rows.size() < which.limit) return spans;
    if ((read += rows.size()) >= question.most_versions) {
      return Error{ErrorCode::kBadRequest, "there are more than " + std::to_string(question.most_versions) +
                                               " versions between revision " + std::to_string(question.from.value) +
                                               " and revision " + std::to_string(question.to.value) +
                                               ": name a kind, or two moments that are closer to each other"};
    }
  }
}

/// The origins of the newest versions; null: none is of the requested user.
Result<Value> origins_of(const View& view, const Span& span, const std::string& user) {
  Value origins = Value::array();
  bool by_user = user.empty();
  for (auto revision = span.versions.rbegin(); revision != span.versions.rend(); ++revision) {
    if (by_user && origins.size() == kMostListedVersions) break;
    SHIPLOG_TRY(const auto version, HistoryQuery{view}.version(*revision));
    if (!version) continue;
    by_user = by_user || version->entry.actor.user == user || version->entry.actor.service == user;
    if (origins.size() == kMostListedVersions) continue;
    SHIPLOG_TRY(Value origin, origin_of(view, *version));
    origins.push_back(std::move(origin));
  }
  return by_user ? origins : Value{};
}

}  // namespace

Result<Value> compare(const View& view, const ComparisonQuestion& question) {
  SHIPLOG_TRY(const auto spans, spans_of(view, question));
  Value items = Value::array();
  bool more = false;
  for (const auto& [object, span] : spans) {
    if (span.before.empty() && span.after.empty()) continue;
    Value changes = Value::array();
    if (!span.before.empty() && !span.after.empty()) {
      SHIPLOG_TRY(changes, changes_between(object, span.before, span.after));
      if (changes.size() == 0) continue;
    }
    SHIPLOG_TRY(Value origins, origins_of(view, span, question.user));
    if (origins.is_null()) continue;
    if (items.size() == question.limit) {
      more = true;
      break;
    }
    items.push_back(Value::object({{"object", to_value(object)},
                                   {"operation", span.before.empty()  ? "created"
                                                 : span.after.empty() ? "removed"
                                                                      : "updated"},
                                   {"changes", std::move(changes)},
                                   {"count", static_cast<int64_t>(span.versions.size())},
                                   {"versions", std::move(origins)}}));
  }
  return Value::object({{"items", std::move(items)}, {"more", more}});
}

}  // namespace shiplog::api
