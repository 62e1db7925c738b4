#include <algorithm>
#include <charconv>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "events/base/yaml.h"
#include "services/debugger/console.h"
#include "services/debugger/entry_view.h"

namespace shiplog::debugger {
namespace {

constexpr size_t kMostCauses = 100;
/// Refused entries share a revision: the one with the id lies this near.
constexpr size_t kNearby = 256;

Error show_usage(const std::string& words) { return {ErrorCode::kBadRequest, words}; }

/// Takes "-o FORMAT" out of the words; empty: there is none.
Result<std::string> take_format(std::vector<CommandWord>& words) {
  const auto option = std::ranges::find(words, "-o", &CommandWord::text);
  if (option == words.end()) return std::string{};
  if (option + 1 == words.end()) return show_usage("-o needs yaml or json");
  std::string format = (option + 1)->text;
  if (format != "yaml" && format != "json") return show_usage("-o: " + quoted(format) + " is not yaml or json");
  words.erase(option, option + 2);
  return format;
}

bool take_flag(std::vector<CommandWord>& words, std::string_view name) {
  return std::erase_if(words, [&](const CommandWord& word) { return word.text == name; }) > 0;
}

std::string document(const Value& value, const std::string& format) {
  if (format == "json") return to_pretty_json(value) + "\n";
  std::string text = to_yaml(value);
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

}  // namespace

Result<std::string> Console::info(const CommandWords& /*words*/) {
  JournalTimeline& timeline = session_.timeline();
  return "journal      " + timeline.reader().describe() + "\ncursor       " +
         entry_line(timeline.position(), timeline.moment()) + "\nrevision     " +
         std::to_string(session_.state().revision().value) + "\ntime         " +
         rfc3339_millis(session_.state().time()) + "\nobjects      " + std::to_string(session_.state().object_count()) +
         "\nfold version " + std::to_string(session_.state().fold_version()) + "\nstate hash   " +
         to_string(session_.state().hash()) + "\nread so far  " + std::to_string(timeline.known()) +
         " entries; every entry of the journal is before offset " + std::to_string(timeline.reader().head().value) +
         "\n";
}

Result<std::string> Console::entry(const CommandWords& words) {
  SHIPLOG_TRY(current());
  CommandWords rest{words};
  SHIPLOG_TRY(const std::string format, take_format(rest));
  const JournalTimeline& timeline = session_.timeline();
  if (format.empty()) return entry_text(timeline.position(), timeline.moment());
  return document(entry_value(timeline.position(), timeline.moment()), format);
}

Result<std::string> Console::list(const CommandWords& words) {
  size_t count = 10;
  if (words.size() > 1) {
    const std::string& text = words[1].text;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (failed != std::errc{} || end != text.data() + text.size() || count == 0 || count > kMostListed) {
      return show_usage("column " + std::to_string(words[1].column) + ": expected a number up to " +
                        std::to_string(kMostListed) + ", found " + quoted(text));
    }
  }
  JournalTimeline& timeline = session_.timeline();
  const size_t here = timeline.position();
  const size_t begin = here > count ? here - count : 0;
  std::string text;
  for (size_t position = begin + 1; position <= here; ++position) {
    SHIPLOG_TRY(timeline.go(position));
    text += (position == here ? "-> " : "   ") + entry_line(position, timeline.moment()) + "\n";
  }
  return text.empty() ? report({}) : text;
}

Result<ObjectKey> Console::only_object(const State& state, const ObjectPattern& pattern) {
  auto found = find_objects(state, pattern, 2);
  if (found.empty()) {
    return Error{ErrorCode::kNotFound, "there is no object " + quoted(pattern.text()) + " at revision " +
                                           std::to_string(state.revision().value)};
  }
  if (found.size() > 1) {
    return Error{ErrorCode::kBadRequest, quoted(pattern.text()) + " is more than one object: " + to_string(found[0]) +
                                             " and " + to_string(found[1])};
  }
  return std::move(found.front());
}

Result<std::string> Console::get(const CommandWords& words) {
  CommandWords rest{words};
  SHIPLOG_TRY(const std::string format, take_format(rest));
  const State* state = &session_.state();
  if (take_flag(rest, "--inputs")) {
    SHIPLOG_TRY(state, decided_from());
  }
  size_t at = 1;
  SHIPLOG_TRY(const ObjectPattern pattern, parse_object(rest, at, true));
  std::optional<ValuePath> path;
  if (at < rest.size() && rest[at].text.starts_with('.')) {
    SHIPLOG_TRY(path, ValuePath::parse(rest[at++].text));
  }
  if (at < rest.size()) {
    return show_usage("column " + std::to_string(rest[at].column) + ": expected the end, found " +
                      quoted(rest[at].text));
  }
  const auto keys = find_objects(*state, pattern, kMostListed + 1);
  const bool one = pattern.name.find('*') == std::string::npos && keys.size() == 1;
  if (one && path) {
    std::string text;
    const Value object = shown(keys.front(), state->value_of(keys.front()));
    for (const Value* value : path->values(object)) {
      text += format == "yaml" ? document(*value, format) : to_json(*value) + "\n";
    }
    if (text.empty()) return Error{ErrorCode::kNotFound, to_string(keys.front()) + " has no " + path->text()};
    return text;
  }
  if (one) return document(shown(keys.front(), state->value_of(keys.front())), format);
  if (keys.empty()) {
    SHIPLOG_TRY(only_object(*state, pattern));
  }
  std::string text;
  for (const ObjectKey& key : keys) {
    if (&key - keys.data() == static_cast<std::ptrdiff_t>(kMostListed)) return text + "... and more\n";
    text += to_string(key) + " (revision " + std::to_string(state->revision_of(key).value) + ")";
    if (path) {
      const Value object = shown(key, state->value_of(key));
      for (const Value* value : path->values(object)) text += " " + to_json(*value);
    }
    text += "\n";
  }
  return text;
}

Result<std::string> Console::diff(const CommandWords& /*words*/) {
  SHIPLOG_TRY(current());
  return changes_text(session_.timeline().folded());
}

Result<std::string> Console::why(const CommandWords& /*words*/) {
  SHIPLOG_TRY(const Entry* entry, current());
  std::string text;
  for (const Event& event : entry->events) {
    const Explanation* explanation = explanation_of(event);
    if (explanation == nullptr) continue;
    text += std::string{name_of(event)} + " " + to_string(subject_of(event)) + "\n" + explanation_text(*explanation);
  }
  if (!text.empty()) return text;
  return Error{ErrorCode::kNotFound, "no event of this entry has an explanation: `causes` shows what led to it"};
}

Result<std::optional<size_t>> Console::cause_of(size_t position, const Entry& entry) {
  JournalTimeline& timeline = session_.timeline();
  if (entry.cause.entry_id.empty()) return std::optional<size_t>{};
  const auto reached = timeline.position_of(entry.cause.revision);
  if (!reached) return std::optional<size_t>{};
  // The entry that reached the revision, or one near it that left the revision as it was.
  const size_t first = std::max<size_t>(*reached, 1);
  for (size_t at = first; at < position && at < first + kNearby; ++at) {
    SHIPLOG_TRY(const auto record, timeline.reader().at(at - 1));
    if (record && record->entry->id == entry.cause.entry_id) return std::optional{at};
  }
  return std::optional<size_t>{};
}

Result<std::vector<size_t>> Console::causes() {
  SHIPLOG_TRY(current());
  JournalTimeline& timeline = session_.timeline();
  std::vector<size_t> chain{timeline.position()};
  std::shared_ptr<const Entry> entry = timeline.record().entry;
  while (chain.size() < kMostCauses) {
    SHIPLOG_TRY(const auto cause, cause_of(chain.back(), *entry));
    if (!cause) break;
    SHIPLOG_TRY(const auto record, timeline.reader().at(*cause - 1));
    if (!record) break;
    chain.push_back(*cause);
    entry = record->entry;
  }
  return chain;
}

Result<std::string> Console::show_causes(const CommandWords& /*words*/) {
  SHIPLOG_TRY(const auto chain, causes());
  JournalTimeline& timeline = session_.timeline();
  const size_t here = timeline.position();
  std::string text;
  std::shared_ptr<const Entry> last;
  for (auto position = chain.rbegin(); position != chain.rend(); ++position) {
    SHIPLOG_TRY(timeline.go(*position));
    if (text.empty()) last = timeline.record().entry;
    text += (text.empty() ? "   " : "-> ") + entry_line(*position, timeline.moment()) + "\n";
  }
  SHIPLOG_TRY(timeline.go(here));
  if (last != nullptr && !last->cause.entry_id.empty()) {
    text = "   (entry " + to_string(last->cause.entry_id) + " of revision " +
           std::to_string(last->cause.revision.value) + ", which is not among the entries that were read)\n" + text;
  }
  return text;
}

}  // namespace shiplog::debugger
