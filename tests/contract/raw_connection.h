#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tests/support/process.h"

namespace shiplog::e2e {

/// A TLS connection that says whatever it is told to: for requests that no client would send.
class RawConnection {
 public:
  /// With the administrator's certificate. Fails the test when there is no connection.
  explicit RawConnection(const std::string& kubeconfig);
  ~RawConnection();

  /// False: the server has broken off.
  bool send(std::string_view bytes);
  /// What the server says until it closes the connection, or until `enough` has come.
  std::string read_until(std::string_view enough, std::chrono::milliseconds patience = kPatience);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog::e2e
