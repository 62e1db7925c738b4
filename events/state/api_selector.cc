#include "events/state/api_selector.h"

#include <algorithm>

#include "events/base/api_version.h"

namespace shiplog {
namespace {

/// `word` in its parts; an empty kind list means all kinds, no version all versions.
struct Api {
  std::string_view group;
  std::string_view version;
  std::string_view kinds;
};

Api api_of(std::string_view word) {
  const size_t first = word.find('/');
  if (first == std::string_view::npos) return {word, "", ""};
  const std::string_view head = word.substr(0, first);
  const std::string_view rest = word.substr(first + 1);
  const size_t second = rest.find('/');
  if (second != std::string_view::npos) return {head, rest.substr(0, second), rest.substr(second + 1)};
  if (word.starts_with("v1")) return {"", "v1", rest};
  return {head, rest, ""};
}

/// Some kind of "Pod,Secret" is one that `each` looks for.
template <class Each>
bool any_kind(std::string_view kinds, Each each) {
  for (size_t begin = 0; begin <= kinds.size();) {
    const size_t comma = std::min(kinds.find(',', begin), kinds.size());
    if (each(kinds.substr(begin, comma - begin))) return true;
    begin = comma + 1;
  }
  return false;
}

}  // namespace

bool selects_api(const std::vector<std::string>& words, std::string_view api_version, std::string_view kind) {
  if (words.empty()) return false;
  const auto [group, version] = split_api_version(api_version);
  return std::ranges::any_of(words, [&](const std::string& word) {
    const Api api = api_of(word);
    if (api.group != group) return false;
    if (api.version.empty()) return true;
    if (api.version != version) return false;
    return api.kinds.empty() || any_kind(api.kinds, [&](std::string_view candidate) { return candidate == kind; });
  });
}

Result<void> check_api_selector(const std::string& word) {
  const auto slashes = std::ranges::count(word, '/');
  const Api api = api_of(word);
  const auto one_word = [](std::string_view part) { return part.find(',') == std::string_view::npos; };
  const bool whole = !word.empty() && word.back() != '/' && slashes <= 2 && (slashes == 0 || !api.version.empty());
  const bool kinds =
      api.kinds.empty() || !any_kind(api.kinds, [](std::string_view candidate) { return candidate.empty(); });
  if (whole && kinds && one_word(api.group) && one_word(api.version)) return ok();
  return Error{ErrorCode::kInvalid,
               "\"" + word + "\" is none of GROUP, GROUP/VERSION, GROUP/VERSION/KIND,KIND and v1/KIND,KIND"};
}

}  // namespace shiplog
