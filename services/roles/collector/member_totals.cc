#include "services/roles/collector/member_totals.h"

#include <algorithm>
#include <utility>

#include "events/state/condition.h"
#include "services/roles/collector/cluster_status.h"

namespace shiplog::collector {
namespace {

using Int = Quantity::Int;
__extension__ typedef unsigned __int128 Bits;  // as Quantity::Int

constexpr size_t kMostResourceNames = 64;  // different ones of one member; a number of them takes one byte
constexpr const char* kPods = "pods";
/// What malloc and the hash tables add is counted as well.
constexpr size_t kBytesPerPod = 64;
constexpr size_t kBytesPerNode = 192;
constexpr size_t kBytesPerSet = 64;

bool finished(const Value& pod) {
  const auto phase = pod["status"]["phase"].as_string();
  return phase == "Succeeded" || phase == "Failed";
}

Hash128 pod_key(const Value& pod) {
  const Value& metadata = pod["metadata"];
  return siphash128(metadata["namespace"].str() + "/" + metadata["name"].str());
}

std::string_view node_name(const Value& name) { return name.as_string().substr(0, kLongestName); }

/// Small numbers take few bytes: the requests of most pods then fit into a string without an allocation of its own.
void put_number(std::string& out, Int number) {
  auto rest = static_cast<Bits>(number) << 1U;
  if (number < 0) rest = ~rest;
  for (; rest >= 0x80; rest >>= 7U) out += static_cast<char>(static_cast<uint8_t>(rest) | 0x80U);
  out += static_cast<char>(static_cast<uint8_t>(rest));
}

Int take_number(std::string_view& in) {
  Bits rest = 0;
  for (unsigned shift = 0; !in.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(in.front());
    in.remove_prefix(1);
    rest |= static_cast<Bits>(byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0) break;
  }
  return static_cast<Int>((rest & 1U) != 0 ? ~(rest >> 1U) : rest >> 1U);
}

Int at(const std::vector<Int>& amounts, std::optional<size_t> number) {
  return number && *number < amounts.size() ? amounts[*number] : Int{};
}

}  // namespace

std::optional<size_t> AmountSets::find(std::string_view name) const {
  const auto found = std::ranges::find(names_, name, &Name::text);
  if (found == names_.end()) return std::nullopt;
  return static_cast<size_t>(found - names_.begin());
}

std::optional<uint8_t> AmountSets::number_for(std::string_view name) {
  if (const auto known = find(name)) return static_cast<uint8_t>(*known);
  auto free = find("");
  if (!free) {
    if (names_.size() == kMostResourceNames) return std::nullopt;
    free = names_.size();
    names_.emplace_back();
  }
  names_[*free].text = name;
  return static_cast<uint8_t>(*free);
}

const AmountSets::Entry* AmountSets::acquire(const ResourceList& list) {
  std::string encoded;
  for (const auto& [name, amount] : list) {
    if (name.empty() || name.size() > kLongestName || amount.is_zero()) continue;
    const auto number = number_for(name);
    if (!number) continue;
    encoded += static_cast<char>(*number);
    put_number(encoded, amount.whole_milli());
  }
  if (encoded.empty()) return nullptr;
  const auto [entry, first] = entries_.try_emplace(std::move(encoded), 0);
  if (first) {
    bytes_ += kBytesPerSet + (entry->first.size() > 15 ? entry->first.capacity() + 16 : 0);
    for (std::string_view rest = entry->first; !rest.empty(); take_number(rest)) {
      ++names_[static_cast<uint8_t>(rest.front())].entries;
      rest.remove_prefix(1);
    }
  }
  ++entry->second;
  return &*entry;
}

void AmountSets::release(const Entry* entry) {
  if (entry == nullptr) return;
  const auto found = entries_.find(entry->first);
  if (--found->second > 0) return;
  bytes_ -= kBytesPerSet + (found->first.size() > 15 ? found->first.capacity() + 16 : 0);
  for (std::string_view rest = found->first; !rest.empty(); take_number(rest)) {
    Name& name = names_[static_cast<uint8_t>(rest.front())];
    rest.remove_prefix(1);
    if (--name.entries == 0) name.text.clear();
  }
  entries_.erase(found);
}

void AmountSets::add(std::vector<Int>& amounts, const Entry* entry, int sign) {
  if (entry == nullptr) return;
  for (std::string_view rest = entry->first; !rest.empty();) {
    const auto number = static_cast<uint8_t>(rest.front());
    rest.remove_prefix(1);
    const Int amount = take_number(rest);
    if (amounts.size() <= number) amounts.resize(number + size_t{1});
    amounts[number] += sign * amount;
  }
}

ResourceList AmountSets::positive(const std::vector<Int>& amounts) const {
  ResourceList list;
  for (size_t number = 0; number < std::min(amounts.size(), names_.size()); ++number) {
    if (amounts[number] > 0) list.emplace(names_[number].text, Quantity::from_milli(amounts[number]));
  }
  return list;
}

size_t MemberTotals::bytes() const {
  return pods_.size() * kBytesPerPod + rows_by_name_.size() * kBytesPerNode + sets_.bytes();
}

/// A member without bounds takes no more memory than that. What does not fit is left out, and so is all that follows.
bool MemberTotals::fits(bool fits_in_number) {
  if (!fits_in_number || bytes() > limits_.bytes || rows_by_name_.size() > 2 * limits_.nodes) exceeded_ = true;
  return !exceeded_;
}

uint32_t MemberTotals::node_row(std::string_view name) {
  const auto [known, first] = rows_by_name_.try_emplace(std::string{name}, 0);
  if (!first) return known->second;
  if (free_rows_.empty()) {
    known->second = static_cast<uint32_t>(nodes_.size());
    nodes_.emplace_back();
  } else {
    known->second = free_rows_.back();
    free_rows_.pop_back();
  }
  nodes_[known->second].name = name;
  return known->second;
}

void MemberTotals::drop_if_unused(uint32_t row) {
  Node& node = nodes_[row];
  if (node.present || node.pods > 0) return;
  rows_by_name_.erase(node.name);
  const bool stale = node.stale;  // it stays in the list of those
  node = {};
  node.stale = stale;
  free_rows_.push_back(row);
}

void MemberTotals::mark_stale(uint32_t row) {
  if (!std::exchange(nodes_[row].stale, true)) stale_.push_back(row);
}

void MemberTotals::put_node(const Value& object) {
  const auto name = node_name(object["metadata"]["name"]);
  if (name.empty()) return;
  if (!fits(nodes_present_ < limits_.nodes || rows_by_name_.contains(std::string{name}))) return;
  const uint32_t row = node_row(name);
  Node& node = nodes_[row];
  node.round = nodes_round_;
  if (!std::exchange(node.present, true)) {
    ++changes_;
    ++nodes_present_;
    mark_stale(row);
  }
  const bool ready = condition_of(object, "Ready")["status"].as_string() == "True";
  if (std::exchange(node.ready, ready) != ready) {
    ++changes_;
    ready ? ++nodes_ready_ : --nodes_ready_;
  }
  const AmountSets::Entry* allocatable = sets_.acquire(resource_list_from(object["status"]["allocatable"]));
  if (allocatable != node.allocatable) {
    ++changes_;
    AmountSets::add(allocatable_, node.allocatable, -1);
    AmountSets::add(allocatable_, allocatable, 1);
    mark_stale(row);
  }
  sets_.release(std::exchange(node.allocatable, allocatable));
}

void MemberTotals::remove_node_row(uint32_t row) {
  Node& node = nodes_[row];
  if (!std::exchange(node.present, false)) return;
  ++changes_;
  --nodes_present_;
  if (std::exchange(node.ready, false)) --nodes_ready_;
  AmountSets::add(allocatable_, node.allocatable, -1);
  sets_.release(std::exchange(node.allocatable, nullptr));
  if (node.grade >= 0) --counts_[static_cast<size_t>(std::exchange(node.grade, -1))];
  drop_if_unused(row);
}

void MemberTotals::remove_node(const Value& object) {
  const auto found = rows_by_name_.find(std::string{node_name(object["metadata"]["name"])});
  if (found != rows_by_name_.end()) remove_node_row(found->second);
}

void MemberTotals::count(const Pod& pod, int sign) {
  ++changes_;
  if (pod.node == kNoNode) return AmountSets::add(allocating_, pod.requests, sign);
  AmountSets::add(allocated_, pod.requests, sign);
  Node& node = nodes_[pod.node];
  AmountSets::add(node.used, pod.requests, sign);
  sign > 0 ? ++node.pods : --node.pods;
  mark_stale(pod.node);
}

void MemberTotals::put_pod(const Value& object) {
  if (finished(object)) return remove_pod(object);
  const Hash128 key = pod_key(object);
  if (!fits(pods_.size() < limits_.pods || pods_.contains(key))) return;
  Pod now{sets_.acquire(pod_requests(object)), kNoNode, pods_round_};
  if (const auto name = node_name(object["spec"]["nodeName"]); !name.empty()) now.node = node_row(name);
  const auto [known, first] = pods_.try_emplace(key, now);
  if (first) return count(now, 1);
  known->second.round = pods_round_;
  if (known->second == now) return sets_.release(now.requests);  // one reference is enough
  count(now, 1);
  const Pod before = std::exchange(known->second, now);
  count(before, -1);
  sets_.release(before.requests);
  if (before.node != kNoNode) drop_if_unused(before.node);
}

void MemberTotals::remove_pod(const Value& object) {
  const auto found = pods_.find(pod_key(object));
  if (found == pods_.end()) return;
  const Pod gone = found->second;
  pods_.erase(found);
  count(gone, -1);
  sets_.release(gone.requests);
  if (gone.node != kNoNode) drop_if_unused(gone.node);
}

void MemberTotals::begin_nodes() {
  ++nodes_round_;
  exceeded_ = false;
}

void MemberTotals::end_nodes() {
  for (uint32_t row = 0; row < nodes_.size(); ++row) {
    if (nodes_[row].present && nodes_[row].round != nodes_round_) remove_node_row(row);
  }
}

void MemberTotals::begin_pods() {
  ++pods_round_;
  exceeded_ = false;
}

void MemberTotals::end_pods() {
  for (auto at = pods_.begin(); at != pods_.end();) {
    if (at->second.round == pods_round_) {
      ++at;
      continue;
    }
    const Pod gone = at->second;
    at = pods_.erase(at);
    count(gone, -1);
    sets_.release(gone.requests);
    if (gone.node != kNoNode) drop_if_unused(gone.node);
  }
}

Value MemberTotals::node_summary() const {
  return Value::object({{"totalNum", nodes_present_}, {"readyNum", nodes_ready_}});
}

Value MemberTotals::resource_summary(const Value& models) {
  Value summary = Value::object();
  for (const auto& [name, amounts] : {std::pair<const char*, const Amounts*>{"allocatable", &allocatable_},
                                      std::pair<const char*, const Amounts*>{"allocated", &allocated_},
                                      std::pair<const char*, const Amounts*>{"allocating", &allocating_}}) {
    Value value = to_value(sets_.positive(*amounts));
    if (!value.is_empty()) summary.set(name, std::move(value));
  }
  take_models(models);
  if (models.size() == 0) return summary;
  grade_stale_nodes();
  Value list = Value::array();
  for (size_t grade = 0; grade < models.size(); ++grade) {
    list.push_back(Value::object({{"grade", models[grade]["grade"]}, {"count", counts_[grade]}}));
  }
  summary.set("allocatableModelings", std::move(list));
  return summary;
}

void MemberTotals::take_models(const Value& models) {
  if (models == models_) return;
  models_ = models;
  modelled_.clear();
  ranges_.assign(models.size(), {});
  counts_.assign(models.size(), 0);
  for (size_t grade = 0; grade < models.size(); ++grade) {
    for (const Value& range : models[grade]["ranges"].items()) {
      const std::string name = range["name"].str();
      auto resource = std::ranges::find(modelled_, name);
      if (resource == modelled_.end()) resource = modelled_.insert(resource, name);
      const ResourceList least = resource_list_from(Value::object({{name, range["min"]}}));
      const auto amount = least.find(name);
      ranges_[grade].push_back({static_cast<size_t>(resource - modelled_.begin()),
                                amount == least.end() ? std::nullopt : std::optional{amount->second.whole_milli()}});
    }
  }
  for (uint32_t row = 0; row < nodes_.size(); ++row) {
    nodes_[row].grade = -1;
    mark_stale(row);
  }
}

void MemberTotals::grade_stale_nodes() {
  std::vector<std::optional<size_t>> numbers;
  for (const std::string& name : modelled_) numbers.push_back(sets_.find(name));
  const auto pods_number = sets_.find(kPods);
  for (const uint32_t row : std::exchange(stale_, {})) {
    Node& node = nodes_[row];
    node.stale = false;
    const int32_t grade = node.present ? grade_of(node, numbers, pods_number) : -1;
    if (node.grade >= 0) --counts_[static_cast<size_t>(node.grade)];
    if (grade >= 0) ++counts_[static_cast<size_t>(grade)];
    node.grade = grade;
  }
}

/// S-69: the last grade of which the node has at least the least, of each resource that is modelled; the lowest counts.
/// -1: of some resource it has less than nothing, or no place for a pod.
int32_t MemberTotals::grade_of(const Node& node, const std::vector<std::optional<size_t>>& numbers,
                               std::optional<size_t> pods_number) const {
  Amounts free;
  AmountSets::add(free, node.allocatable, 1);
  if (free.size() < node.used.size()) free.resize(node.used.size());
  for (size_t number = 0; number < node.used.size(); ++number) free[number] -= node.used[number];
  if (at(free, pods_number) <= 0) return -1;
  std::vector<int32_t> grades(modelled_.size(), -1);
  for (size_t grade = 0; grade < ranges_.size(); ++grade) {
    for (const Range& range : ranges_[grade]) {
      const Int amount = at(free, numbers[range.resource]);
      if (amount < 0) return -1;
      if (range.least && *range.least <= amount) grades[range.resource] = static_cast<int32_t>(grade);
    }
  }
  int32_t lowest = -1;
  for (const int32_t grade : grades) {
    if (grade >= 0 && (lowest < 0 || grade < lowest)) lowest = grade;
  }
  return lowest;
}

}  // namespace shiplog::collector
