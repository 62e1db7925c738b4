#include <algorithm>
#include <cstdio>
#include <map>

#include "events/base/time.h"
#include "events/base/utf8.h"
#include "services/programs/shiplogctl/effects.h"
#include "services/programs/shiplogctl/report.h"

namespace shiplog::ctl {
namespace {

constexpr size_t kEventsShown = 2;  // of one entry
constexpr size_t kLongestLine = 400;

std::string plural(size_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

std::string after_words(const Value& millis) {
  const int64_t after = millis.as_int();
  if (after < 0) return "-" + std::to_string(-after) + "ms";  // another process's clock
  if (after < 1000) return "+" + std::to_string(after) + "ms";
  if (after >= 120'000) return "+" + human_duration(Millis{after});
  char text[32];
  std::snprintf(text, sizeof text, "+%.1fs", static_cast<double>(after) / 1000);
  return text;
}

std::string event_words(const Value& event) {
  std::string text = event["kind"].str();
  if (const std::string object = object_words(event["object"]); !object.empty()) text += " " + object;
  if (const std::string summary = event["summary"].str(); !summary.empty()) text += ": " + summary;
  return text;
}

std::string what_words(const Value& item) {
  const auto events = item["events"].items();
  std::string text;
  for (size_t at = 0; at < events.size() && at < kEventsShown; ++at) {
    text += (text.empty() ? "" : "; ") + event_words(events[at]);
  }
  if (events.size() > kEventsShown) text += "; and " + plural(events.size() - kEventsShown, "more event");
  return printable(text, kLongestLine);
}

/// Effects of one entry that have this in common are equal enough to be counted.
std::string likeness(const Value& item) {
  std::string text = who_words(item) + " " + item["result"].str();
  for (const Value& event : item["events"].items()) {
    const std::string kind = " " + event["kind"].str() + " " + event["object"]["type"].str();
    if (!text.ends_with(kind)) text += kind;
  }
  return text;
}

class EffectsDrawing {
 public:
  EffectsDrawing(const Value& answer, size_t alike, size_t most)
      : items_{answer["items"]}, alike_{alike}, most_{most}, children_(items_.size()) {
    for (size_t at = 1; at < items_.size(); ++at) {
      const int64_t parent = items_[at]["parent"].as_int();
      // Of an earlier item, whatever the server says: a circle has no end.
      children_[parent >= 0 && static_cast<size_t>(parent) < at ? static_cast<size_t>(parent) : 0].push_back(at);
    }
  }

  std::vector<DrawnEffect> draw() {
    if (items_.size() == 0) return {};
    const Value& root = items_[0];
    DrawnEffect cause;
    cause.when = "revision " + std::to_string(root["revision"].as_int()) + ", " + printable(root["time"].str());
    cause.who = printable(who_words(root));
    cause.what = what_words(root);
    cause.state = state_of(root);
    drawn_.push_back(std::move(cause));
    draw_below(0, 0, 1);
    return std::move(drawn_);
  }

 private:
  static std::string state_of(const Value& item) {
    const std::string result = item["result"].str();
    if (result == "accepted") return "";
    const std::string reason = item["refusal"]["reason"].str();
    return printable(result + (reason.empty() ? "" : ": " + reason), kLongestLine);
  }

  size_t size_below(size_t item) const {
    size_t sum = 0;
    std::vector<size_t> open{item};
    while (!open.empty()) {
      const size_t at = open.back();
      open.pop_back();
      sum += children_[at].size();
      open.insert(open.end(), children_[at].begin(), children_[at].end());
    }
    return sum;
  }

  void draw_below(size_t item, size_t parent, size_t depth) {
    std::map<std::string, std::vector<size_t>> like;
    for (const size_t child : children_[item]) like[likeness(items_[child])].push_back(child);
    const auto add = [&](DrawnEffect effect) {
      effect.parent = parent;
      effect.depth = depth;
      effect.last = false;
      drawn_.push_back(std::move(effect));
      return drawn_.size() - 1;
    };
    size_t last = parent;
    size_t done = 0;
    for (const size_t child : children_[item]) {
      if (drawn_.size() >= most_) {
        last = add({.what = "and " + plural(children_[item].size() - done, "more effect") + " here"});
        break;
      }
      ++done;
      const Value& value = items_[child];
      const auto& group = like[likeness(value)];
      const bool counted = alike_ > 0 && group.size() > alike_ + 1;
      const auto place = static_cast<size_t>(std::ranges::find(group, child) - group.begin());
      if (!counted || place < alike_) {
        last = add({.when = after_words(value["afterMillis"]),
                    .who = printable(who_words(value)),
                    .what = what_words(value),
                    .state = state_of(value)});
        draw_below(child, last, depth + 1);
      } else if (place + 1 == group.size()) {
        last = add({.what = rest_of(group)});
      }
    }
    if (items_[item]["more"].as_bool()) last = add({.what = "and more that is not listed"});
    if (last != parent) drawn_[last].last = true;
  }

  std::string rest_of(const std::vector<size_t>& group) const {
    size_t below = 0;
    for (size_t at = alike_; at < group.size(); ++at) below += size_below(group[at]);
    const Value& first = items_[group.front()];
    const Value& event = first["events"][0];
    const std::string type = event["object"]["type"].str();
    std::string text = "and " + std::to_string(group.size() - alike_) + " more: " + event["kind"].str();
    if (!type.empty()) text += " of " + type.substr(0, type.find('.'));
    text += " by " + who_words(first);
    if (below > 0) text += ", with " + plural(below, "effect");
    return printable(text, kLongestLine);
  }

  const Value& items_;
  const size_t alike_;
  const size_t most_;
  std::vector<std::vector<size_t>> children_;
  std::vector<DrawnEffect> drawn_;
};

}  // namespace

std::vector<DrawnEffect> drawn_effects(const Value& answer, size_t alike, size_t most) {
  return EffectsDrawing{answer, alike, most}.draw();
}

}  // namespace shiplog::ctl
