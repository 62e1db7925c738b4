#include "tests/crash/checker.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

namespace shiplog::crash {
namespace {

constexpr uint64_t kForEver = std::numeric_limits<uint64_t>::max();

const char* name_of(Verb verb) {
  switch (verb) {
    case Verb::kCreate:
      return "create";
    case Verb::kUpdate:
      return "update";
    case Verb::kRemove:
      return "delete";
    case Verb::kRead:
      return "read";
  }
  return "?";
}

const char* name_of(KnownOutcome outcome) {
  switch (outcome) {
    case KnownOutcome::kDone:
      return "acknowledged";
    case KnownOutcome::kAbsent:
      return "not found";
    case KnownOutcome::kRefused:
      return "refused";
    case KnownOutcome::kUnknown:
      return "of unknown outcome";
  }
  return "?";
}

std::string description(const Operation& operation) {
  std::string text = std::string{"the "} + name_of(operation.verb) + " of " + operation.object;
  if (!operation.value.empty()) text += " (value " + operation.value + ")";
  text += std::string{", "} + name_of(operation.outcome);
  if (operation.revision != 0) text += " with revision " + std::to_string(operation.revision);
  return text + ", ticks " + std::to_string(operation.invoked) + " to " + std::to_string(operation.answered);
}

/// The revisions for which one version of an object, or its absence, was current: from `since` until before `until`.
struct Lifetime {
  uint64_t since = 0;
  uint64_t until = kForEver;
  const HistoryVersion* version = nullptr;  ///< null or a removal: the object does not exist
  bool exists() const { return version != nullptr && version->kind != HistoryVersion::Kind::kRemoved; }
};

class Checker {
 public:
  std::vector<std::string> run(const std::vector<Operation>& operations, const std::vector<HistoryVersion>& history,
                               const std::vector<ListedObject>& listed) {
    read_history(history);
    for (const Operation& operation : operations) {
      if (operation.verb == Verb::kRemove) removals_[operation.uid].push_back(&operation);
      if (operation.verb == Verb::kCreate || operation.verb == Verb::kUpdate) sent_.emplace(operation.value, true);
    }
    check_in_order(operations);
    check_unrequested();
    check_end(listed);
    return std::move(violations_);
  }

 private:
  void report(std::string sentence) { violations_.push_back(std::move(sentence)); }

  void read_history(const std::vector<HistoryVersion>& history) {
    uint64_t before = 0;
    for (const HistoryVersion& version : history) {
      const std::string position = "at revision " + std::to_string(version.revision);
      if (version.revision <= before) report("the history goes back " + position + ", after " + std::to_string(before));
      before = version.revision;
      auto& lifetimes = lifetimes_[version.object];
      if (lifetimes.empty()) lifetimes.emplace_back();
      const bool existed = lifetimes.back().exists();
      if (existed == (version.kind == HistoryVersion::Kind::kCreated)) {
        report("the history is inconsistent " + position + ": " + version.object +
               (existed ? " existed" : " did not exist"));
      }
      const bool same = existed && lifetimes.back().version->value == version.value;
      // A role that changes labels keeps the value; a client's write always has a new one.
      const bool write = version.kind == HistoryVersion::Kind::kCreated ||
                         (version.kind == HistoryVersion::Kind::kUpdated && (version.by_client || !same));
      if (write) written_[version.value].push_back(&version);
      if (version.kind == HistoryVersion::Kind::kRemoved) removed_[version.uid].push_back(&version);
      lifetimes.back().until = version.revision;
      lifetimes.push_back({version.revision, kForEver, &version});
    }
  }

  /// Checks the operations in the order of their starts, with the newest revision of all earlier responses.
  void check_in_order(const std::vector<Operation>& operations) {
    std::vector<size_t> by_start(operations.size());
    std::iota(by_start.begin(), by_start.end(), 0);
    std::vector<size_t> by_end = by_start;
    std::ranges::sort(by_start, {}, [&](size_t index) { return operations[index].invoked; });
    std::ranges::sort(by_end, {}, [&](size_t index) { return operations[index].answered; });
    uint64_t floor = 0;
    size_t ended = 0;
    for (const size_t index : by_start) {
      const Operation& operation = operations[index];
      for (; ended < by_end.size() && operations[by_end[ended]].answered < operation.invoked; ++ended) {
        floor = std::max(floor, proven_revision(operations[by_end[ended]]));
      }
      switch (operation.verb) {
        case Verb::kCreate:
        case Verb::kUpdate:
          check_write(operation, floor);
          break;
        case Verb::kRemove:
          check_removal(operation, floor);
          break;
        case Verb::kRead:
          check_read(operation, floor);
          break;
      }
    }
  }

  /// The newest revision that must have existed when the operation was answered.
  uint64_t proven_revision(const Operation& operation) const {
    if (operation.outcome != KnownOutcome::kDone) return 0;
    if (operation.verb != Verb::kRemove) return operation.revision;
    const auto found = removed_.find(operation.uid);
    return found == removed_.end() ? 0 : found->second.front()->revision;
  }

