#include "services/http/upgraded_stream.h"

#include <deque>
#include <utility>

namespace shiplog {
namespace {

constexpr size_t kReadBytes = 32 * 1024;
constexpr Millis kLinger{2'000};

const Error kClosed{ErrorCode::kUnavailable, "the connection was closed"};

/// Everything on the strand.
class UpgradedConnection : public std::enable_shared_from_this<UpgradedConnection> {
 public:
  UpgradedConnection(const net::Strand& strand, std::unique_ptr<net::Transport> transport, InputBuffer received,
                     Millis write_timeout, std::function<void()> closed)
      : strand_{strand},
        transport_{std::move(transport)},
        input_{std::move(received)},
        timer_{strand},
        write_timeout_{write_timeout},
        on_closed_{std::move(closed)} {}

  const net::Strand& strand() const { return strand_; }

  void read(ByteStream::Received received) {
    if (closed_ || received_) return received(closed_ ? kClosed : Error{ErrorCode::kInternal, "a read is under way"});
    received_ = std::move(received);
    if (!input_.empty()) return deliver();
    wait_for_input();
  }

  void write(std::string bytes, ByteStream::Done done) {
    if (closed_ || closing_ || finishing_) return done(kClosed);
    output_.push_back({std::move(bytes), std::move(done)});
    if (!writing_) write_on();
  }

  void close() {
    if (closed_ || closing_) return;
    closing_ = true;
    if (!writing_) end_gently();
  }

  void finish() {
    if (closed_ || closing_ || finishing_) return;
    finishing_ = true;
    if (!writing_) transport_->finish_sending();
  }

 private:
  struct Chunk {
    std::string bytes;
    ByteStream::Done done;
  };

  void wait_for_input() {
    transport_->when_readable([self = shared_from_this()](const Result<void>& readable) {
      if (self->closed_) return;
      if (!readable) return self->fail(readable.error());
      self->receive();
    });
  }

  void receive() {
    const size_t space = input_.reserve(kReadBytes);
    const auto count = transport_->try_read(input_.space(), space);
    if (!count) return fail(count.error());
    if (!count.value()) return wait_for_input();
    input_.received(*count.value());
    deliver();
  }

  void deliver() {
    std::string bytes{input_.unread()};
    input_.release();
    std::exchange(received_, nullptr)(std::move(bytes));
  }

  void write_on() {
    writing_ = true;
    while (!closed_ && !output_.empty()) {
      const std::string& bytes = output_.front().bytes;
      while (written_ < bytes.size()) {
        const auto count = transport_->try_write(bytes.data() + written_, bytes.size() - written_);
        if (!count) return fail(count.error());
        if (!count.value()) return wait_for_output();
        written_ += *count.value();
      }
      timer_.cancel();
      written_ = 0;
      const ByteStream::Done done = std::move(output_.front().done);
      output_.pop_front();
      done(ok());
    }
    writing_ = false;
    if (closing_) return end_gently();
    if (finishing_ && !closed_) transport_->finish_sending();
  }

  void wait_for_output() {
    timer_.arm(write_timeout_, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self) self->fail(Error{ErrorCode::kTimeout, "the other side does not take what is sent"});
    });
    transport_->when_writable([self = shared_from_this()](const Result<void>& writable) {
      if (self->closed_) return;
      if (!writable) return self->fail(writable.error());
      self->write_on();
    });
  }

  void end_gently() {
    if (closed_) return;
    transport_->close_gently(kLinger);
    end(kClosed);
  }

  void fail(const Error& error) {
    if (closed_) return;
    transport_->close();
    end(error);
  }

  void end(const Error& error) {
    closed_ = true;
    timer_.cancel();
    const auto unsent = std::exchange(output_, {});
    const auto received = std::exchange(received_, nullptr);
    if (received) received(error);
    for (const Chunk& chunk : unsent) chunk.done(error);
    if (const auto closed = std::exchange(on_closed_, nullptr)) closed();
  }

  net::Strand strand_;
  std::unique_ptr<net::Transport> transport_;
  InputBuffer input_;
  net::Timer timer_;
  Millis write_timeout_;
  std::function<void()> on_closed_;
  ByteStream::Received received_;
  std::deque<Chunk> output_;
  size_t written_ = 0;  // of the first chunk
  bool writing_ = false;
  bool closing_ = false;    // once everything is written
  bool finishing_ = false;  // the same, for sending only
  bool closed_ = false;
};

/// Hands calls of any thread over to the strand.
class UpgradedStream final : public ByteStream {
 public:
  explicit UpgradedStream(std::shared_ptr<UpgradedConnection> connection) : connection_{std::move(connection)} {}
  ~UpgradedStream() override {
    const net::Strand strand = connection_->strand();
    strand.post([connection = std::move(connection_)] { connection->close(); });
  }
  UpgradedStream(const UpgradedStream&) = delete;
  UpgradedStream& operator=(const UpgradedStream&) = delete;

  void read(Received received) override {
    connection_->strand().post([connection = connection_, received = std::move(received)]() mutable {
      connection->read(std::move(received));
    });
  }
  void write(std::string bytes, Done done) override {
    connection_->strand().post([connection = connection_, bytes = std::move(bytes), done = std::move(done)]() mutable {
      connection->write(std::move(bytes), std::move(done));
    });
  }
  void finish() override {
    connection_->strand().post([connection = connection_] { connection->finish(); });
  }
  void close() override {
    connection_->strand().post([connection = connection_] { connection->close(); });
  }

 private:
  std::shared_ptr<UpgradedConnection> connection_;
};

}  // namespace

std::shared_ptr<ByteStream> upgraded_stream(const net::Strand& strand, std::unique_ptr<net::Transport> transport,
                                            InputBuffer received, Millis write_timeout, std::function<void()> closed) {
  return std::make_shared<UpgradedStream>(std::make_shared<UpgradedConnection>(
      strand, std::move(transport), std::move(received), write_timeout, std::move(closed)));
}

}  // namespace shiplog
