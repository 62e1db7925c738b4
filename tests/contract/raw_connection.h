#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tests/support/process.h"

namespace shiplog::e2e {

/// A TLS connection that sends arbitrary bytes, for requests that no client would send.
class RawConnection {
 public:
  /// With the administrator's certificate. Fails the test if it cannot connect.
  explicit RawConnection(const std::string& kubeconfig);
  ~RawConnection();

  /// False if the server has closed the connection.
  bool send(std::string_view bytes);
  /// The bytes that the server sends until it closes the connection, or up to and including `end`.
  std::string read_until(std::string_view end, std::chrono::milliseconds patience = kPatience);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog::e2e
