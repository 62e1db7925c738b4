#include "services/programs/shiplogctl/rehearsal_text.h"

#include <algorithm>
#include <map>
#include <vector>

#include "events/base/json.h"
#include "events/base/time.h"
#include "events/base/utf8.h"
#include "services/programs/shiplogctl/table.h"

namespace shiplog::ctl {
namespace {

constexpr size_t kNamed = 5;  // clusters that the summary names

std::string counted(int64_t count, const std::string& one, const std::string& many = {}) {
  return std::to_string(count) + " " + (count == 1 ? one : many.empty() ? one + "s" : many);
}

std::string listed(const Value& words, size_t most) {
  std::string list;
  for (size_t at = 0; at < std::min(most, words.size()); ++at) {
    list += (list.empty() ? "" : ", ") + printable(words[at].as_string(), 253);
  }
  if (words.size() > most) list += " and " + std::to_string(words.size() - most) + " more";
  return list;
}

std::string name_of(const Value& workload) {
  const std::string ns = workload["namespace"].str();
  std::string kind = workload["kind"].str();
  std::ranges::transform(kind, kind.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return kind + "/" + (ns.empty() ? "" : ns + "/") + workload["name"].str();
}

using Shares = std::map<std::string, int64_t>;

Shares shares_of(const Value& targets) {
  Shares shares;
  for (const Value& target : targets.items()) shares[target["cluster"].str()] = target["replicas"].as_int();
  return shares;
}

/// What the first list has more than the second: "m1:3, m2" (a cluster without a number has no replicas).
std::string more_in(const Shares& these, const Shares& those) {
  std::string text;
  for (const auto& [cluster, replicas] : these) {
    const auto other = those.find(cluster);
    const int64_t more = other == those.end() ? replicas : replicas - other->second;
    if (other != those.end() && more <= 0) continue;
    text += (text.empty() ? "" : ", ") + cluster + (more > 0 ? ":" + std::to_string(more) : "");
  }
  return text.empty() ? "-" : text;
}

bool ends_with(const Value& workload, const char* outcome) { return workload["outcome"].as_string() == outcome; }

struct OutcomeCounts {
  int64_t hit = 0, moved = 0, stay = 0, no_room = 0, pending = 0, other = 0, replicas = 0;
};

OutcomeCounts counts_of(const Value& report) {
  OutcomeCounts counts;
  for (const Value& workload : report["workloads"].items()) {
    ++counts.hit;
    counts.replicas += workload["replicas"].as_int();
    if (ends_with(workload, "stays")) {
      ++counts.stay;
    } else if (ends_with(workload, "does not fit")) {
      ++counts.no_room;
    } else if (ends_with(workload, "not healthy yet")) {
      ++counts.pending;
    } else if (workload["moves"].as_bool()) {
      ++counts.moved;
    } else {
      ++counts.other;
    }
  }
  return counts;
}

std::string what_fails(const Value& report) {
  const Value& failed = report["failedClusters"];
  const Value& tainted = report["taintedClusters"];
  const Value& regions = report["failedRegions"];
  std::string text;
  if (regions.size() > 0) {
    text = std::string{regions.size() == 1 ? "region " : "regions "} + listed(regions, kNamed) + " (" +
           counted(static_cast<int64_t>(failed.size()), "cluster") + ")";
  } else if (failed.size() > 0) {
    text = listed(failed, kNamed);
  }
  if (failed.size() > 0) text += failed.size() == 1 || regions.size() == 1 ? " fails" : " fail";
  if (tainted.size() > 0) {
    text +=
        (text.empty() ? "" : "; ") + listed(tainted, kNamed) + (tainted.size() == 1 ? " is tainted" : " are tainted");
  }
  return text;
}

std::string summary(const Value& report) {
  const OutcomeCounts counts = counts_of(report);
  std::string text = "Rehearsal at revision " + std::to_string(report["revision"].as_int()) + ": " +
                     what_fails(report) + ", of " + counted(report["clusters"].as_int(), "cluster") +
                     ". The fleet itself is not affected.\n";
  if (counts.hit == 0) return text + "No workload runs there: nothing moves.\n";
  text += counted(counts.hit, "workload") + " concerned: " + std::to_string(counts.moved) + " move and are healthy, " +
          std::to_string(counts.no_room) + " do not fit, " + std::to_string(counts.pending) + " not healthy yet, " +
          std::to_string(counts.stay) + " stay" +
          (counts.other > 0 ? ", " + std::to_string(counts.other) + " unchanged" : "") + ".\n";
  const Value& healthy = report["allHealthyAfterSeconds"];
  text += healthy.is_null() ? "Not everything is healthy after " + after_text(report["lengthSeconds"]) + ".\n"
                            : "Everything is healthy after " + after_text(healthy) + ".\n";
  return text;
}

/// Reasons with how many workloads each has, the most frequent first.
std::string reasons(const Value& report, const Terminal& terminal) {
  struct Reason {
    int64_t count = 0;
    std::string outcome, first;
  };
  std::map<std::string, Reason> found;
  for (const Value& workload : report["workloads"].items()) {
    if (ends_with(workload, "healthy")) continue;
    Reason& reason = found[printable(workload["reason"].as_string(), 400)];
    if (++reason.count > 1) continue;
    reason.outcome = workload["outcome"].str();
    reason.first = name_of(workload);
  }
  if (found.empty()) return "";
  std::vector<std::pair<std::string, Reason>> sorted{found.begin(), found.end()};
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
  Table table{{"WORKLOADS", "RESULT", "REASON", "FIRST"}};
  for (const auto& [text, reason] : sorted) {
    table.add({std::to_string(reason.count), reason.outcome, text, reason.first});
  }
  return "\nWhat does not fit, waits or stays, and why\n" + table.text(true, terminal);
}

std::string workloads(const Value& report, size_t rows, const Terminal& terminal) {
  const Value& all = report["workloads"];
  if (all.size() == 0) return "";
  Table table{{"WORKLOAD", "FROM", "TO", "REPLICAS", "AFTER", "RESULT"}};
  const size_t shown = rows == 0 ? all.size() : std::min(rows, all.size());
  for (size_t at = 0; at < shown; ++at) {
    const Value& workload = all[at];
    const Shares before = shares_of(workload["from"]);
    const Shares after = shares_of(workload["to"]);
    const int64_t replicas = workload["replicas"].as_int();
    table.add({name_of(workload), more_in(before, after), more_in(after, before),
               replicas > 0 ? std::to_string(replicas) : "-",
               workload["moves"].as_bool() ? after_text(workload["healthyAfterSeconds"]) : "-",
               workload["outcome"].str()});
  }
  std::string text = "\n" + table.text(true, terminal);
  if (shown < all.size()) {
    text +=
        "... and " + counted(static_cast<int64_t>(all.size() - shown), "more workload") + " (--limit=0 lists all)\n";
  }
  const int64_t attached = report["attached"].as_int();
  if (attached > 0) text += counted(attached, "object follows its workload", "objects follow their workloads") + ".\n";
  return text;
}

std::string limits(const Value& report, const Terminal& terminal) {
  const Value& eviction = report["eviction"];
  const bool on = eviction["byNoExecuteTaints"].as_bool();
  const std::string budget = eviction["budget"].str();
  std::string text = "\nEvictions\n";
  text += on ? "  " + counted(report["evictions"].as_int(), "eviction") + "; at most " +
                   eviction["ratePerSecond"].str() + " a second; budget " + (budget.empty() ? "none" : budget) +
                   "; purge mode " + eviction["purgeMode"].str() + "; each ends after " +
                   eviction["gracefulTimeout"].str() + " at the latest\n"
             : "  NoExecute taints do not evict: the gate Failover or --enable-no-execute-taint-eviction is off\n";
  if (report["quotas"].size() == 0) return text;
  Table table{{"QUOTA", "ENFORCED", "LIMIT", "USED BEFORE", "USED AFTER", "REFUSED"}};
  for (const Value& quota : report["quotas"].items()) {
    for (const Value::Member& limit : quota["overall"].members()) {
      const std::string resource{limit.key()};
      const auto used = [&](const char* when) {
        const Value& amount = quota[when][resource];
        return resource + "=" + (amount.is_null() ? "0" : amount.str());
      };
      table.add({quota["namespace"].str() + "/" + quota["name"].str(), quota["enforced"].as_bool() ? "yes" : "no",
                 resource + "=" + limit.value.str(), used("usedBefore"), used("usedAfter"),
                 std::to_string(quota["refusals"].as_int())});
    }
  }
  return text + "\nQuotas\n" + table.text(true, terminal);
}

std::string timeline(const Value& report, const Terminal& terminal) {
  Table table{{"AT", "UNTIL", "WHAT"}};
  for (const Value& row : report["timeline"].items()) {
    const bool moment = row["atSeconds"] == row["untilSeconds"];
    table.add({"+" + after_text(row["atSeconds"]), moment ? "" : "+" + after_text(row["untilSeconds"]),
               printable(row["text"].as_string(), 400)});
  }
  return "\nTimeline\n" + table.text(true, terminal);
}

}  // namespace

std::string after_text(const Value& seconds) {
  if (seconds.is_null()) return "-";
  const auto all = static_cast<int64_t>(seconds.as_double(static_cast<double>(seconds.as_int())) + 0.5);
  const int64_t hours = all / 3600;
  const int64_t minutes = all / 60 % 60;
  std::string text;
  if (hours > 0) text += std::to_string(hours) + "h";
  if (minutes > 0) text += std::to_string(minutes) + "m";
  if (all % 60 > 0 || text.empty()) text += std::to_string(all % 60) + "s";
  return text;
}

std::string rehearsal_text(const Value& report, size_t rows, const Terminal& terminal) {
  std::string text = summary(report) + workloads(report, rows, terminal) + reasons(report, terminal) +
                     limits(report, terminal) + timeline(report, terminal);
  if (report["unanswered"].size() > 0) {
    text += "\nNot rehearsed, as the answer is outside of the state\n";
    for (const Value& line : report["unanswered"].items()) text += "  " + printable(line.as_string(), 400) + "\n";
  }
  return text;
}

}  // namespace shiplog::ctl
