#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace shiplog::testing {

/// A proxy on loopback that users might have: HTTP CONNECT, plain or with TLS (the test certificates), and SOCKS 5. It
/// resolves localhost, and names below .test, which nothing else does, to this machine.
class TestProxy {
 public:
  struct Options {
    bool socks = false;
    bool tls = false;
    std::string user = {}, password = {};  ///< empty: anyone may use it
    std::string refusal = {};              ///< answered to every CONNECT instead: "HTTP/1.1 407 ...\r\n\r\n"
  };
  explicit TestProxy(Options options);
  ~TestProxy();
  TestProxy(const TestProxy&) = delete;
  TestProxy& operator=(const TestProxy&) = delete;

  uint16_t port() const { return port_; }
  std::string url() const;
  /// What clients sent before their tunnels: headers of CONNECT requests, destinations of SOCKS requests.
  std::vector<std::string> requests() const;

 private:
  class Tunnel;
  void accept();

  const Options options_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::vector<std::thread> tunnels_;
  std::thread acceptor_;
};

}  // namespace shiplog::testing
