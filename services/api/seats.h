#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "services/http/server.h"

namespace shiplog::api {

/// Who may use how much of a server at once. A request takes a seat and keeps it until its client has taken the whole
/// answer or is gone; a watch keeps one as long as it runs. Of each kind one user gets at most half, so that whoever
/// floods the server, or asks and never reads, is refused while others find room. Threads: any.
class Seats {
 public:
  enum class Use { kRead, kWrite, kWatch };

  struct Limits {
    size_t reads = 400;   ///< kube-apiserver's --max-requests-inflight
    size_t writes = 200;  ///< kube-apiserver's --max-mutating-requests-inflight
    size_t watches = 10'000;
    /// Bytes of answers that one user has asked for and not taken yet; beyond it, further requests are refused.
    size_t untaken_bytes = 64U << 20U;
  };

  class Seat {
   public:
    virtual ~Seat() = default;
    /// The answer has this many bytes, which the client has yet to take.
    virtual void owe(size_t bytes) = 0;
  };

  explicit Seats(const Limits& limits);

  /// nullptr: there is none, or none for this user.
  std::shared_ptr<Seat> take(const std::string& user, Use use);

 private:
  struct State;
  class Taken;
  std::shared_ptr<State> state_;
};

/// `writer`, which gives back the seat once the answer has been taken; of another use than kWatch, a stream gives it
/// back when it starts.
std::shared_ptr<ResponseWriter> seated(std::shared_ptr<ResponseWriter> writer, std::shared_ptr<Seats::Seat> seat,
                                       Seats::Use use);

}  // namespace shiplog::api
