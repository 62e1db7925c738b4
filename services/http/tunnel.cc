#include "services/http/tunnel.h"

#include <utility>

#include "services/http/joined_streams.h"
#include "services/http/strand.h"

namespace shiplog {
namespace {

constexpr char kPing = 'p';
constexpr char kGo = 'g';
constexpr char kRefused = 'x';
constexpr size_t kMostReason = 300;
constexpr Millis kConnectTimeout{5'000};

/// Everything on the strand.
class WaitingConnection final : public WaitingTunnel, public std::enable_shared_from_this<WaitingConnection> {
 public:
  WaitingConnection(const std::shared_ptr<IoThreads>& io, std::shared_ptr<ByteStream> stream,
                    std::function<void()> gone, const TunnelTiming& timing)
      : io_{io}, strand_{*io}, stream_{std::move(stream)}, gone_{std::move(gone)}, timing_{timing}, timer_{strand_} {}

  void begin() {
    strand_.post([self = shared_from_this()] {
      self->ping_later();
      self->read();
    });
  }

  void take(Millis timeout, std::function<void(Result<int>)> then) override {
    strand_.post([self = shared_from_this(), timeout, then = std::move(then)]() mutable {
      if (self->ended_ || self->then_) return then(Error{ErrorCode::kUnavailable, "the tunnel has ended"});
      self->then_ = std::move(then);
      self->gone_ = nullptr;
      self->timer_.arm(timeout, [weak = self->weak_from_this(), timeout] {
        if (const auto late = weak.lock()) {
          late->end(
              {ErrorCode::kTimeout, "no answer through the tunnel within " + std::to_string(timeout.value) + " ms"});
        }
      });
      self->send(kGo);
    });
  }

  void close() override {
    strand_.post([self = shared_from_this()] { self->end({ErrorCode::kUnavailable, "the tunnel was closed"}); });
  }

 private:
  void send(char message) {
    stream_->write(std::string(1, message), [weak = weak_from_this()](const Result<void>& written) {
      const auto self = weak.lock();
      if (self && !written) self->strand_.post([self, error = written.error()] { self->end(error); });
    });
  }

  void ping_later() {
    timer_.arm(timing_.ping_every, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self == nullptr || self->then_) return;
      self->send(kPing);
      self->timer_.arm(self->timing_.ping_answer, [weak] {
        if (const auto late = weak.lock()) late->end({ErrorCode::kTimeout, "the tunnel does not answer"});
      });
    });
  }

  void read() {
    stream_->read([self = shared_from_this()](Result<std::string> bytes) {
      self->strand_.post([self, bytes = std::move(bytes)]() mutable { self->receive(std::move(bytes)); });
    });
  }

  void receive(Result<std::string> bytes) {
    if (ended_) return;
    if (!bytes || bytes.value().empty()) {
      return end(bytes ? Error{ErrorCode::kUnavailable,
                               reason_.empty() ? "the other end has closed the tunnel" : "at the other end: " + reason_}
                       : bytes.error());
    }
    const std::string& received = bytes.value();
    for (size_t at = 0; at < received.size(); ++at) {
      const char message = received[at];
      if (refused_) {
        if (reason_.size() < kMostReason) reason_ += message >= ' ' && message <= '~' ? message : '?';
      } else if (message == kPing) {
        if (!then_) ping_later();
      } else if (message == kGo && then_) {
        return hand_over(received.substr(at + 1));
      } else if (message == kRefused && then_) {
        refused_ = true;
      } else {
        return end({ErrorCode::kUnavailable, "the other end does not speak the tunnel's protocol"});
      }
    }
    read();
  }

  void hand_over(std::string first) {
    ended_ = true;
    timer_.cancel();
    const auto then = std::exchange(then_, nullptr);
    then(socket_for(*io_, std::move(stream_), std::move(first), [] {}));
  }

  void end(const Error& error) {
    if (ended_) return;
    ended_ = true;
    timer_.cancel();
    stream_->close();
    const auto then = std::exchange(then_, nullptr);
    const auto gone = std::exchange(gone_, nullptr);
    if (then) then(error);
    if (gone) gone();
  }

