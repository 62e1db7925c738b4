#include "services/programs/shiplogctl/rehearse.h"

#include <charconv>
#include <ostream>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/base/utf8.h"
#include "events/fold/fold.h"
#include "events/state/object.h"
#include "services/programs/shiplogctl/rehearsal_text.h"
#include "services/programs/shiplogctl/replay.h"
#include "services/programs/shiplogd/fleet_options.h"
#include "services/programs/snapshot_files.h"
#include "services/runtime/log.h"

namespace shiplog::ctl {
namespace {

Error wrong(const std::string& option, const std::string& words) {
  return {ErrorCode::kBadRequest, option + ": " + words};
}

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(by), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// "member1=key=value:NoExecute", or "member1=key:NoExecute".
Result<RehearsalOptions::AddedTaint> taint_from(const std::string& text) {
  const auto expected = [&] {
    return wrong("--taint",
                 shiplog::quoted(text) + " is not CLUSTER=KEY[=VALUE]:EFFECT, for example member1=fire=high:NoExecute");
  };
  const size_t cluster_end = text.find('=');
  const size_t effect_begin = text.rfind(':');
  if (cluster_end == std::string::npos || cluster_end == 0 || effect_begin == std::string::npos ||
      effect_begin < cluster_end) {
    return expected();
  }
  RehearsalOptions::AddedTaint added{text.substr(0, cluster_end), {}};
  const std::string inner = text.substr(cluster_end + 1, effect_begin - cluster_end - 1);
  const size_t key_end = std::min(inner.find('='), inner.size());
  added.taint.key = inner.substr(0, key_end);
  if (key_end < inner.size()) added.taint.value = inner.substr(key_end + 1);
  added.taint.effect = text.substr(effect_begin + 1);
  if (added.taint.key.empty()) return expected();
  if (added.taint.effect != "NoExecute" && added.taint.effect != "NoSchedule" &&
      added.taint.effect != "PreferNoSchedule") {
    return wrong("--taint",
                 "the effect of " + shiplog::quoted(text) + " is not NoExecute, NoSchedule or PreferNoSchedule");
  }
  return added;
}

Result<Millis> length_from(const std::string& option, const std::string& text, Millis most) {
  const auto parsed = parse_duration(text);
  if (!parsed || parsed.value().value < 0 || parsed.value() > most) {
    return wrong(
        option, shiplog::quoted(text) + " is not a duration such as 30s, 10m or 2h, of at most " + duration_text(most));
  }
  return parsed.value();
}

Result<std::optional<Revision>> revision_from(const std::string& text) {
  if (text.empty()) return std::nullopt;
  uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || end != text.data() + text.size()) {
    return wrong("--at", shiplog::quoted(text) + " is not a revision; a time is for a rehearsal on a server");
  }
  return std::optional{Revision{number}};
}

}  // namespace

Result<RehearsalOptions> rehearsal_options(const RehearseCommandOptions& options) {
  RehearsalOptions made;
  made.fail_clusters = options.fail_clusters;
  made.fail_regions = options.fail_regions;
  for (const std::string& text : options.taints) {
    SHIPLOG_TRY(auto added, taint_from(text));
    made.taints.push_back(std::move(added));
  }
  SHIPLOG_TRY(made.length, length_from("--for", options.length, Millis{7 * 24 * 3'600'000LL}));
  if (made.length.value == 0) return wrong("--for", "a rehearsal of no time shows nothing");
  SHIPLOG_TRY(made.ready_after, length_from("--ready-after", options.ready_after, Millis{24 * 3'600'000LL}));
  for (const std::string& text : options.settings) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return wrong("--set", shiplog::quoted(text) + " is not OPTION=VALUE, for example graceful-eviction-timeout=1m");
    }
    auto setting = parse_fleet_option(text.substr(0, equals), text.substr(equals + 1));
    if (!setting) return Error{ErrorCode::kBadRequest, "--set: " + setting.error().message};
    made.settings.push_back(std::move(setting).value());
  }
  for (const std::string_view gate : split(options.gates, ',')) {
    const size_t equals = gate.find('=');
    const std::string_view value = equals == std::string_view::npos ? "" : gate.substr(equals + 1);
    if (value != "true" && value != "false") {
      return wrong("--feature-gates", shiplog::quoted(gate) + " is not NAME=true or NAME=false");
    }
    made.gates.emplace_back(gate.substr(0, equals), value == "true");
  }
  if (options.toleration_seconds && *options.toleration_seconds < 0) {
    return wrong("--toleration-seconds", "0 or more is expected, not " + std::to_string(*options.toleration_seconds));
  }
  made.toleration_seconds = options.toleration_seconds;
  return made;
}