  void check_write(const Operation& operation, uint64_t floor) {
    const auto found = written_.find(operation.value);
    const size_t times = found == written_.end() ? 0 : found->second.size();
    if (times > 1) report(description(operation) + " is in the history " + std::to_string(times) + " times");
    if (times == 0) {
      if (operation.outcome == KnownOutcome::kDone) report(description(operation) + " is lost");
      return;
    }
    if (operation.outcome == KnownOutcome::kRefused)
      report(description(operation) + " is in the history although it was refused");
    const HistoryVersion& version = *found->second.front();
    const std::string actual = ", but the history has it at revision " + std::to_string(version.revision);
    if (version.object != operation.object) report(description(operation) + actual + " as " + version.object);
    if ((operation.verb == Verb::kCreate) != (version.kind == HistoryVersion::Kind::kCreated)) {
      report(description(operation) + actual + " as another kind of change");
    }
    if (operation.outcome == KnownOutcome::kDone && version.revision != operation.revision)
      report(description(operation) + actual);
    check_floor(operation, version.revision, floor);
  }

  void check_removal(const Operation& operation, uint64_t floor) {
    const auto found = removed_.find(operation.uid);
    if (found == removed_.end()) {
      if (operation.outcome == KnownOutcome::kDone) report(description(operation) + " is lost");
      return;
    }
    // Another client's removal may have been applied; this one then was refused or had no effect.
    if (operation.outcome == KnownOutcome::kDone) check_floor(operation, found->second.front()->revision, floor);
  }

  void check_floor(const Operation& operation, uint64_t revision, uint64_t floor) {
    if (revision > floor) return;
    report(description(operation) + " is at revision " + std::to_string(revision) + " in the history, but revision " +
           std::to_string(floor) + " had been returned before it was sent");
  }

  void check_read(const Operation& operation, uint64_t floor) {
    if (operation.outcome != KnownOutcome::kDone && operation.outcome != KnownOutcome::kAbsent) return;
    const bool found = operation.outcome == KnownOutcome::kDone;
    const auto lifetimes = lifetimes_.find(operation.object);
    if (lifetimes == lifetimes_.end()) {
      if (found) report(description(operation) + ": the object is not in the history");
      return;
    }
    bool exact = !found;
    for (const Lifetime& lifetime : lifetimes->second) {
      if (lifetime.exists() != found) continue;
      if (found) {
        if (lifetime.since != operation.revision) continue;
        exact = true;
        if (lifetime.version->value != operation.value) {
          return report(description(operation) + ": the history has the value " + lifetime.version->value);
        }
      }
      if (lifetime.until > floor) return;
    }
    if (!exact) return report(description(operation) + ": the version is not in the history");
    report(description(operation) + " is older than revision " + std::to_string(floor) +
           ", which had been returned before it was sent");
  }

  void check_unrequested() {
    for (const auto& [value, versions] : written_) {
      if (!sent_.contains(value)) {
        report("the history has the value " + value + " of " + versions.front()->object + " at revision " +
               std::to_string(versions.front()->revision) + ", which no client has sent");
      }
    }
    for (const auto& [uid, versions] : removed_) {
      const std::string removal = versions.front()->object + " (uid " + uid + ") was removed at revision " +
                                  std::to_string(versions.front()->revision);
      if (versions.size() > 1) report(removal + " and again");
      const auto wanted = removals_.find(uid);
      const bool requested =
          wanted != removals_.end() && std::ranges::any_of(wanted->second, [](const Operation* entry) {
            return entry->outcome != KnownOutcome::kRefused;
          });
      if (!requested) report(removal + ", which no client has requested successfully");
    }
  }

  void check_end(const std::vector<ListedObject>& listed) {
    std::map<std::string, const ListedObject*> by_name;
    for (const ListedObject& entry : listed) {
      if (!by_name.emplace(entry.object, &entry).second) report(entry.object + " is listed twice");
    }
    for (const auto& [object, lifetimes] : lifetimes_) {
      const auto found = by_name.find(object);
      const Lifetime& last = lifetimes.back();
      if (last.exists() != (found != by_name.end())) {
        report(object + (last.exists() ? " is missing at the end" : " exists at the end although it was removed"));
        continue;
      }
      if (!last.exists()) continue;
      if (found->second->revision != last.since || found->second->value != last.version->value ||
          found->second->uid != last.version->uid) {
        report(object + " has at the end revision " + std::to_string(found->second->revision) + " and value " +
               found->second->value + ", in the history revision " + std::to_string(last.since) + " and value " +
               last.version->value);
      }
    }
    for (const auto& [object, entry] : by_name) {
      if (!lifetimes_.contains(object)) report(object + " exists at the end but is not in the history");
    }
  }

  std::map<std::string, std::vector<Lifetime>> lifetimes_;             // by object
  std::map<std::string, std::vector<const HistoryVersion*>> written_;  // by value
  std::map<std::string, std::vector<const HistoryVersion*>> removed_;  // by uid
  std::map<std::string, std::vector<const Operation*>> removals_;      // by uid
  std::map<std::string, bool> sent_;                                   // by value
  std::vector<std::string> violations_;
};

}  // namespace

std::vector<std::string> find_violations(const std::vector<Operation>& operations,
                                         const std::vector<HistoryVersion>& history,
                                         const std::vector<ListedObject>& listed) {
  return Checker{}.run(operations, history, listed);
}

}  // namespace shiplog::crash
