#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "services/api/pod_security/levels.h"
#include "services/runtime/replica.h"

namespace shiplog::api {

/// The policies of the namespaces that have labels of Pod Security. Kept up to date on the fold thread, so that a label
/// applies to every write at this server after it has answered that of the namespace.
/// Threads: load() and on_folded() on the executor; the rest on any.
class SecuredNamespaces final : public Observer {
 public:
  /// Takes in what a restored state holds.
  void load(const State& state);
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

  /// Privileged, if the namespace has no such label.
  PodSecurityPolicy policy_of(std::string_view ns) const;

 private:
  void take(const std::string& name, const Value& ns);

  mutable std::mutex mutex_;
  std::map<std::string, PodSecurityPolicy, std::less<>> policies_;
  std::atomic<bool> none_{true};
};

}  // namespace shiplog::api