Result<State> state_of_server(ServerConnection& plane, const std::string& at) {
  StateMeta meta;
  std::vector<std::pair<ObjectKey, Object>> objects;
  std::string expected_hash;
  HttpRequest::Query query;
  if (!at.empty()) query.emplace_back("at", at);
  for (std::string next;;) {
    SHIPLOG_TRY(const Value page, plane.get("/shiplog/v1/export", query));
    if (page["kind"].as_string() != "StateExport") {
      return Error{ErrorCode::kCorrupt, "the server answered /shiplog/v1/export with something else"};
    }
    if (next.empty()) {
      meta.revision = Revision{static_cast<uint64_t>(page["revision"].as_int())};
      meta.fold_version = static_cast<uint32_t>(page["foldVersion"].as_int());
      if (auto time = parse_rfc3339(page["time"].as_string())) meta.time = time.value();
      if (meta.fold_version > kFoldVersion) {
        return Error{ErrorCode::kUnavailable, "the fleet uses fold version " + std::to_string(meta.fold_version) +
                                                  ", this program knows up to " + std::to_string(kFoldVersion) +
                                                  ": use the shiplogctl of the fleet's version"};
      }
      expected_hash = page["objectsHash"].str();
    }
    for (const Value& item : page["items"].items()) {
      ObjectKey key{item["type"].str(), item["namespace"].str(), item["name"].str()};
      SHIPLOG_TRY(Object object, object_from(key, to_json(item["object"])));
      objects.emplace_back(std::move(key), std::move(object));
    }
    next = page["continue"].str();
    if (next.empty()) break;
    // All pages are of the first one's revision.
    query = {{"at", std::to_string(meta.revision.value)}, {"continue", next}};
  }
  for (const auto& [key, object] : objects) meta.hash += object.hash;
  if (!expected_hash.empty() && expected_hash != to_string(meta.hash)) {
    return Error{ErrorCode::kCorrupt,
                 "the objects that the server sent do not hash to its state hash: try again, and "
                 "check the projection if it happens again"};
  }
  State state;
  State::restore(meta, std::move(objects), {}, state);
  return state;
}

Result<State> state_of_files(const Backing& backing, const RehearseCommandOptions& options, std::ostream& progress) {
  SHIPLOG_TRY(const auto to, revision_from(options.at));
  if (options.journal.empty()) {
    SHIPLOG_TRY(State state, state_of_snapshot(options.snapshot));
    if (to && *to != state.revision()) {
      return wrong("--at", "the snapshot is of revision " + std::to_string(state.revision().value) +
                               "; another one needs the journal, too (--journal)");
    }
    return state;
  }
  ReplayCommandOptions replaying;
  replaying.journal = options.journal;
  replaying.kafka = options.kafka;
  replaying.snapshot = options.snapshot;
  if (to) replaying.to = to->value;
  return state_of_journal(backing, replaying, progress);
}

Result<void> rehearse_and_print(State& state, const RehearseCommandOptions& options, const Output& to) {
  SHIPLOG_TRY(const RehearsalOptions rehearsed, rehearsal_options(options));
  log::configure(log::Format::kText, log::Level::kError);  // what the roles log is not about the fleet
  SHIPLOG_TRY(const RehearsalReport report, rehearse(state, rehearsed));
  const Value value = to_value(report);
  if (options.output == "json") {
    to.out << to_pretty_json(value) << std::endl;
  } else if (options.output == "svg") {
    to.out << rehearsal_svg(value) << std::flush;
  } else {
    to.out << rehearsal_text(value, static_cast<size_t>(options.limit), to.terminal) << std::flush;
  }
  return ok();
}

}  // namespace shiplog::ctl
