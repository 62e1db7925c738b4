#include <algorithm>
#include <string>
#include <vector>

#include "services/programs/shiplogctl/printable_lines.h"
#include "services/programs/shiplogctl/report.h"
#include "services/programs/shiplogctl/table.h"

namespace shiplog::ctl {
namespace {

std::string indented(const Value& steps) {
  std::string text;
  for (const Value& step : steps.items()) text += "  " + step.str() + "\n";
  return text;
}

std::string bulleted(const Value& sentences) {
  std::string text;
  for (const Value& sentence : sentences.items()) text += "  - " + sentence.str() + "\n";
  return text;
}

std::string moment(const Value& value) {
  const std::string trace = value["trace"].str();
  return "revision " + std::to_string(value["revision"].as_int()) + ", " + value["time"].str() +
         (trace.empty() ? "" : ", trace " + trace);
}

std::string policy_text(const Value& policy) {
  if (policy.is_null()) return "";
  const std::string heading = policy["released"].as_bool() ? "Policy that had it last: " : "Policy: ";
  std::string text = "\n" + heading + policy["summary"].str() + "\n  (since " + moment(policy["since"]) + ")\n" +
                     indented(policy["steps"]);
  if (policy["now"] != policy["since"])
    text += "  as of " + moment(policy["now"]) + ":\n" + indented(policy["stepsNow"]);
  std::string others;
  for (const Value& other : policy["alsoSelectedBy"].items()) others += (others.empty() ? "" : ", ") + other.str();
  if (others.empty()) return text;
  return text + "  now also selected by " + others +
         (policy["released"].as_bool() ? "\n" : ": what is claimed is taken only by spec.preemption Always\n");
}

/// The first rejection, or what speaks for it.
std::string verdict(const Value& cluster) {
  for (const Value& each : cluster["verdicts"].items()) {
    if (!each["passed"].as_bool(true)) return each["rule"].str() + ": " + each["reason"].str();
  }
  return cluster["replicas"].is_null() ? "passes every filter, not selected" : "chosen";
}

std::string score(const Value& cluster) {
  if (cluster["scores"].size() == 0) return "";
  int64_t sum = 0;
  for (const Value& each : cluster["scores"].items()) sum += each["points"].as_int();
  return std::to_string(sum);
}

std::string remedy(const Value& remedy) {
  if (remedy.is_null()) return "";
  std::string text;
  for (const Value& change : remedy["changes"].items()) text += (text.empty() ? "" : "; ") + change.str();
  if (remedy["chosen"].as_bool()) return text;
  return text + (text.empty() ? "nothing that was tried lets it in" : "; then it is eligible, but still not taken");
}

std::string remedy_now(const Value& cluster) {
  const Value& now = cluster["remedyNow"];
  if (now.is_null()) return "the same";
  if (now["changes"].size() == 0 && now["chosen"].as_bool()) {
    return "nothing: the next placement takes it in (what is placed stays until then)";
  }
  return remedy(now);
}

std::string placement_text(const Value& why) {
  const Value& placement = why["placement"];
  if (placement.is_null()) return "";
  const std::string outcome = placement["outcome"].str();
  const bool replaced = !placement["changed"].is_null() && outcome != "PlacementRefused" && outcome != "QuotaRefused";
  const std::string heading = replaced ? "Last placement (no longer in force): " : "Placement: ";
  std::string text = "\n" + heading + placement["summary"].str() + "\n  (" + moment(placement["made"]) + ")\n" +
                     indented(placement["steps"]);
  if (why["clusters"].size() == 0) return text;
  Table table{{"CLUSTER", "REPLICAS", "SCORE", "ROOM", "VERDICT"}};
  // What has changed since the placement: a placement made now would decide otherwise.
  const bool changed = std::ranges::any_of(why["clusters"].items(),
                                           [](const Value& cluster) { return !cluster["remedyNow"].is_null(); });
  Table remedies =
      changed ? Table{{"LEFT OUT", "WOULD HAVE TAKEN", "TAKES NOW"}} : Table{{"LEFT OUT", "WOULD HAVE TAKEN"}};
  for (const Value& cluster : why["clusters"].items()) {
    table.add({cluster["cluster"].str(), number_text(cluster["replicas"]), score(cluster),
               number_text(cluster["availableReplicas"]), verdict(cluster)});
    const std::string words = remedy(cluster["remedy"]);
    if (words.empty()) continue;
    std::vector<std::string> row{cluster["cluster"].str(), words};
    if (changed) row.push_back(remedy_now(cluster));
    remedies.add(std::move(row));
  }
  text += "\n" + table.text();
  if (remedies.size() > 0) text += "\n" + remedies.text();
  return text;
}

/// What a user sees of a member who may not get its Cluster.
std::string hidden_member_text(const Value& member) {
  std::string text;
  for (const Value& condition : member["conditions"].items()) {
    text += "  - the Work has " + condition["type"].str() + "=" + condition["status"].str() +
            (condition["message"].is_empty() ? "" : ": " + condition["message"].str()) + "\n";
  }
  return text + "  the rest is not shown: it needs the permission to get cluster " + member["cluster"].str() + "\n";
}

std::string members_text(const Value& members) {
  std::string text;
  for (const Value& member : members.items()) {
    text += "\nIn " + member["cluster"].str() + ":\n" + bulleted(member["now"]);
    if (member["hidden"].as_bool()) {
      text += hidden_member_text(member);
      continue;
    }
    if (member["rendered"].is_null()) {
      if (member["now"].size() == 0) text += "  nothing has been rendered yet\n";
      continue;
    }
    text += "  Work " + member["work"]["namespace"].str() + "/" + member["work"]["name"].str() + " (" +
            moment(member["rendered"]) + ")\n" + indented(member["steps"]);
  }
  return text;
}

std::string interpreters_text(const Value& by) {
  if (by.is_null()) return "";
  std::string text = "\nStatus and health are read by ";
  const std::string status = by["status"].str();
  const std::string health = by["health"].str();
  const std::string sum = by["aggregation"].str();
  if (status == health && status == sum) return text + status + "\n";
  text = "\nStatus is read by " + status + "\nHealth is judged by " + health + "\n";
  return text + "The status of the template is summed up by " + sum + "\n";
}

std::string evictions_text(const Value& why) {
  std::string text;
  for (const Value& eviction : why["evictions"].items()) {
    text += "\nBeing evicted from " + eviction["cluster"].str() + " since " + eviction["since"].str();
    const std::string until = eviction["until"].str();
    if (eviction["takenAgain"].as_bool() && !until.empty()) {
      text += "; the copy is kept, and after " + until +
              " the cluster is a target again, as no taint drives it off any more";
    } else if (eviction["keptAsLastCopy"].as_bool()) {
      text += "; the copy is kept" + (until.empty() ? "" : ", also after " + until + ",") +
              " as no other cluster was found";
    } else if (!until.empty()) {
      text += ", until " + until + " at the latest";
    }
    text += "\n";
    std::string cause = eviction["reason"].str();
    if (!eviction["message"].is_null()) cause += (cause.empty() ? "" : ": ") + eviction["message"].str();
    if (!eviction["producer"].is_null()) cause += " (" + eviction["producer"].str() + ")";
    if (!cause.empty()) text += "  " + cause + "\n";
    if (eviction["waitsFor"].size() > 0) text += "  waits for:\n" + bulleted(eviction["waitsFor"]);
  }
  if (why["pastEvictions"].size() > 0) text += "\nEvictions that have ended:\n";
  for (const Value& eviction : why["pastEvictions"].items()) {
    text += "  " + eviction["summary"].str() + " (" + moment(eviction["ended"]) + ")\n";
  }
  return text;
}

}  // namespace

std::string why_text(const Value& why) {
  std::string text = object_words(why["object"]);
  if (!why["binding"].is_null()) text += ", bound by " + object_words(why["binding"]);
  text += ", as of revision " + std::to_string(why["revision"].as_int()) + "\n";
  if (!why["summary"].is_null()) text += why["summary"].str() + "\n";
  for (const Value& requirer : why["requiredBy"].items()) {
    std::string clusters;
    for (const Value& target : requirer["clusters"].items()) clusters += " " + target["name"].str();
    if (clusters.empty()) clusters = " no cluster";
    text += "\nDependency of " + requirer["namespace"].str() + "/" + requirer["name"].str() + ", so it follows it to" +
            clusters + "\n";
  }
  text += bulleted(why["notes"]);
  text += policy_text(why["policy"]) + placement_text(why) + evictions_text(why) + members_text(why["members"]) +
          interpreters_text(why["interpreters"]);
  return printable_lines(text, std::string::npos);
}

}  // namespace shiplog::ctl
