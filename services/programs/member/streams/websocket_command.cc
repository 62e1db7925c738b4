#include "services/programs/member/streams/websocket_command.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "services/http/websocket/handshake.h"
#include "services/http/websocket/message_stream.h"

namespace shiplog::member {
namespace {

constexpr size_t kLongestCommandMessage = 1024 * 1024;
constexpr size_t kMostHeld = 256 * 1024;  // of input that the command has not read
/// About what a container runtime takes to start a program. kubectl before 1.34 prints "Unknown stream id 1, discarding
/// message" and loses what arrives right after the handshake (kubernetes/kubernetes#131189).
constexpr Millis kStartDelay{50};

enum class Channel : uint8_t { kIn = 0, kOut = 1, kErrorOut = 2, kOutcome = 3, kResize = 4, kCloseSignal = 255 };

struct Protocol {
  const char* name;
  bool base64;
  int version;
};
constexpr std::array<Protocol, 6> kWebSocketProtocols = {{{"v5.channel.k8s.io", false, 5},
                                                          {"v4.channel.k8s.io", false, 4},
                                                          {"v4.base64.channel.k8s.io", true, 4},
                                                          {"channel.k8s.io", false, 1},
                                                          {"base64.channel.k8s.io", true, 1},
                                                          {"", false, 1}}};

class WebSocketCommand final : public CommandStreams, public std::enable_shared_from_this<WebSocketCommand> {
 public:
  WebSocketCommand(std::shared_ptr<ByteStream> bytes, Protocol protocol, StreamChoice choice)
      : messages_{std::make_shared<websocket::MessageStream>(std::move(bytes), kLongestCommandMessage)},
        protocol_{protocol},
        choice_{choice},
        input_ended_{!choice.standard_in} {}

  void begin() {
    // As kubelet: an empty message tells the client that the streams are there.
    const Channel lowest = choice_.standard_out     ? Channel::kOut
                           : choice_.standard_error ? Channel::kErrorOut
                                                    : Channel::kOutcome;
    send(lowest, std::string_view{}, [](const Result<void>&) {});
    receive();
  }

  void read(Received received) override {
    received_ = std::move(received);
    deliver();
  }

  void write(Output output, std::string bytes, ByteStream::Done done) override {
    const bool error = output == Output::kStandardError && !choice_.tty;
    if (!(error ? choice_.standard_error : choice_.standard_out)) return done(ok());
    const Channel channel = error ? Channel::kErrorOut : Channel::kOut;
    for (; bytes.size() > kLongestPiece; bytes.erase(0, kLongestPiece)) {
      send(channel, std::string_view{bytes}.substr(0, kLongestPiece), [](const Result<void>&) {});
    }
    send(channel, bytes, std::move(done));
  }

  void finish(const Value& status) override {
    if (std::exchange(finished_, true)) return;
    const bool success = status["status"].as_string() == "Success";
    if (protocol_.version >= 4) {
      send(Channel::kOutcome, to_json(status), [](const Result<void>&) {});
    } else if (!success) {
      send(Channel::kOutcome, status["message"].as_string(), [](const Result<void>&) {});
    }
    messages_->close(websocket::CloseCode::kNormal);
    gone_ = nullptr;
    fail_read();
  }

  void on_gone(std::function<void()> gone) override { gone_ = std::move(gone); }

 private:
  void send(Channel channel, std::string_view bytes, ByteStream::Done done) {
    std::string payload(1, static_cast<char>(static_cast<int>(channel) + (protocol_.base64 ? '0' : 0)));
    if (protocol_.base64) {
      payload.append(base64_encode(bytes));
    } else {
      payload.append(bytes);
    }
    messages_->write(protocol_.base64 ? websocket::Opcode::kText : websocket::Opcode::kBinary, payload,
                     std::move(done));
  }

