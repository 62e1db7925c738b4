#include "events/state/label_index.h"

#include <algorithm>

#include "events/base/check.h"

namespace shiplog {
namespace {

const std::set<ObjectKey> kNoneLabelled;

}  // namespace

void LabelIndex::update(const ObjectKey& key, const Value& before, const Value& after) {
  const Value& old_labels = before["metadata"]["labels"];
  const Value& new_labels = after["metadata"]["labels"];
  if (old_labels == new_labels) return;
  for (size_t label = 0; label < kLabels.size(); ++label) {
    const auto old_value = old_labels[kLabels[label]].as_string();
    const auto new_value = new_labels[kLabels[label]].as_string();
    if (old_value == new_value) continue;
    ByValue& by_value = objects_[label];
    if (!old_value.empty()) {
      auto* const entry = by_value.find("", old_value);
      SHIPLOG_CHECK(entry != nullptr, "what an object's labels said is in the index");
      entry->second.erase(key);
      if (entry->second.empty()) by_value.erase(entry);
    }
    if (!new_value.empty()) by_value.find_or_make("", SharedText::of(new_labels[kLabels[label]]))->second.insert(key);
  }
}

const std::set<ObjectKey>& LabelIndex::labelled(std::string_view label_key, std::string_view value) const {
  const auto label = std::ranges::find(kLabels, label_key);
  SHIPLOG_CHECK(label != kLabels.end(), "the label has no index");
  const auto* found = objects_[static_cast<size_t>(label - kLabels.begin())].find("", value);
  return found == nullptr ? kNoneLabelled : found->second;
}

}  // namespace shiplog
