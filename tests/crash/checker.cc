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

const char* name_of(Known known) {
  switch (known) {
    case Known::kDone:
      return "acknowledged";
    case Known::kAbsent:
      return "not found";
    case Known::kRefused:
      return "refused";
    case Known::kUnknown:
      return "of unknown outcome";
  }
  return "?";
}

std::string words(const Operation& operation) {
  std::string text = std::string{"the "} + name_of(operation.verb) + " of " + operation.object;
  if (!operation.value.empty()) text += " (value " + operation.value + ")";
  text += std::string{", "} + name_of(operation.known);
  if (operation.revision != 0) text += " with revision " + std::to_string(operation.revision);
  return text + ", ticks " + std::to_string(operation.invoked) + " to " + std::to_string(operation.answered);
}

/// How long an object was, or was not, what one version made of it: from `since` on, but no longer at `until`.
struct Span {
  uint64_t since = 0;
  uint64_t until = kForEver;
  const Version* version = nullptr;  ///< null or a removal: not there
  bool there() const { return version != nullptr && version->kind != Version::Kind::kRemoved; }
};

class Checker {
 public:
  std::vector<std::string> run(const std::vector<Operation>& operations, const std::vector<Version>& history,
                               const std::vector<Present>& present) {
    read_history(history);
    for (const Operation& operation : operations) {
      if (operation.verb == Verb::kRemove) removals_[operation.uid].push_back(&operation);
      if (operation.verb == Verb::kCreate || operation.verb == Verb::kUpdate) asked_.emplace(operation.value, true);
    }
    check_in_order(operations);
    check_strangers();
    check_end(present);
    return std::move(broken_);
  }

 private:
  void say(std::string sentence) { broken_.push_back(std::move(sentence)); }

  void read_history(const std::vector<Version>& history) {
    uint64_t before = 0;
    for (const Version& version : history) {
      const std::string at = "at revision " + std::to_string(version.revision);
      if (version.revision <= before) say("history goes back " + at + ", after " + std::to_string(before));
      before = version.revision;
      auto& spans = spans_[version.object];
      if (spans.empty()) spans.emplace_back();
      const bool there = spans.back().there();
      if (there == (version.kind == Version::Kind::kCreated)) {
        say("history makes no sense " + at + ": " + version.object + " was " + (there ? "" : "not ") + "there");
      }
      const bool same = there && spans.back().version->value == version.value;
      // A service that changes the labels leaves the value; a client's write always brings its own.
      const bool write = version.kind == Version::Kind::kCreated ||
                         (version.kind == Version::Kind::kUpdated && (version.by_client || !same));
      if (write) written_[version.value].push_back(&version);
      if (version.kind == Version::Kind::kRemoved) removed_[version.uid].push_back(&version);
      spans.back().until = version.revision;
      spans.push_back({version.revision, kForEver, &version});
    }
  }

