#include "services/api/insight/as_of.h"

#include <charconv>
#include <string>

#include "events/base/utf8.h"
#include "projections/history/history_query.h"

namespace shiplog::api {
namespace {

/// "kept are revision 3 (2024-05-01T12:00:00.000Z) to 41 (2024-05-01T13:00:00.000Z)"
Result<std::string> range(const View& view, Revision oldest) {
  SHIPLOG_TRY(const std::string from, time_of(view, oldest));
  SHIPLOG_TRY(const std::string to, time_of(view, view.revision()));
  const auto named = [](Revision revision, const std::string& time) {
    return std::to_string(revision.value) + (time.empty() ? "" : " (" + time + ")");
  };
  return "kept are revision " + named(oldest, from) + " to " + named(view.revision(), to);
}

std::string_view without_ago(std::string_view text) {
  constexpr std::string_view kAgo = "ago";
  if (!text.ends_with(kAgo)) return text;
  text.remove_suffix(kAgo.size());
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

Result<Revision> revision_of(const View& view, std::string_view field, std::string_view text, UtcMillis now) {
  SHIPLOG_TRY(const Revision oldest, HistoryQuery{view}.oldest());
  const auto wrong = [&](const std::string& why) -> Result<Revision> {
    SHIPLOG_TRY(const std::string kept, range(view, oldest));
    return Error{ErrorCode::kBadRequest, std::string{field} + ": " + quoted(text) + " " + why + "; " + kept};
  };
  uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (!text.empty() && end == text.data() + text.size()) {
    const Revision revision{number};
    if (failed != std::errc{} || revision > view.revision()) return wrong("is newer than the newest revision");
    if (revision < oldest) return wrong("is older than the oldest revision that is kept");
    return revision;
  }
  UtcMillis at;
  if (const auto before = parse_duration(without_ago(text)); before && before.value().value >= 0) {
    at = UtcMillis{now.value - before.value().value};
  } else if (const auto time = parse_rfc3339(text)) {
    at = time.value();
  } else {
    return wrong("is neither a revision, nor a time like 2024-05-01T12:00:00Z, nor a duration before now like 1h30m");
  }
  if (at > now) return wrong("is in the future");
  SHIPLOG_TRY(const Revision revision, HistoryQuery{view}.revision_at(at));
  if (revision < oldest || revision == Revision{}) return wrong("is before the oldest revision that is kept");
  return revision;
}

Result<std::string> time_of(const View& view, Revision revision) {
  SHIPLOG_TRY(const auto version, HistoryQuery{view}.version(revision));
  return version ? rfc3339_millis(version->entry.time) : std::string{};
}

}  // namespace shiplog::api
