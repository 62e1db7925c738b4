#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "services/http/server.h"

namespace shiplog::api {

/// Limits the requests served at once. A request occupies a slot until its client has received the whole answer
/// or has disconnected; a watch occupies one as long as it runs. Of each use one user gets at most half, so that a
/// client that floods the server, or never reads its answers, is refused while others are served. Threads: any.
class ConcurrencyLimiter {
 public:
  enum class Use { kRead, kWrite, kWatch };

  struct Limits {
    size_t reads = 400;   ///< kube-apiserver's --max-requests-inflight
    size_t writes = 200;  ///< kube-apiserver's --max-mutating-requests-inflight
    size_t watches = 10'000;
    /// Bytes of answers that one user has requested and not received yet; beyond it, further requests are refused.
    size_t untaken_bytes = 64U << 20U;
  };

  class Slot {
   public:
    virtual ~Slot() = default;
    /// The answer has this many bytes, which the client has yet to take.
    virtual void owe(size_t bytes) = 0;
  };

  explicit ConcurrencyLimiter(const Limits& limits);

  /// nullptr: there is none, or none for this user.
  std::shared_ptr<Slot> take(const std::string& user, Use use);

 private:
  struct State;
  class Taken;
  std::shared_ptr<State> state_;
};

/// `writer`, which gives back the slot once the answer has been taken; of another use than kWatch, a stream gives it
/// back when it starts.
std::shared_ptr<ResponseWriter> with_slot(std::shared_ptr<ResponseWriter> writer,
                                          std::shared_ptr<ConcurrencyLimiter::Slot> slot, ConcurrencyLimiter::Use use);

}  // namespace shiplog::api
