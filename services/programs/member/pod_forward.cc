#include "services/programs/member/pod_forward.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "services/http/spdy/session.h"
#include "services/http/websocket/handshake.h"
#include "services/http/websocket/message_stream.h"
#include "services/programs/member/streams/command_streams.h"
#include "services/programs/member/websocket_forward.h"

namespace shiplog::member {
namespace {

constexpr const char* kProtocol = "portforward.k8s.io";
constexpr const char* kTunnel = "SPDY/3.1+portforward.k8s.io";
constexpr size_t kLongestTunnelMessage = 1024 * 1024;
constexpr spdy::SessionLimits kForwardLimits{.streams = 128, .held_bytes = 1024 * 1024};

/// All forwarded connections of one client. A connection is a pair of streams, one for the data and one for an error,
/// which carry the same request id.
class ForwardSession final : public PodSession, public std::enable_shared_from_this<ForwardSession> {
 public:
  ForwardSession(PodSessions& sessions, ForwardedPod pod) : sessions_{sessions}, pod_{std::move(pod)} {}

  void begin(std::shared_ptr<ByteStream> bytes) {
    if (!sessions_.enter(pod_.uid, shared_from_this())) return bytes->close();
    session_ = spdy::SpdySession::start(
        std::move(bytes), kForwardLimits,
        [weak = weak_from_this()](const std::shared_ptr<spdy::SpdyStream>& stream) {
          const auto self = weak.lock();
          return self != nullptr && self->open(stream);
        },
        [weak = weak_from_this()](const Error&) {
          if (const auto self = weak.lock()) self->sessions_.leave(self->pod_.uid, self.get());
        });
  }

  void end() override { session_->close(); }

 private:
  using StreamPtr = std::shared_ptr<spdy::SpdyStream>;

  bool open(const StreamPtr& stream) {
    const std::string type{stream->headers().get("streamtype")};
    // Clients of before 2015 send no request id: their pairs are identified by the port.
    const std::string id =
        std::string{stream->headers().get("requestid", "port")} + "/" + std::string{stream->headers().get("port")};
    if (type == "error") return errors_.size() < kForwardLimits.streams && errors_.emplace(id, stream).second;
    if (type != "data") return false;
    const auto error = errors_.find(id);
    if (error == errors_.end()) return false;
    const StreamPtr error_stream = error->second;
    errors_.erase(error);
    const std::string_view text = stream->headers().get("port");
    int64_t port = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), port);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size() || port < 1 || port > 65535) return false;
    connect(stream, error_stream, port);
    return true;
  }

  void connect(const StreamPtr& data, const StreamPtr& error, int64_t port) {
    if (!pod_.ports.contains(port)) {
      error->write(refused_port(pod_, port), [](const Result<void>&) {});
      error->finish();
      return data->finish();
    }
    serve(data, error, port, {});
  }

  void serve(const StreamPtr& data, const StreamPtr& error, int64_t port, std::string request) {
    data->read([self = shared_from_this(), data, error, port,
                request = std::move(request)](Result<std::string> bytes) mutable {
      if (!bytes) return error->finish();
      request += bytes.value();
      const std::string answer = answer_of_port(self->pod_, port, request);
      if (answer.empty() && !bytes.value().empty() && request.size() < kLongestHead) {
        return self->serve(data, error, port, std::move(request));
      }
      const auto done = [self, data, error](const Result<void>&) {
        data->finish();
        error->finish();
        drain(data);
      };
      if (answer.empty()) return done(ok());
      data->write(answer, done);
    });
  }

  /// What else the client sends is dropped, so that it does not hold up its other streams.
  static void drain(const StreamPtr& data) {
    data->read([data](const Result<std::string>& bytes) {
      if (bytes && !bytes.value().empty()) drain(data);
    });
  }

  PodSessions& sessions_;
  ForwardedPod pod_;
  std::shared_ptr<spdy::SpdySession> session_;
  std::map<std::string, StreamPtr> errors_;  // whose data stream has not come yet
};

bool offers(const std::vector<std::string>& protocols, std::string_view wanted) {
  return std::ranges::find(protocols, wanted) != protocols.end();
}

}  // namespace

ForwardedPod forwarded_pod(const Value& pod) {
  ForwardedPod found{pod["metadata"]["uid"].str(),
                     pod["metadata"]["namespace"].str(),
                     pod["metadata"]["name"].str(),
                     pod["spec"]["nodeName"].str(),
                     {}};
  for (const Value& container : pod["spec"]["containers"].items()) {
    for (const Value& port : container["ports"].items()) {
      const std::string protocol = port["protocol"].str();
      if (protocol.empty() || protocol == "TCP") found.ports.insert(port["containerPort"].as_int());
    }
  }
  return found;
}

std::string answer_of_port(const ForwardedPod& pod, int64_t port, std::string_view request) {
  if (request.find("\r\n\r\n") == std::string_view::npos && request.find("\n\n") == std::string_view::npos) return {};
  const std::string body =
      "pod " + pod.ns + "/" + pod.name + " on node " + pod.node + ", port " + std::to_string(port) + "\n";
  return "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + (request.starts_with("HEAD ") ? "" : body);
}

std::string refused_port(const ForwardedPod& pod, int64_t port) {
  const std::string number = std::to_string(port);
  return "error forwarding port " + number + " to pod " + pod.name + ", uid " + pod.uid +
         ": failed to connect to localhost:" + number + ": dial tcp4 127.0.0.1:" + number +
         ": connect: connection refused (no container of the pod declares this port)";
}

void open_port_forward(const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer, ForwardedPod pod,
                       PodSessions& sessions) {
  const bool over_websocket = websocket::is_upgrade(request);
  const auto offered = over_websocket ? websocket::offered_protocols(request) : stream_protocols(request);
  if (over_websocket && !offers(offered, kTunnel)) {
    return open_websocket_forward(request, writer, std::move(pod), sessions);
  }
  if (!over_websocket && !is_spdy_upgrade(request)) return refuse_upgrade(*writer, "Upgrade request required");
  HttpHeaders headers{{"Upgrade", "SPDY/3.1"}};
  if (over_websocket) {
    auto accepted = websocket::accept_upgrade(request, kTunnel);
    if (!accepted) return refuse_upgrade(*writer, accepted.error().message);
    headers = std::move(accepted).value();
  } else if (!offered.empty()) {
    if (!offers(offered, kProtocol)) {
      return writer->send(
          {403,
           {{"Content-Type", "text/plain; charset=utf-8"}, {"X-Accepted-Stream-Protocol-Versions", kProtocol}},
           "unable to upgrade: the protocol in X-Stream-Protocol-Version must be portforward.k8s.io\n"});
    }
    headers.add("X-Stream-Protocol-Version", kProtocol);
  }
  writer->upgrade(std::move(headers), [&sessions, pod = std::move(pod),
                                       over_websocket](Result<std::shared_ptr<ByteStream>> stream) {
    if (!stream) return;
    sessions.executor().post([&sessions, pod, over_websocket, stream = std::move(stream).value()] {
      auto bytes = on_executor(stream, sessions.executor());
      if (over_websocket) {
        bytes = websocket::tunnel(std::make_shared<websocket::MessageStream>(std::move(bytes), kLongestTunnelMessage));
      }
      std::make_shared<ForwardSession>(sessions, pod)->begin(std::move(bytes));
    });
  });
}

}  // namespace shiplog::member
