#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "events/base/value.h"
#include "services/http/http.h"
#include "tests/support/process.h"

namespace shiplog::e2e {

/// One HTTP answer. Status 0: there was none, and `error` has the cause.
struct Answer {
  int status = 0;
  HttpHeaders headers;
  std::string body;
  Value json;  ///< of the body, when it is JSON
  std::string error;
  /// Of a metav1.Status.
  std::string reason() const { return json["reason"].str(); }
  std::string message() const { return json["message"].str(); }
};
std::ostream& operator<<(std::ostream& stream, const Answer& answer);

/// A watch that is under way; events are in the order of the stream.
class WatchStream {
 public:
  virtual ~WatchStream() = default;
  /// Everything so far.
  virtual std::vector<Value> events() const = 0;
  virtual bool ended() const = 0;
  /// Waits until at least so many events have arrived.
  bool wait_for(size_t count, std::chrono::milliseconds patience = kPatience) const;
};

/// The HTTP API of one server, one request at a time; every call waits for its answer. Threads: any.
class ApiClient {
 public:
  /// Fails the test when the kubeconfig cannot be read.
  explicit ApiClient(const std::string& kubeconfig);
  ~ApiClient();

  /// `target` as on the request line, percent-encoded.
  Answer call(const std::string& method, const std::string& target, std::string body = {}, HttpHeaders headers = {},
              std::chrono::milliseconds patience = std::chrono::seconds{30}) const;
  Answer get(const std::string& target, const std::string& accept = "application/json") const;
  Answer post(const std::string& target, const Value& object) const;
  Answer put(const std::string& target, const Value& object) const;
  /// `type`: "json", "merge", "strategic-merge".
  Answer patch(const std::string& target, const std::string& type, const Value& patch) const;
  Answer remove(const std::string& target) const;
  std::unique_ptr<WatchStream> watch(const std::string& target, const std::string& accept = "application/json") const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// JSON from a literal in a test; the test fails when it is none.
Value json(std::string_view text);

}  // namespace shiplog::e2e
