#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "events/state/binding.h"
#include "events/state/cluster.h"

namespace shiplog::scheduler {

/// What a node of a grade is assumed to have room for.
inline constexpr int64_t kPodsOfANode = 110;

/// CPU is divided in thousandths, all else in whole units, both sides rounded up.
inline bool divided_in_milli(const std::string& resource) { return resource == "cpu"; }

/// The nodes of a cluster according to its grades: each has the least of its grade and no pods yet. Pods are put on
/// them first fit (M-5), which changes them.
class VirtualNodes {
 public:
  explicit VirtualNodes(const std::vector<Cluster::Grade>& grades);

  /// Puts the component's replicas on the nodes in order, on each as many as fit. False: not all found a place; those
  /// that did stay.
  bool place(const Component& component);
  /// All of them, in order, up to the first that does not find its place.
  bool place_set(const std::vector<Component>& components);
  /// How many whole sets can be placed one after the other, at most so many.
  int64_t sets(const std::vector<Component>& components, int64_t most);
  /// How many pods with this request still fit, node by node.
  int64_t pods(const ResourceList& request) const;

 private:
  using Amounts = std::map<std::string, int64_t>;
  struct Run {  // of equal nodes, one beside the other
    int64_t nodes = 0;
    int64_t pods = 0;  // that still fit on each
    Amounts free;
  };
  struct SetPart {  // of a set: so many pods with this request
    Amounts request;
    int64_t replicas = 0;
  };
  static Amounts amounts_of(const ResourceList& request);
  static int64_t fits(const Run& run, const Amounts& request);
  static void take(Run& run, const Amounts& request, int64_t pods);
  bool place(const Amounts& request, int64_t replicas);
  static bool of_no_use(const Run& run, const std::vector<SetPart>& parts);
  int64_t fill_first(const std::vector<SetPart>& parts, int64_t most);

  std::vector<Run> runs_;
};

}  // namespace shiplog::scheduler
