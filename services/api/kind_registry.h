#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "events/kinds/kinds.h"
#include "services/runtime/replica.h"

namespace shiplog::api {

/// Kinds that are evaluated, not stored: only create is served.
inline bool is_review(const Kind& kind) {
  return kind.builtin && (kind.group == "authentication.k8s.io" || kind.group == "authorization.k8s.io");
}

/// Kinds whose objects are computed when they are read: only get and list are served (ServerOptions::metrics).
inline bool is_metrics(const Kind& kind) {
  return kind.group == "metrics.k8s.io" && (kind.kind == "NodeMetrics" || kind.kind == "PodMetrics");
}

/// Whether the objects of a collection can be deleted in one request. Namespaces cannot, as in kube-apiserver.
inline bool can_delete_collection(const Kind& kind) { return kind.type() != "namespaces"; }

/// `kinds` and what a CustomResourceDefinition defines, under the names that were accepted; without it, if it is not
/// established (CRD-3). Error: it cannot be read.
Result<Kinds> with_definition(const Kinds& kinds, const Value& crd);

/// The warnings for requests about the deprecated versions of a CustomResourceDefinition, by version.
std::map<std::string, std::string> deprecations_of(const Value& crd);

/// The kinds that are served now: those compiled in and what the CustomResourceDefinitions in the state define.
/// Threads: current() from any; the rest on the executor.
class KindRegistry final : public Observer {
 public:
  explicit KindRegistry(const Kinds& compiled);

  std::shared_ptr<const Kinds> current() const;
  /// Those that no definition defines.
  const Kinds& compiled() const { return compiled_; }
  /// Its definition is being deleted: existing objects may be read and deleted, none may be created (CRD-13).
  bool terminating(const std::string& type) const;

  /// The warning for requests about a version that its definition calls deprecated (CRD-15), or Kubernetes; "":
  /// neither.
  std::string deprecation_of(const Kind& kind) const;

  /// Takes in the definitions a restored state holds.
  void load(const State& state);
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

 private:
  void take(const Value& crd);
  void publish(Kinds kinds);
  void warn_of_deprecations(const std::string& type, const std::map<std::string, std::string>& warnings);

  const Kinds compiled_;
  /// What the kinds of a definition were made from, by its name. Nothing else of it changes them.
  struct Taken {
    Value spec;
    Value names;  // by which they are served
    bool served = true;
    bool operator==(const Taken&) const = default;
  };
  std::map<std::string, Taken> taken_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Kinds> current_;
  std::set<std::string> terminating_;
  std::map<std::string, std::string> deprecations_;  // by the type and version of the kind
};

}  // namespace shiplog::api
