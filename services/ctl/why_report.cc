#include <string>

#include "services/ctl/report.h"
#include "services/ctl/table.h"

namespace shiplog::ctl {
namespace {

std::string indented(const Value& steps) {
  std::string text;
  for (const Value& step : steps.items()) text += "  " + step.str() + "\n";
  return text;
}

std::string moment(const Value& value) {
  return "revision " + std::to_string(value["revision"].as_int()) + ", " + value["time"].str();
}

std::string policy_text(const Value& policy) {
  if (policy.is_null()) return "";
  const std::string heading = policy["released"].as_bool() ? "Policy that had it last: " : "Policy: ";
  std::string text = "\n" + heading + policy["summary"].str() + "\n  (since " + moment(policy["since"]) + ")\n" +
                     indented(policy["steps"]);
  if (policy["now"] != policy["since"])
    text += "  as of " + moment(policy["now"]) + ":\n" + indented(policy["stepsNow"]);
  return text;
}

/// The first rejection, or what speaks for it.
std::string verdict(const Value& cluster) {
  for (const Value& each : cluster["verdicts"].items()) {
    if (!each["passed"].as_bool(true)) return each["rule"].str() + ": " + each["reason"].str();
  }
  return cluster["replicas"].is_null() ? "passes every filter, not selected" : "chosen";
}

std::string number(const Value& value) { return value.is_null() ? "" : std::to_string(value.as_int()); }

std::string score(const Value& cluster) {
  if (cluster["scores"].size() == 0) return "";
  int64_t sum = 0;
  for (const Value& each : cluster["scores"].items()) sum += each["points"].as_int();
  return std::to_string(sum);
}

std::string remedy(const Value& cluster) {
  const Value& remedy = cluster["remedy"];
  if (remedy.is_null()) return "";
  std::string text;
  for (const Value& change : remedy["changes"].items()) text += (text.empty() ? "" : "; ") + change.str();
  if (remedy["chosen"].as_bool()) return text;
  return text + (text.empty() ? "nothing that was tried lets it in" : "; then it is eligible, but still not taken");
}

std::string placement_text(const Value& why) {
  const Value& placement = why["placement"];
  if (placement.is_null()) return "";
  std::string text = "\nPlacement: " + placement["summary"].str() + "\n  (" + moment(placement["made"]) + ")\n" +
                     indented(placement["steps"]);
  if (why["clusters"].size() == 0) return text;
  Table table{{"CLUSTER", "REPLICAS", "SCORE", "ROOM", "VERDICT"}};
  Table remedies{{"LEFT OUT", "WOULD HAVE TAKEN"}};
  for (const Value& cluster : why["clusters"].items()) {
    table.add({cluster["cluster"].str(), number(cluster["replicas"]), score(cluster),
               number(cluster["availableReplicas"]), verdict(cluster)});
    if (const std::string words = remedy(cluster); !words.empty()) remedies.add({cluster["cluster"].str(), words});
  }
  text += "\n" + table.text();
  if (remedies.size() > 0) text += "\n" + remedies.text();
  return text;
}

std::string members_text(const Value& members) {
  std::string text;
  for (const Value& member : members.items()) {
    text += "\nIn " + member["cluster"].str() + ":";
    if (member["rendered"].is_null()) {
      text += " nothing has been rendered yet\n";
      continue;
    }
    text += " Work " + member["work"]["namespace"].str() + "/" + member["work"]["name"].str() + " (" +
            moment(member["rendered"]) + ")\n" + indented(member["steps"]);
    for (const Value& condition : member["conditions"].items()) {
      text +=
          "  " + condition["type"].str() + "=" + condition["status"].str() + ": " + condition["message"].str() + "\n";
    }
  }
  return text;
}

}  // namespace

std::string why_text(const Value& why) {
  std::string text = object_words(why["object"]);
  if (!why["binding"].is_null()) text += ", bound by " + object_words(why["binding"]);
  text += ", as of revision " + std::to_string(why["revision"].as_int()) + "\n";
  if (!why["summary"].is_null()) text += why["summary"].str() + "\n";
  for (const Value& one : why["requiredBy"].items()) {
    std::string clusters;
    for (const Value& target : one["clusters"].items()) clusters += " " + target["name"].str();
    text += "\nDependency of " + one["namespace"].str() + "/" + one["name"].str() + ", so it follows it to" + clusters +
            "\n";
  }
  return text + policy_text(why["policy"]) + placement_text(why) + members_text(why["members"]);
}

}  // namespace shiplog::ctl