  const std::shared_ptr<IoThreads> io_;
  const net::Strand strand_;
  std::shared_ptr<ByteStream> stream_;
  std::function<void()> gone_;
  const TunnelTiming timing_;
  net::Timer timer_;
  std::function<void(Result<int>)> then_;  // it is taken
  bool ended_ = false;
  bool refused_ = false;
  std::string reason_;
};

/// Everything on the strand.
class Serving : public std::enable_shared_from_this<Serving> {
 public:
  Serving(const std::shared_ptr<IoThreads>& io, std::shared_ptr<ByteStream> stream, TunnelTarget target,
          std::function<void()> taken, std::function<void()> ended, Millis longest_silence)
      : io_{io},
        strand_{*io},
        stream_{std::move(stream)},
        target_{std::move(target)},
        taken_{std::move(taken)},
        ended_{std::move(ended)},
        longest_silence_{longest_silence},
        timer_{strand_} {}

  void begin() {
    strand_.post([self = shared_from_this()] { self->wait(); });
  }

 private:
  void wait() {
    timer_.arm(longest_silence_, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->end();
    });
    stream_->read([self = shared_from_this()](Result<std::string> bytes) {
      self->strand_.post([self, bytes = std::move(bytes)] { self->receive(bytes); });
    });
  }

  void receive(const Result<std::string>& bytes) {
    if (over_) return;
    if (!bytes || bytes.value().empty()) return end();
    const std::string& received = bytes.value();
    for (size_t at = 0; at < received.size(); ++at) {
      if (received[at] == kPing) {
        stream_->write(std::string(1, kPing), [](const Result<void>&) {});
      } else if (received[at] == kGo) {
        return connect(received.substr(at + 1));
      } else {
        return end();
      }
    }
    wait();
  }

  void connect(std::string first) {
    timer_.cancel();
    if (taken_) std::exchange(taken_, nullptr)();
    connect_stream(io_, target_.host, target_.port, nullptr, kConnectTimeout,
                   [self = shared_from_this(), first = std::move(first)](Result<std::shared_ptr<ByteStream>> made) {
                     self->strand_.post([self, first, made = std::move(made)]() mutable {
                       self->connected(std::move(first), std::move(made));
                     });
                   });
  }

  void connected(std::string first, Result<std::shared_ptr<ByteStream>> made) {
    if (over_) return;
    if (!made) {
      stream_->write(kRefused + made.error().message.substr(0, kMostReason), [](const Result<void>&) {});
      return end();
    }
    over_ = true;
    stream_->write(std::string(1, kGo), [](const Result<void>&) {});
    join_streams(std::move(made).value(), std::move(stream_), std::move(first), std::exchange(ended_, nullptr));
  }

  void end() {
    if (over_) return;
    over_ = true;
    timer_.cancel();
    stream_->close();
    if (ended_) std::exchange(ended_, nullptr)();
  }

  const std::shared_ptr<IoThreads> io_;
  const net::Strand strand_;
  std::shared_ptr<ByteStream> stream_;
  const TunnelTarget target_;
  std::function<void()> taken_, ended_;
  const Millis longest_silence_;
  net::Timer timer_;
  bool over_ = false;
};

}  // namespace

std::shared_ptr<WaitingTunnel> WaitingTunnel::start(const std::shared_ptr<IoThreads>& io,
                                                    std::shared_ptr<ByteStream> stream, std::function<void()> gone,
                                                    const TunnelTiming& timing) {
  auto tunnel = std::make_shared<WaitingConnection>(io, std::move(stream), std::move(gone), timing);
  tunnel->begin();
  return tunnel;
}

void serve_tunnel(const std::shared_ptr<IoThreads>& io, std::shared_ptr<ByteStream> stream, TunnelTarget target,
                  std::function<void()> taken, std::function<void()> ended, Millis longest_silence) {
  std::make_shared<Serving>(io, std::move(stream), std::move(target), std::move(taken), std::move(ended),
                            longest_silence)
      ->begin();
}

}  // namespace shiplog
