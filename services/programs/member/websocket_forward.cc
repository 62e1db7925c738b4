#include "services/programs/member/websocket_forward.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "events/base/base64.h"
#include "services/http/websocket/handshake.h"
#include "services/http/websocket/message_stream.h"
#include "services/programs/member/streams/command_streams.h"

namespace shiplog::member {
namespace {

constexpr size_t kLongestChannelMessage = 64 * 1024;
constexpr size_t kMostPorts = 32;

class ChannelForward final : public PodSession, public std::enable_shared_from_this<ChannelForward> {
 public:
  ChannelForward(PodSessions& sessions, ForwardedPod pod, const std::vector<int64_t>& ports, bool base64)
      : sessions_{sessions}, pod_{std::move(pod)}, base64_{base64} {
    for (const int64_t port : ports) ports_.push_back({port, {}, false});
  }

  void begin(std::shared_ptr<ByteStream> bytes) {
    if (!sessions_.enter(pod_.uid, shared_from_this())) return bytes->close();
    messages_ = std::make_shared<websocket::MessageStream>(std::move(bytes), kLongestChannelMessage);
    for (size_t index = 0; index < ports_.size(); ++index) {
      const auto number = static_cast<unsigned>(ports_[index].number);
      const std::string name{static_cast<char>(number & 0xffU), static_cast<char>(number >> 8U)};
      send(2 * index, name);
      send(2 * index + 1, name);
      if (!pod_.ports.contains(ports_[index].number)) {
        send(2 * index + 1, refused_port(pod_, ports_[index].number));
        ports_[index].answered = true;
      }
    }
    receive();
  }

  void end() override { close(); }

 private:
  struct Port {
    int64_t number;
    std::string request;
    bool answered;
  };

  void send(size_t channel, std::string_view bytes) {
    std::string payload(1, static_cast<char>(base64_ ? '0' + channel : channel));
    if (base64_) {
      payload.append(base64_encode(bytes));
    } else {
      payload.append(bytes);
    }
    messages_->write(base64_ ? websocket::Opcode::kText : websocket::Opcode::kBinary, payload,
                     [](const Result<void>&) {});
  }

  void receive() {
    messages_->read([self = shared_from_this()](Result<std::optional<websocket::WebSocketMessage>> message) {
      if (!message || !message.value()) return self->close();
      self->take(message.value()->payload);
      self->receive();
    });
  }

  void take(std::string_view message) {
    if (message.empty()) return;
    const auto first = static_cast<unsigned char>(message.front());
    const size_t channel = base64_ ? static_cast<size_t>(first) - '0' : first;
    std::string payload{message.substr(1)};
    if (base64_) payload = base64_decode(payload).value_or("");
    if (channel % 2 != 0 || channel / 2 >= ports_.size()) return;
    Port& port = ports_[channel / 2];
    if (port.answered || port.request.size() > kLongestHead) return;
    port.request += payload;
    const std::string answer = answer_of_port(pod_, port.number, port.request);
    if (answer.empty()) return;
    port.answered = true;
    send(channel, answer);
  }

  void close() {
    messages_->close(websocket::CloseCode::kNormal);
    sessions_.leave(pod_.uid, this);
  }

  PodSessions& sessions_;
  ForwardedPod pod_;
  bool base64_;
  std::vector<Port> ports_;
  std::shared_ptr<websocket::MessageStream> messages_;
};

/// nullopt: one is no port.
std::optional<std::vector<int64_t>> ports_of(const HttpRequest& request) {
  std::vector<int64_t> ports;
  for (const auto& [key, value] : request.query) {
    if (key != "ports" && key != "port") continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find(','));
      int64_t port = 0;
      const auto parsed = std::from_chars(word.data(), word.data() + word.size(), port);
      if (parsed.ec != std::errc{} || parsed.ptr != word.data() + word.size() || port < 1 || port > 65535) {
        return std::nullopt;
      }
      ports.push_back(port);
      if (ports.size() > kMostPorts) return std::nullopt;
      rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    }
  }
  return ports;
}

}  // namespace

void open_websocket_forward(const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer, ForwardedPod pod,
                            PodSessions& sessions) {
  const auto ports = ports_of(request);
  if (!ports || ports->empty()) {
    return refuse_upgrade(*writer, "query parameter \"ports\" must name 1 to " + std::to_string(kMostPorts) +
                                       " ports, each from 1 to 65535");
  }
  const auto offered = websocket::offered_protocols(request);
  std::optional<std::string> chosen;
  if (offered.empty()) chosen = "";
  for (const std::string& each : offered) {
    if (!chosen && (each == "v4.channel.k8s.io" || each == "v4.base64.channel.k8s.io")) chosen = each;
  }
  auto headers = chosen ? websocket::accept_upgrade(request, *chosen)
                        : Result<HttpHeaders>{Error{ErrorCode::kBadRequest,
                                                    "requested protocol(s) are not supported: supported are "
                                                    "SPDY/3.1+portforward.k8s.io, v4.channel.k8s.io and "
                                                    "v4.base64.channel.k8s.io"}};
  if (!headers) return refuse_upgrade(*writer, headers.error().message);
  writer->upgrade(std::move(headers).value(), [&sessions, pod = std::move(pod), ports = *ports,
                                               base64 = chosen->find("base64") !=
                                                        std::string::npos](Result<std::shared_ptr<ByteStream>> stream) {
    if (!stream) return;
    sessions.executor().post([&sessions, pod, ports, base64, stream = std::move(stream).value()] {
      std::make_shared<ChannelForward>(sessions, pod, ports, base64)->begin(on_executor(stream, sessions.executor()));
    });
  });
}

}  // namespace shiplog::member
