#include "services/http/joined_streams.h"

#include <array>
#include <atomic>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include "services/http/input_buffer.h"
#include "services/http/network_error.h"
#include "services/http/strand.h"
#include "services/http/transport.h"
#include "services/http/upgraded_stream.h"

namespace shiplog {
namespace {

constexpr Millis kJoinedWriteTimeout{30'000};

struct Joined : std::enable_shared_from_this<Joined> {
  Joined(std::shared_ptr<ByteStream> a, std::shared_ptr<ByteStream> b, std::function<void()> at_end)
      : one{std::move(a)}, other{std::move(b)}, ended{std::move(at_end)} {}

  void pass(const std::shared_ptr<ByteStream>& from, const std::shared_ptr<ByteStream>& to) {
    from->read([self = shared_from_this(), from, to](Result<std::string> bytes) {
      if (!bytes || bytes.value().empty()) return self->end();
      to->write(std::move(bytes).value(),
                [self, from, to](const Result<void>& written) { written ? self->pass(from, to) : self->end(); });
    });
  }

  void end() {
    if (over.exchange(true)) return;
    one->close();
    other->close();
    if (ended) ended();
  }

  const std::shared_ptr<ByteStream> one, other;
  const std::function<void()> ended;
  std::atomic<bool> over{false};
};

/// A connection that is being made, on its strand.
struct Connecting : std::enable_shared_from_this<Connecting> {
  explicit Connecting(IoThreads& io) : strand{io}, transport{std::make_unique<net::Transport>(strand)}, timer{strand} {}

  void finish(Result<void> connected) {
    if (done == nullptr) return;
    timer.cancel();
    const auto then = std::exchange(done, nullptr);
    if (!connected) {
      transport->close();
      return then(connected.error());
    }
    then(upgraded_stream(strand, std::move(transport), InputBuffer{}, kJoinedWriteTimeout, [] {}));
  }

  net::Strand strand;
  std::unique_ptr<net::Transport> transport;
  net::Timer timer;
  std::function<void(Result<std::shared_ptr<ByteStream>>)> done;
};

}  // namespace

void join_streams(std::shared_ptr<ByteStream> one, std::shared_ptr<ByteStream> other, std::string first,
                  std::function<void()> ended) {
  const auto joined = std::make_shared<Joined>(std::move(one), std::move(other), std::move(ended));
  joined->pass(joined->one, joined->other);
  if (first.empty()) return joined->pass(joined->other, joined->one);
  joined->one->write(std::move(first), [joined](const Result<void>& written) {
    written ? joined->pass(joined->other, joined->one) : joined->end();
  });
}

void connect_stream(const std::shared_ptr<IoThreads>& io, const std::string& host, const std::string& port,
                    std::shared_ptr<const Networks> denied, Millis timeout,
                    std::function<void(Result<std::shared_ptr<ByteStream>>)> done) {
  const auto connecting = std::make_shared<Connecting>(*io);
  connecting->done = std::move(done);
  connecting->strand.post([connecting, host, port, denied = std::move(denied), timeout] {
    connecting->timer.arm(timeout, [weak = std::weak_ptr{connecting}, host, timeout] {
      if (const auto late = weak.lock()) {
        late->finish(Error{ErrorCode::kTimeout,
                           "connecting to " + host + " took longer than " + std::to_string(timeout.value) + " ms"});
      }
    });
    connecting->transport->connect(host, port, denied,
                                   [connecting](const Result<void>& connected) { connecting->finish(connected); });
  });
}

Result<int> socket_for(IoThreads& io, std::shared_ptr<ByteStream> stream, std::string first,
                       std::function<void()> ended) {
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) {
    return Error{ErrorCode::kIo, "no pair of sockets can be made: " + net::network_error(errno).message};
  }
  const net::Strand strand{io};
  // The transport is used on its strand only.
  strand.post([strand, socket = pair[1], stream = std::move(stream), first = std::move(first),
               ended = std::move(ended)]() mutable {
    auto transport = std::make_unique<net::Transport>(strand);
    if (!transport->adopt(socket)) {
      ::close(socket);
      stream->close();
      if (ended) ended();
      return;
    }
    auto own = upgraded_stream(strand, std::move(transport), InputBuffer{}, kJoinedWriteTimeout, [] {});
    join_streams(std::move(own), std::move(stream), std::move(first), std::move(ended));
  });
  return pair[0];
}

}  // namespace shiplog
