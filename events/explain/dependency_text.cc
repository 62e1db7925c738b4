#include "events/explain/fact_texts.h"

namespace shiplog::explain {
namespace {

std::string counted(int64_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

std::string text(const DependenciesFound& fact, const Explanation&) {
  return fact.kind + " " + fact.name + " refers to " + counted(fact.count, "object");
}

std::string text(const DependencyFound& fact, const Explanation&) {
  return fact.kind + " " + (fact.ns.empty() ? "" : fact.ns + "/") +
         (fact.name.empty() ? "labelled " + fact.label_selector : fact.name) +
         (fact.propagated ? "" : ": not propagated, it is in another namespace");
}

std::string text(const DependencyAttached& fact, const Explanation&) {
  return fact.kind + " " + fact.name + " follows " + counted(fact.bindings, "binding");
}

std::string text(const ReferrerFollowed& fact, const Explanation&) {
  std::string clusters;
  for (const std::string& cluster : fact.clusters) clusters += " " + cluster;
  return fact.ns + "/" + fact.name + (fact.added ? ": followed from now on," : ": followed, now") +
         (clusters.empty() ? " nowhere yet" : " at" + clusters);
}

std::string text(const ReferrerReleased& fact, const Explanation&) {
  return fact.ns + "/" + fact.name + ": released, it no longer refers to this or no longer propagates what it does";
}

// Upstream's, as in its Event (B-34).
std::string text(const DependencyPolicyConflict& fact, const Explanation&) {
  std::string conflict = "Dependency policy conflict detected: ";
  if (fact.conflict_resolution) conflict += "ConflictResolution conflicted (Overwrite vs Abort)";
  if (fact.conflict_resolution && fact.preserve_resources_on_deletion) conflict += "; ";
  if (fact.preserve_resources_on_deletion) conflict += "PreserveResourcesOnDeletion conflicted (true vs false)";
  return conflict + ".";
}

}  // namespace shiplog::explain
