#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "services/http/tls.h"

namespace shiplog::bench {

/// What Beast's own streams and coroutines cost: a server of two threads that answers each request with 200 and
/// `body`. The baseline that services/http is compared with.
class BeastServer {
 public:
  /// `certificate` without content: plain HTTP.
  BeastServer(const KeyPair& certificate, std::string body);
  ~BeastServer();
  BeastServer(const BeastServer&) = delete;
  BeastServer& operator=(const BeastServer&) = delete;
  uint16_t port() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog::bench