  /// Goes through the operations as they began, knowing for each the newest revision that anybody had been told before.
  void check_in_order(const std::vector<Operation>& operations) {
    std::vector<size_t> by_start(operations.size());
    std::iota(by_start.begin(), by_start.end(), 0);
    std::vector<size_t> by_end = by_start;
    std::ranges::sort(by_start, {}, [&](size_t at) { return operations[at].invoked; });
    std::ranges::sort(by_end, {}, [&](size_t at) { return operations[at].answered; });
    uint64_t floor = 0;
    size_t ended = 0;
    for (const size_t at : by_start) {
      const Operation& operation = operations[at];
      for (; ended < by_end.size() && operations[by_end[ended]].answered < operation.invoked; ++ended) {
        floor = std::max(floor, told(operations[by_end[ended]]));
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

  /// The newest revision that the answer proves to have been there.
  uint64_t told(const Operation& operation) const {
    if (operation.known != Known::kDone) return 0;
    if (operation.verb != Verb::kRemove) return operation.revision;
    const auto found = removed_.find(operation.uid);
    return found == removed_.end() ? 0 : found->second.front()->revision;
  }

  void check_write(const Operation& operation, uint64_t floor) {
    const auto found = written_.find(operation.value);
    const size_t times = found == written_.end() ? 0 : found->second.size();
    if (times > 1) say(words(operation) + " is in history " + std::to_string(times) + " times");
    if (times == 0) {
      if (operation.known == Known::kDone) say(words(operation) + " is lost");
      return;
    }
    if (operation.known == Known::kRefused) say(words(operation) + " is in history all the same");
    const Version& version = *found->second.front();
    const std::string at = ", but history has it at revision " + std::to_string(version.revision);
    if (version.object != operation.object) say(words(operation) + at + " as " + version.object);
    if ((operation.verb == Verb::kCreate) != (version.kind == Version::Kind::kCreated)) {
      say(words(operation) + at + " as something else");
    }
    if (operation.known == Known::kDone && version.revision != operation.revision) say(words(operation) + at);
    check_floor(operation, version.revision, floor);
  }

  void check_removal(const Operation& operation, uint64_t floor) {
    const auto found = removed_.find(operation.uid);
    if (found == removed_.end()) {
      if (operation.known == Known::kDone) say(words(operation) + " is lost");
      return;
    }
    // Somebody else's may have been the one that did it; this one then was refused or came to nothing.
    if (operation.known == Known::kDone) check_floor(operation, found->second.front()->revision, floor);
  }

  void check_floor(const Operation& operation, uint64_t revision, uint64_t floor) {
    if (revision > floor) return;
    say(words(operation) + " stands at revision " + std::to_string(revision) + " in history, though revision " +
        std::to_string(floor) + " had been told before it was sent");
  }

  void check_read(const Operation& operation, uint64_t floor) {
    if (operation.known != Known::kDone && operation.known != Known::kAbsent) return;
    const bool found = operation.known == Known::kDone;
    const auto spans = spans_.find(operation.object);
    if (spans == spans_.end()) {
      if (found) say(words(operation) + ": history does not know the object");
      return;
    }
    bool exact = !found;
    for (const Span& span : spans->second) {
      if (span.there() != found) continue;
      if (found) {
        if (span.since != operation.revision) continue;
        exact = true;
        if (span.version->value != operation.value) {
          return say(words(operation) + ": history has the value " + span.version->value);
        }
      }
      if (span.until > floor) return;
    }
    if (!exact) return say(words(operation) + ": history does not know that version");
    say(words(operation) + " is older than revision " + std::to_string(floor) +
        ", which had been told before it was sent");
  }

  void check_strangers() {
    for (const auto& [value, versions] : written_) {
      if (!asked_.contains(value)) {
        say("history has the value " + value + " of " + versions.front()->object + " at revision " +
            std::to_string(versions.front()->revision) + ", which nobody has sent");
      }
    }
    for (const auto& [uid, versions] : removed_) {
      const std::string what = versions.front()->object + " (uid " + uid + ") was removed at revision " +
                               std::to_string(versions.front()->revision);
      if (versions.size() > 1) say(what + " and again");
      const auto wanted = removals_.find(uid);
      const bool by_someone =
          wanted != removals_.end() &&
          std::ranges::any_of(wanted->second, [](const Operation* one) { return one->known != Known::kRefused; });
      if (!by_someone) say(what + ", which nobody has asked for with success");
    }
  }

  void check_end(const std::vector<Present>& present) {
    std::map<std::string, const Present*> there;
    for (const Present& one : present) {
      if (!there.emplace(one.object, &one).second) say(one.object + " is listed twice");
    }
    for (const auto& [object, spans] : spans_) {
      const auto found = there.find(object);
      const Span& last = spans.back();
      if (last.there() != (found != there.end())) {
        say(object + (last.there() ? " is missing at the end" : " is there at the end, though it was removed"));
        continue;
      }
      if (!last.there()) continue;
      if (found->second->revision != last.since || found->second->value != last.version->value ||
          found->second->uid != last.version->uid) {
        say(object + " has at the end revision " + std::to_string(found->second->revision) + " and value " +
            found->second->value + ", in history revision " + std::to_string(last.since) + " and value " +
            last.version->value);
      }
    }
    for (const auto& [object, one] : there) {
      if (!spans_.contains(object)) say(object + " is there at the end and not in history");
    }
  }

  std::map<std::string, std::vector<Span>> spans_;                 // by object
  std::map<std::string, std::vector<const Version*>> written_;     // by value
  std::map<std::string, std::vector<const Version*>> removed_;     // by uid
  std::map<std::string, std::vector<const Operation*>> removals_;  // by uid
  std::map<std::string, bool> asked_;                              // by value
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> broken_promises(const std::vector<Operation>& operations, const std::vector<Version>& history,
                                         const std::vector<Present>& present) {
  return Checker{}.run(operations, history, present);
}

}  // namespace shiplog::crash
