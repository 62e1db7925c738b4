#include "services/api/websocket_watch.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/http/websocket/frames.h"
#include "services/http/websocket/handshake.h"

namespace shiplog::api {
namespace {

using websocket::CloseCode;
using websocket::Opcode;

constexpr size_t kLongestReceived = 4096;  // clients of watches have nothing to say

std::string text_frames(std::string_view lines) {
  std::string frames;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    if (end > 0) frames += websocket::frame(Opcode::kText, lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return frames;
}

class WebSocketWatch final : public ResponseWriter, public std::enable_shared_from_this<WebSocketWatch> {
 public:
  WebSocketWatch(HttpHeaders handshake, std::shared_ptr<ResponseWriter> writer)
      : handshake_{std::move(handshake)}, writer_{std::move(writer)} {}

  void send(HttpResponse response) override { writer_->send(std::move(response)); }

  void start(int, HttpHeaders) override {
    writer_->upgrade(handshake_, [self = shared_from_this()](Result<std::shared_ptr<ByteStream>> stream) {
      self->upgraded(std::move(stream));
    });
  }

  void write(std::string chunk, Done done) override {
    std::unique_lock lock{mutex_};
    if (stream_ != nullptr && !closed_) {
      const auto stream = stream_;
      lock.unlock();
      return stream->write(text_frames(chunk), std::move(done));
    }
    if (!closed_) return waiting_.push_back({text_frames(chunk), std::move(done)});
    lock.unlock();
    done(Error{ErrorCode::kUnavailable, "the client has disconnected"});
  }

  void end() override {
    {
      const std::lock_guard lock{mutex_};
      ended_ = true;
      if (stream_ == nullptr) return;
    }
    close(CloseCode::kNormal);
  }

  void upgrade(HttpHeaders, Upgraded then) override {
    then(Error{ErrorCode::kInternal, "the connection is a WebSocket already"});
  }

  void on_close(std::function<void()> callback) override {
    {
      const std::lock_guard lock{mutex_};
      if (!closed_) {
        on_close_ = std::move(callback);
        return;
      }
    }
    callback();
  }

  bool closed() const override {
    const std::lock_guard lock{mutex_};
    return closed_;
  }

 private:
  struct Waiting {
    std::string frames;
    Done done;
  };

  void upgraded(Result<std::shared_ptr<ByteStream>> stream) {
    std::vector<Waiting> waiting;
    bool ended = false;
    {
      const std::lock_guard lock{mutex_};
      waiting.swap(waiting_);
      ended = ended_;
      if (stream) {
        stream_ = stream.value();
        // Under the lock: what is written from now on follows it.
        for (Waiting& each : waiting) stream_->write(std::move(each.frames), std::move(each.done));
      }
    }
    if (!stream) {
      for (const Waiting& each : waiting) each.done(stream.error());
      return gone();
    }
    if (ended) close(CloseCode::kNormal);
    read();
  }

  /// Until the client disconnects: that is how it ends a watch.
  void read() {
    stream_->read([self = shared_from_this()](Result<std::string> bytes) { self->received(std::move(bytes)); });
  }

  void received(Result<std::string> bytes) {
    if (!bytes || bytes.value().empty()) return gone();
    reader_.feed(bytes.value());
    while (true) {
      const auto message = reader_.next();
      if (!message) return close(CloseCode::kProtocolError), gone();
      if (!message.value()) return read();
      if (message.value()->opcode == Opcode::kClose) return close(CloseCode::kNormal), gone();
      if (message.value()->opcode != Opcode::kPing) continue;
      stream_->write(websocket::frame(Opcode::kPong, message.value()->payload), [](const Result<void>&) {});
    }
  }

  void close(CloseCode code) {
    if (closing_.exchange(true)) return;
    stream_->write(websocket::close_frame(code, ""), [](const Result<void>&) {});
    stream_->close();
  }

  void gone() {
    std::function<void()> callback;
    std::shared_ptr<ByteStream> stream;
    {
      const std::lock_guard lock{mutex_};
      if (std::exchange(closed_, true)) return;
      callback.swap(on_close_);
      stream = stream_;
    }
    if (stream != nullptr && !closing_.exchange(true)) stream->close();
    if (callback) callback();
  }

  const HttpHeaders handshake_;
  const std::shared_ptr<ResponseWriter> writer_;
  websocket::MessageReader reader_{kLongestReceived};  // of the stream's callbacks
  mutable std::mutex mutex_;
  std::shared_ptr<ByteStream> stream_;  // set once, before the first read
  std::vector<Waiting> waiting_;        // for the handshake
  std::function<void()> on_close_;
  bool ended_ = false, closed_ = false;
  std::atomic<bool> closing_ = false;
};

}  // namespace

Result<std::shared_ptr<ResponseWriter>> websocket_watch(const HttpRequest& request,
                                                        std::shared_ptr<ResponseWriter> writer) {
  const std::vector<std::string> offered = websocket::offered_protocols(request);
  SHIPLOG_TRY(HttpHeaders handshake, websocket::accept_upgrade(request, offered.size() == 1 ? offered[0] : ""));
  return std::make_shared<WebSocketWatch>(std::move(handshake), std::move(writer));
}

}  // namespace shiplog::api
