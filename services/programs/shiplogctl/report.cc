#include "services/programs/shiplogctl/report.h"

#include <algorithm>

#include "services/programs/shiplogctl/printable_lines.h"
#include "services/programs/shiplogctl/table.h"

namespace shiplog::ctl {
namespace {

constexpr size_t kLongestWhy = 70;
constexpr size_t kLongestChange = 110;
constexpr size_t kMostChanges = 12;

// To the second: enough for people, and the revision orders.
std::string seconds(const Value& time) {
  const std::string text = time.str();
  const size_t dot = text.find('.');
  return dot == std::string::npos ? text : text.substr(0, dot) + "Z";
}

std::string joined(const std::string& words, const std::string& more) {
  return words.empty() ? more : more.empty() ? words : words + " " + more;
}

std::string change_words(const Value& change) {
  const std::string kind = change["change"].str();
  const std::string path = change["path"].str();
  if (kind == "added") return "+ " + path + ": " + change["after"].str();
  if (kind == "removed") return "- " + path + ": " + change["before"].str();
  if (kind == "changed") return path + ": " + change["before"].str() + " -> " + change["after"].str();
  return kind;
}

std::string changes_words(const Value& version) {
  const Value& changes = version["changes"];
  if (version["operation"].as_string() != "updated") return version["operation"].str();
  if (version["previousDeleted"].as_bool()) return "(unknown: the version before is deleted)";
  if (changes.size() == 0) return "(nothing but its revision)";
  std::string text;
  for (size_t i = 0; i < changes.size() && i < kMostChanges; ++i) {
    text += (text.empty() ? "" : "\n") + cut(change_words(changes[i]), kLongestChange);
  }
  if (changes.size() > kMostChanges) {
    text += "\n... and " + std::to_string(changes.size() - kMostChanges) + " more (-o json has all)";
  }
  return text;
}

std::string why_words(const Value& version) {
  const Value& why = version["why"];
  std::string text = why["event"].str();
  if (why.contains("object")) text += " of " + object_words(why["object"]) + ":";
  text = joined(text, why["summary"].str());
  if (const std::string verb = version["verb"].str(); !verb.empty() && verb != "decide" && verb != "observe") {
    text = verb;
  }
  text = cut(text, kLongestWhy);
  const std::string explained = why["explanation"]["summary"].str();
  if (!explained.empty()) text += "\n" + cut(explained, kLongestWhy);
  if (why["causes"].size() > 0) {
    const Value& root = why["causes"][0];
    // A user of a namespace is shown only that there was one.
    const std::string since =
        root["hidden"].as_bool()
            ? "revision " + std::to_string(root["revision"].as_int()) + ", about what you may not get"
            : joined(root["event"].str(), object_words(root["object"])) + " by " + who_words(root);
    text += "\n" + cut("since " + since, kLongestWhy);
  }
  if (const std::string trace = version["trace"].str(); !trace.empty()) text += "\ntrace " + trace;
  return text;
}

}  // namespace

std::string number_text(const Value& value) { return value.is_null() ? "" : std::to_string(value.as_int()); }

std::string object_words(const Value& object) {
  if (object.is_null()) return "";
  const std::string ns = object["namespace"].str();
  const std::string type = object["type"].str();
  return type.substr(0, type.find('.')) + "/" + (ns.empty() ? "" : ns + "/") + object["name"].str();
}

std::string who_words(const Value& entry) {
  const std::string service = entry["service"].str();
  if (entry["hidden"].as_bool() && (service.empty() || service == "api")) return "(hidden)";
  return service.empty() || service == "api" ? entry["user"].str() : service;
}

std::string history_table(const Value& history, const Terminal& terminal) {
  Table table{{"REVISION", "TIME", "WHO", "WHY", "CHANGED"}};
  for (const Value& version : history["items"].items()) {
    table.add({number_text(version["revision"]), seconds(version["time"]), who_words(version["who"]),
               why_words(version), changes_words(version)});
  }
  return table.text(true, terminal);
}

namespace {

/// What the version was, and since what: without the trace, for where there are many.
std::string short_why_words(const Value& version) {
  Value shown = version;
  shown.erase("trace");
  return why_words(shown);
}

}  // namespace

std::string blame_table(const Value& blame, const Terminal& terminal) {
  Table table{{"FIELD", "VALUE", "REVISION", "TIME", "WHO", "WHY"}};
  for (const Value& item : blame["items"].items()) {
    if (item["origin"].is_null()) {
      const std::string from = number_text(blame["examinedFrom"]);
      table.add({item["path"].str(), cut(item["value"].str(), kLongestWhy), "", "", "",
                 blame["olderDeleted"].as_bool() ? "revision " + from + " or earlier: older versions are deleted"
                                                 : "before revision " + from + ": not examined"});
      continue;
    }
    const Value& origin = blame["origins"][static_cast<size_t>(item["origin"].as_int())];
    table.add({item["path"].str(), cut(item["value"].str(), kLongestWhy), number_text(origin["revision"]),
               seconds(origin["time"]), who_words(origin["who"]), short_why_words(origin)});
  }
  return table.text(true, terminal);
}

std::string comparison_text(const Value& comparison) {
  std::string text;
  for (const Value& item : comparison["items"].items()) {
    const std::string operation = item["operation"].str();
    text += (text.empty() ? "" : "\n") + object_words(item["object"]) + ": " + operation + "\n";
    if (operation == "updated") {
      const std::string changes = changes_words(item);
      for (size_t begin = 0; begin < changes.size();) {
        const size_t end = std::min(changes.find('\n', begin), changes.size());
        text += "  " + changes.substr(begin, end - begin) + "\n";
        begin = end + 1;
      }
    }
    for (const Value& version : item["versions"].items()) {
      std::string why = short_why_words(version);
      std::ranges::replace(why, '\n', ' ');
      text += "  revision " + number_text(version["revision"]) + ", " + seconds(version["time"]) + ", " +
              who_words(version["who"]) + ": " + why + "\n";
    }
    const auto more = item["count"].as_int() - static_cast<int64_t>(item["versions"].size());
    if (more > 0) text += "  and " + std::to_string(more) + " earlier ones\n";
  }
  return printable_lines(text, std::string::npos);
}

namespace {

/// "1.5 s", "12 m 3 s".
std::string duration_words(int64_t millis) {
  const int64_t whole = millis / 1000;
  if (whole >= 60) return std::to_string(whole / 60) + " m " + std::to_string(whole % 60) + " s";
  return std::to_string(whole) + "." + std::to_string(millis % 1000 / 100) + " s";
}

std::string replicas_words(const Value& item, const char* cluster) {
  return item[cluster].str() + " (" + number_text(item["replicas"]) + ")";
}

}  // namespace

std::string failovers_table(const Value& failovers, const Terminal& terminal) {
  Table table{{"STARTED", "OBJECT", "FROM", "TO", "PURGE", "DURATION", "CAUSE", "RESULT"}};
  for (const Value& failover : failovers["items"].items()) {
    const Value& object = failover["object"];
    std::string path;
    for (const Value& target : failover["to"].items()) {
      path += (path.empty() ? "" : "\n") + replicas_words(target, "cluster");
    }
    if (failover["unplaced"].as_int() > 0) {
      path += (path.empty() ? "" : "\n") + ("no cluster (" + number_text(failover["unplaced"]) + ")");
    }
    const std::string message = failover["message"].str();
    const bool ended = !failover["ended"].is_null();
    table.add({seconds(failover["started"]),
               object["kind"].str() + " " + (object["namespace"].is_empty() ? "" : object["namespace"].str() + "/") +
                   object["name"].str(),
               replicas_words(failover, "from"), path, failover["purgeMode"].str(),
               ended ? duration_words(failover["durationMillis"].as_int()) : "",
               failover["reason"].str() + (message.empty() ? "" : ": " + cut(message, kLongestChange)),
               ended ? failover["endedBecause"].str() : "under way"});
  }
  return table.text(true, terminal);
}

std::string chain_table(const Value& chain, const Terminal& terminal) {
  Table table{{"OFFSET", "REVISION", "TIME", "WHO", "EVENT", "OBJECT", "SUMMARY"}};
  for (const Value& entry : chain["items"].items()) {
    bool first = true;
    for (const Value& event : entry["events"].items()) {
      table.add({first ? number_text(entry["offset"]) : "", first ? number_text(entry["revision"]) : "",
                 first ? entry["time"].str() : "", first ? who_words(entry) : "", event["kind"].str(),
                 object_words(event["object"]), cut(event["summary"].str(), kLongestChange)});
      first = false;
    }
  }
  return table.text(true, terminal);
}

std::string audit_table(const Value& audit, const Terminal& terminal) {
  Table table{{"OFFSET", "REVISION", "TIME", "WHO", "VERB", "EVENT", "OBJECT", "RESULT"}};
  for (const Value& entry : audit["items"].items()) {
    std::string result = entry["result"].str();
    if (result == "refused") result += ": " + cut(entry["refusal"]["reason"].str(), kLongestChange);
    std::string events;
    std::string objects;
    for (const Value& event : entry["events"].items()) {
      events += (events.empty() ? "" : "\n") + event["kind"].str();
      objects +=
          (objects.empty() && &event == entry["events"].items().data() ? "" : "\n") + object_words(event["object"]);
    }
    // Of these the event is all there is: no object has changed.
    const bool of_member = entry["events"][0]["kind"].as_string() == "MemberRequested";
    if (result == "denied" || of_member) result += ": " + cut(entry["events"][0]["summary"].str(), kLongestChange);
    table.add({number_text(entry["offset"]), number_text(entry["revision"]), seconds(entry["time"]), who_words(entry),
               entry["verb"].str(), events, objects, result});
  }
  return table.text(true, terminal);
}

std::string event_lines(const Value& entry, const EventFilter& filter, const Terminal& terminal) {
  const auto of_family = [&](const Value& event) {
    return filter.family.empty() || event["family"].as_string() == filter.family;
  };
  const auto about = [&](const Value& event) {
    const Value& object = event["object"];
    return (filter.ns.empty() || object["namespace"].as_string() == filter.ns) &&
           (filter.name.empty() || object["name"].as_string() == filter.name);
  };
  const auto events = entry["events"].items();
  const bool some = std::ranges::any_of(events, [&](const Value& event) { return of_family(event) && about(event); });
  std::string text;
  for (const Value& event : events) {
    if (!of_family(event) || (some && !about(event))) continue;
    std::string line = entry["time"].str() + "  r" + number_text(entry["revision"]) + "  " + event["family"].str() +
                       "  " + who_words(entry) + "  " + event["kind"].str();
    line = joined(line, object_words(event["object"]));
    if (const std::string summary = event["summary"].str(); !summary.empty()) line += ": " + summary;
    const bool refused = entry["result"].as_string() == "refused";
    if (refused) line += "  REFUSED: " + entry["refusal"]["reason"].str();
    if (entry["result"].as_string() == "duplicate") line += "  (duplicate)";
    line = printable_lines(line, std::string::npos);
    if (refused && terminal.colour) line = "\033[31m" + line + "\033[0m";
    text += line + "\n";
  }
  return text;
}

}  // namespace shiplog::ctl
