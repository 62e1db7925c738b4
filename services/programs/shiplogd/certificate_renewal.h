#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "services/runtime/executor.h"

namespace shiplog {

/// Certificates that a process has made for itself are good for a year, and it may run longer. It looks every ten
/// seconds whether one of them is to be renewed (needs_renewal() in services/http/tls.h).
/// Threads: made and destroyed on any, but not while the executor's thread waits for that.
class CertificateRenewal {
 public:
  /// Makes those that are to be renewed and puts them to use; returns all, as PEM. On a thread of its own, as it waits
  /// for files. It is called again after an hour at the earliest; an error is logged.
  using Renew = std::function<Result<std::vector<std::string>>()>;

  /// `certificates`: those in use, as PEM. `executor`, whose time counts, outlives this.
  CertificateRenewal(Executor& executor, const std::vector<std::string>& certificates, Renew renew);
  /// Waits for a renewal that is under way.
  ~CertificateRenewal();
  bool under_way() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace shiplog