  void receive() {
    if (receiving_ || finished_ || held_.size() > kMostHeld) return;
    receiving_ = true;
    messages_->read([self = shared_from_this()](Result<std::optional<websocket::WebSocketMessage>> message) {
      self->receiving_ = false;
      if (self->finished_) return;
      if (!message || !message.value()) return self->lost();
      if (!self->take(message.value()->payload)) return self->lost();
      self->receive();
    });
  }

  /// False: the client broke the protocol.
  bool take(std::string_view message) {
    if (message.empty()) return true;
    auto channel = static_cast<unsigned char>(message.front());
    std::string payload{message.substr(1)};
    if (protocol_.base64) {
      auto decoded = base64_decode(payload);
      if (!decoded || channel < '0') {
        messages_->close(websocket::CloseCode::kProtocolError, "a message is no channel and base64");
        return false;
      }
      channel = static_cast<unsigned char>(channel - '0');
      payload = *std::move(decoded);
    }
    if (channel == static_cast<uint8_t>(Channel::kIn) && choice_.standard_in && !input_ended_) {
      held_ += payload;
    } else if (channel == static_cast<uint8_t>(Channel::kCloseSignal) && protocol_.version >= 5) {
      if (!payload.empty() && payload.front() == '\0') input_ended_ = true;
    }
    deliver();
    return true;
  }

  void deliver() {
    if (!received_) return;
    if (!held_.empty()) {
      std::exchange(received_, nullptr)(std::exchange(held_, {}));
      receive();
      return;
    }
    if (gone_already_) return fail_read();
    if (input_ended_) std::exchange(received_, nullptr)(std::string{});
  }

  void lost() {
    gone_already_ = true;
    messages_->close(websocket::CloseCode::kNormal);
    fail_read();
    if (const auto gone = std::exchange(gone_, nullptr)) gone();
  }

  void fail_read() {
    if (const auto received = std::exchange(received_, nullptr)) {
      received(Error{ErrorCode::kUnavailable, "the client has disconnected"});
    }
  }

  std::shared_ptr<websocket::MessageStream> messages_;
  Protocol protocol_;
  StreamChoice choice_;
  std::string held_;
  Received received_;
  std::function<void()> gone_;
  bool input_ended_;
  bool receiving_ = false;
  bool finished_ = false;
  bool gone_already_ = false;
};

std::optional<Protocol> chosen_protocol(const HttpRequest& request) {
  auto offered = websocket::offered_protocols(request);
  if (offered.empty()) offered.emplace_back();
  for (const std::string& name : offered) {
    const auto found =
        std::ranges::find_if(kWebSocketProtocols, [&](const Protocol& each) { return each.name == name; });
    if (found != kWebSocketProtocols.end()) return *found;
  }
  return std::nullopt;
}

}  // namespace

void open_websocket_command(const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer,
                            StreamChoice choice, Executor& executor, CommandReady ready) {
  const auto protocol = chosen_protocol(request);
  auto headers = protocol ? websocket::accept_upgrade(request, protocol->name)
                          : Result<HttpHeaders>{Error{ErrorCode::kBadRequest,
                                                      "requested protocol(s) are not supported: supported are "
                                                      "v5.channel.k8s.io, v4.channel.k8s.io, channel.k8s.io, "
                                                      "v4.base64.channel.k8s.io and base64.channel.k8s.io"}};
  if (!headers) {
    refuse_upgrade(*writer, headers.error().message);
    return ready(headers.error());
  }
  writer->upgrade(std::move(headers).value(), [protocol = *protocol, choice, &executor,
                                               ready = std::move(ready)](Result<std::shared_ptr<ByteStream>> stream) {
    executor.post_after(kStartDelay, [protocol, choice, &executor, ready, stream = std::move(stream)] {
      if (!stream) return ready(stream.error());
      const auto command = std::make_shared<WebSocketCommand>(on_executor(stream.value(), executor), protocol, choice);
      ready(std::shared_ptr<CommandStreams>{command});
      command->begin();
    });
  });
}

}  // namespace shiplog::member
