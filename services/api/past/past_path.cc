#include "services/api/past/past_path.h"

#include <charconv>

#include "events/base/time.h"
#include "events/base/utf8.h"

namespace shiplog::api {
namespace {

constexpr double kFastest = 1'000'000;

bool is_revision(std::string_view text) {
  return text.size() > 1 && text[0] == 'r' && text.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

Result<double> speed_of(std::string_view text) {
  if (text == "max") return 0.0;
  double speed = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), speed, std::chars_format::fixed);
  if (failed == std::errc{} && end == text.data() + text.size() && speed > 0 && speed <= kFastest) return speed;
  return Error{ErrorCode::kBadRequest, "/at/: speed=" + printable(text) +
                                           ": must be a number greater than 0, such as 0.5 or 60, or max (as fast as "
                                           "the client reads)"};
}

}  // namespace

Result<std::optional<PastPath>> parse_past_path(std::string_view path) {
  constexpr std::string_view kAt = "/at/";
  if (!path.starts_with(kAt)) return std::optional<PastPath>{};
  path.remove_prefix(kAt.size());
  const size_t slash = path.find('/');
  const std::string_view segment = path.substr(0, slash);
  PastPath past;
  past.options = segment;
  past.path = slash == std::string_view::npos ? "/" : std::string{path.substr(slash)};
  const size_t comma = segment.find(',');
  past.moment = segment.substr(0, comma);
  if (comma != std::string_view::npos) {
    const std::string_view option = segment.substr(comma + 1);
    constexpr std::string_view kSpeed = "speed=";
    if (!option.starts_with(kSpeed)) {
      return Error{ErrorCode::kBadRequest, "/at/: " + quoted(option) + ": only speed=SPEED is known here"};
    }
    SHIPLOG_TRY(past.speed, speed_of(option.substr(kSpeed.size())));
  }
  if (!is_revision(past.moment) && !parse_rfc3339(past.moment)) {
    return Error{ErrorCode::kBadRequest, "/at/: " + quoted(past.moment) +
                                             " is neither a revision such as r4711 nor a time such as "
                                             "2024-05-01T12:00:00Z"};
  }
  return std::optional{std::move(past)};
}

}  // namespace shiplog::api
