#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "events/base/hash.h"
#include "events/base/quantity.h"
#include "events/base/value.h"
#include "events/state/quota.h"

namespace shiplog::collector {

/// Sets of amounts, each stored once however many nodes and pods have it: the pods of one workload request the same.
class AmountSets {
 public:
  /// Encoded amounts, and how many rows refer to them. The address is stable.
  using Entry = std::pair<const std::string, uint32_t>;

  /// nullptr: nothing is left of the list, which may be because there are too many different names.
  const Entry* acquire(const ResourceList& list);
  void release(const Entry* entry);

  /// amounts[number of the resource] += or -= what the entry has.
  static void add(std::vector<Quantity::Int>& amounts, const Entry* entry, int sign);
  /// The number of a resource; nullopt: no entry has it.
  std::optional<size_t> find(std::string_view name) const;
  /// With names, without amounts of 0 and below.
  ResourceList positive(const std::vector<Quantity::Int>& amounts) const;
  size_t bytes() const { return bytes_; }

 private:
  struct Name {
    std::string text;  // empty: the number is free
    uint32_t entries = 0;
  };
  std::optional<uint8_t> number_for(std::string_view name);

  std::vector<Name> names_;
  std::unordered_map<std::string, uint32_t> entries_;
  size_t bytes_ = 0;
};

/// Nodes and pods of a member, of which no more is kept than what is summed up, and the sums (CL-22 to CL-24), which
/// follow every change of a row. A pod takes 64 bytes, and about as many more if no other one requests the same. Pure.
class MemberTotals {
 public:
  /// Kubernetes' own limits for a large cluster, doubled, and what rows may take in memory.
  struct Limits {
    size_t nodes = 10'000;
    size_t pods = 300'000;
    size_t bytes = size_t{64} << 20U;
  };
  MemberTotals() : MemberTotals{Limits{}} {}
  explicit MemberTotals(const Limits& limits) : limits_{limits} {}

  void put_node(const Value& node);
  void remove_node(const Value& node);
  void put_pod(const Value& pod);
  void remove_pod(const Value& pod);

  /// A list of all nodes, or of all pods, begins: what is not put until it ends does not exist any more.
  void begin_nodes();
  void end_nodes();
  void begin_pods();
  void end_pods();

  /// No row was left out because there are too many. A list that begins forgets it.
  bool complete() const { return !exceeded_; }
  size_t nodes() const { return nodes_present_; }
  size_t pods() const { return pods_.size(); }
  size_t bytes() const;
  /// Grows whenever something is put or removed.
  uint64_t changes() const { return changes_; }

  /// CL-22: {totalNum, readyNum}.
  Value node_summary() const;
  /// CL-23: {allocatable, allocated, allocating}, and with `models` (spec.resourceModels) allocatableModelings (CL-24):
  /// how many nodes there are of each grade. A node without a free place for a pod is not counted; upstream then leaves
  /// out all nodes that are listed behind it, too (CL-25). Evaluates the nodes that have changed since the last call.
  Value resource_summary(const Value& models);

 private:
  using Amounts = std::vector<Quantity::Int>;  // by the number of the resource
  struct Node {
    std::string name;  // empty: the row is free
    const AmountSets::Entry* allocatable = nullptr;
    Amounts used;
    uint32_t pods = 0;   // that name it: it may be listed after them, or be gone before them
    uint32_t round = 0;  // of the list that had it last
    int32_t grade = -1;
    bool present = false;
    bool ready = false;
    bool stale = false;  // its grade
  };
  struct Pod {
    const AmountSets::Entry* requests = nullptr;
    uint32_t node = kNoNode;
    uint32_t round = 0;
    bool operator==(const Pod&) const = default;
  };
  struct PodKeyHash {
    size_t operator()(const Hash128& key) const { return key.lo; }
  };
  static constexpr uint32_t kNoNode = UINT32_MAX;

  /// One range of a model: the resource, as an index of `modelled_`, and its minimum.
  struct Range {
    size_t resource = 0;
    std::optional<Quantity::Int> least;
  };

  uint32_t node_row(std::string_view name);
  void drop_if_unused(uint32_t row);
  void remove_node_row(uint32_t row);
  void count(const Pod& pod, int sign);
  bool fits(bool fits_in_number);
  void mark_stale(uint32_t row);
  void take_models(const Value& models);
  void grade_stale_nodes();
  int32_t grade_of(const Node& node, const std::vector<std::optional<size_t>>& numbers,
                   std::optional<size_t> pods_number) const;

  const Limits limits_;
  uint64_t changes_ = 0;
  bool exceeded_ = false;
  AmountSets sets_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> free_rows_;
  std::unordered_map<std::string, uint32_t> rows_by_name_;
  std::unordered_map<Hash128, Pod, PodKeyHash> pods_;  // by namespace and name
  uint32_t nodes_round_ = 0, pods_round_ = 0;
  size_t nodes_present_ = 0, nodes_ready_ = 0;
  Amounts allocatable_, allocated_, allocating_;

  Value models_;
  std::vector<std::string> modelled_;       // resources
  std::vector<std::vector<Range>> ranges_;  // by grade
  std::vector<int64_t> counts_;             // nodes by grade
  std::vector<uint32_t> stale_;
};

}  // namespace shiplog::collector
