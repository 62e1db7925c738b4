#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "services/http/client.h"
#include "services/http/server.h"
#include "services/http/tls.h"

/// Real sockets on loopback for the tests of this folder.
namespace shiplog::testing {

/// A value that another thread delivers. get() waits for it, at most 20 s.
template <class T>
class Awaited {
 public:
  void set(T value) {
    const std::lock_guard lock{mutex_};
    value_ = std::move(value);
    changed_.notify_all();
  }
  std::optional<T> get() {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, std::chrono::seconds{20}, [this] { return value_.has_value(); });
    return value_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<T> value_;
};

/// Waits until `condition` holds, at most a minute: for what other threads count.
template <class Condition>
bool eventually(Condition condition) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock{mutex};
  for (int i = 0; i < 12'000; ++i) {
    if (condition()) return true;
    never.wait_for(lock, std::chrono::milliseconds{5});
  }
  return condition();
}

/// A plain blocking TCP client that can misbehave.
class RawClient {
 public:
  /// `from`: an address of this host, 127.0.0.2 for example; nullptr: any.
  explicit RawClient(uint16_t port, int receive_buffer_bytes = 0, const char* from = nullptr);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  /// False when the other side has closed.
  bool send(std::string_view bytes);
  /// Up to and with `end`, or all there is before the other side closes (or 20 s pass).
  std::string read_until(std::string_view end);
  std::string read_to_end() { return read_until({}); }
  /// Whether there was one more byte to take.
  bool take_a_byte();
  /// One answer with Content-Length.
  std::string read_answer();
  void close();

 private:
  int fd_ = -1;
  std::string pending_;
};

/// One authority with a server certificate for 127.0.0.1 and localhost; made once, as keys cost time.
struct TestCertificates {
  KeyPair authority;
  KeyPair server;
  KeyPair client;  ///< CN=alice, O=dev, O=ops
  static const TestCertificates& get();
};

UtcMillis test_now();

/// Options with the test certificates.
HttpServer::Options tls_options();
/// A target for a server with the test certificates.
ClientTarget tls_target(const HttpServer& server);

Result<HttpResponse> ask(HttpClient& client, HttpRequest request, Millis timeout = Millis{20'000});

}  // namespace shiplog::testing
