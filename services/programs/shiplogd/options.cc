#include "services/programs/shiplogd/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <sstream>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "events/state/feature_gates.h"
#include "services/feeds/feed_reader.h"

namespace shiplog {
namespace {

constexpr std::string_view kKafkaOption = "kafka-option";
constexpr std::string_view kFeatureGates = "feature-gates";
constexpr std::string_view kSkippedApis = "skipped-propagating-apis";

std::string text_of(const Value& value) { return value.is_string() ? value.str() : to_json(value); }

}  // namespace

Result<HostPort> parse_host_port(const std::string& text) {
  const size_t colon = text.rfind(':');
  const auto invalid = [&] {
    return Error{ErrorCode::kInvalid,
                 "\"" + text + "\" is no HOST:PORT (for example 127.0.0.1:7443; port 0 takes a free one)"};
  };
  if (colon == std::string::npos) return invalid();
  HostPort parsed;
  parsed.host = text.substr(0, colon);
  if (parsed.host.size() > 1 && parsed.host.front() == '[' && parsed.host.back() == ']') {
    parsed.host = parsed.host.substr(1, parsed.host.size() - 2);
  }
  if (parsed.host.empty()) parsed.host = "0.0.0.0";
  const char* begin = text.data() + colon + 1;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(begin, end, parsed.port);
  if (result.ec != std::errc{} || result.ptr != end) return invalid();
  return parsed;
}

namespace {

/// Upstream's gates that cannot be set here, and why: a value that means nothing else than what is done anyway is
/// taken.
struct FixedGate {
  std::string_view name;
  bool only;  ///< the value that is taken
  std::string_view why;
};
constexpr std::array<FixedGate, 4> kFixedGates = {
    {{"CustomizedClusterResourceModeling", true, "resource models are always used where a Cluster has them"},
     {"GracefulEviction", true, "evictions are always graceful unless their purge mode says otherwise"},
     {"PriorityBasedScheduling", true, "bindings are always scheduled by priority"},
     {"PropagateDeps", true, "dependencies follow wherever a policy has propagateDeps"}}};

/// Those that concern how upstream's processes work inside.
constexpr std::array<std::string_view, 5> kMeaninglessGates = {"AllAlpha", "AllBeta", "ContextualLogging",
                                                               "LoggingAlphaOptions", "LoggingBetaOptions"};
/// On, it is what is done; off, no decision would be another (decision 0067).
constexpr std::string_view kPriorityQueueGate = "ControllerPriorityQueue";

Error wrong_gate(const std::string& words) { return {ErrorCode::kInvalid, "--feature-gates: " + words}; }

}  // namespace

Result<std::vector<std::pair<std::string, bool>>> parse_feature_gates(const std::vector<std::string>& words,
                                                                      std::vector<std::string>& warnings) {
  std::vector<std::pair<std::string, bool>> gates;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    const auto* const fixed = std::ranges::find(kFixedGates, name, &FixedGate::name);
    const bool queue = name == kPriorityQueueGate;
    const bool meaningless = queue || std::ranges::find(kMeaninglessGates, name) != kMeaninglessGates.end();
    if (!is_feature_gate(name) && fixed == kFixedGates.end() && !meaningless) {
      std::string known;
      for (const std::string& gate : feature_gate_names()) known += (known.empty() ? "" : ", ") + gate;
      return wrong_gate("there is no feature gate \"" + name + "\"; there are: " + known);
    }
    if (value != "true" && value != "false") {
      return wrong_gate(name + " needs =true or =false, not \"" + value + "\"");
    }
    const bool on = value == "true";
    if (is_feature_gate(name)) {
      gates.emplace_back(name, on);
    } else if (queue) {
      if (!on) warnings.push_back("--feature-gates: " + name + "=false has no effect: changes always precede routine");
    } else if (meaningless) {
      warnings.push_back("--feature-gates: " + name + " has no effect");
    } else if (on != fixed->only) {
      return wrong_gate(name + "=" + value + ": " + std::string{fixed->why} + "; leave it out");
    }
  }
  return gates;
}

std::vector<std::string> feed_families() {
  std::vector<std::string> names;
  for (const Family family : feeds::all_families()) names.emplace_back(name_of(family));
  return names;
}

Result<void> check_feeds(FeedOptions& feeds, const std::string& journal) {
  if (feeds.families.empty()) return ok();
  const std::vector<std::string> known = feed_families();
  if (std::ranges::find(feeds.families, "all") != feeds.families.end()) feeds.families = known;
  for (const std::string& family : feeds.families) {
    if (std::ranges::find(known, family) != known.end()) continue;
    std::string names;
    for (const std::string& name : known) names += ", " + name;
    return Error{ErrorCode::kInvalid,
                 "--feeds: there is no family of events \"" + family + "\"; there are: all" + names};
  }
  SHIPLOG_TRY(const JournalAddress address, parse_journal(journal));
  if (address.on_kafka()) return ok();
  return Error{
      ErrorCode::kInvalid,
      "--feeds needs a journal on Kafka, whose brokers the topics of feeds are on; with a journal that is a file, "
      "feeds are read over HTTP: GET /feeds/FAMILY"};
}

Result<std::vector<std::string>> read_config(const std::string& path) {
  std::ifstream file{path};
  if (!file) return Error{ErrorCode::kIo, "cannot read the configuration file " + path};
  std::stringstream text;
  text << file.rdbuf();
  auto parsed = parse_yaml(text.str());
  if (!parsed) return parsed.error().context(path);
  if (!parsed.value().is_object()) return Error{ErrorCode::kBadRequest, path + ": a mapping of options is expected"};
  std::vector<std::string> words;
  for (const auto& member : parsed.value().members()) {
    std::string value;
    // These are not joined by commas, which their values may hold: a word each.
    if (member.key() == kKafkaOption) {
      for (const Value& item : member.value.items()) words.push_back("--kafka-option=" + text_of(item));
      for (const auto& setting : member.value.members()) {
        words.push_back("--kafka-option=" + std::string{setting.key()} + "=" + text_of(setting.value));
      }
      if (member.value.is_string()) words.push_back("--kafka-option=" + member.value.str());
      continue;
    }
    if (member.key() == kFeatureGates && member.value.is_object()) {
      for (const auto& gate : member.value.members()) {
        value += (value.empty() ? "" : ",") + std::string{gate.key()} + "=" + text_of(gate.value);
      }
    } else if (member.value.is_array()) {
      const char* between = member.key() == kSkippedApis ? ";" : ",";  // its words hold commas
      for (const Value& item : member.value.items()) {
        value += (value.empty() ? "" : between) + text_of(item);
      }
    } else if (member.value.is_object() || member.value.is_null()) {
      return Error{ErrorCode::kBadRequest,
                   path + ": option " + std::string{member.key()} + " must be a text, a number or a list of them"};
    } else {
      value = text_of(member.value);
    }
    words.push_back("--" + std::string{member.key()} + "=" + value);
  }
  return words;
}

Result<std::shared_ptr<const Networks>> parse_networks(const std::string& list) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    words.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  SHIPLOG_TRY(auto networks, Networks::parse(words));
  return std::make_shared<const Networks>(std::move(networks));
}

}  // namespace shiplog
