#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "events/base/result.h"
#include "services/http/transport.h"

/// Internal to services/http.
namespace shiplog::net {

/// Accepts connections, each on a strand of its own.
class Listener {
 public:
  using Accepted = std::function<void(Strand, std::unique_ptr<Transport>)>;

  /// Port 0 takes a free one. Error: kIo, naming the address and why.
  static Result<std::unique_ptr<Listener>> open(IoThreads& io, const std::string& host, uint16_t port);
  ~Listener();

  uint16_t port() const;
  /// Calls back on the new connection's strand, or any thread of `io` when that is the same.
  void start(Accepted accepted);
  void close();

 private:
  struct Impl;
  explicit Listener(std::shared_ptr<Impl> impl) : impl_{std::move(impl)} {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace shiplog::net
