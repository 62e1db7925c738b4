#include "services/roles/scheduler/assign/words.h"

namespace shiplog::scheduler {
namespace {

constexpr size_t kUsual = 16;  // letters of "member-12:100 "

}  // namespace

std::string in_words(const std::vector<Target>& targets) {
  std::string words;
  words.reserve(targets.size() * kUsual);
  for (const Target& target : targets) {
    if (!words.empty()) words += ' ';
    words += target.cluster;
    words += ':';
    words += std::to_string(target.replicas);
  }
  return words.empty() ? "nothing" : words;
}

std::string division_in_words(int64_t replicas, const std::vector<Weight>& weights, const std::vector<Target>& given) {
  std::string words = std::to_string(replicas) + " replicas by weights";
  words.reserve(words.size() + weights.size() * kUsual);
  for (const Weight& weight : weights) {
    words += ' ';
    words += weight.name;
    words += ':';
    words += std::to_string(weight.weight);
  }
  return words + " give " + in_words(given);
}

}  // namespace shiplog::scheduler
