#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/http/client.h"
#include "services/http/input_buffer.h"
#include "services/http/message_parser.h"
#include "services/http/transport.h"

/// One request of the client, and one connection that carries requests one after the other. All on the client's strand.
/// Internal to services/http.
namespace shiplog {

struct ProxyRoute;

/// Where a client connects to.
struct ClientEndpoint {
  std::string name;  ///< for errors: "https://host:6443"
  std::string host;
  std::string port;
  std::string authority;    ///< the Host header
  std::string path_prefix;  ///< "" or "/k8s/clusters/x"
  std::string server_name;  ///< expected in the certificate
  bool insecure = false;
  net::TlsContext tls;  ///< nullptr: plain
  std::shared_ptr<const Networks> denied_networks;
  HttpClient::Dial dial;                    ///< empty: it is connected to
  std::shared_ptr<const ProxyRoute> proxy;  ///< nullptr: connected directly
};

/// One request, from the call to its one answer.
struct ClientCall {
  explicit ClientCall(const net::Strand& strand) : timer{strand} {}

  std::string bytes;  ///< the request as it is sent
  bool head_request = false;
  bool repeatable = false;      ///< may be sent again after a kept connection turned out to be dead
  bool streaming = false;       ///< parts of the answer are passed on at once
  bool own_connection = false;  ///< not one of the pool
  bool finished = false;
  size_t max_response_bytes = 0;       ///< of what gathers of a body
  std::shared_ptr<ByteLease> lease;    ///< grows with it; nullptr: none
  HttpClient::OnResponse on_response;  ///< request()
  HttpClient::OnHead on_head;          ///< stream()
  HttpClient::OnData on_data;          ///< or on_part
  HttpClient::OnPart on_part;
  Millis idle_timeout{0};  ///< of a stream
  HttpClient::OnEnd on_end;
  HttpClient::OnUpgraded on_upgraded;  ///< upgrade()
  net::Timer timer;
  const char* waiting_for = "a free connection";  ///< for the message of a timeout

  /// Calls back, once.
  void fail(const Error& error);
  void succeed(HttpResponse response, std::shared_ptr<ByteStream> upgraded = nullptr);
};

class ClientConnection : public std::enable_shared_from_this<ClientConnection> {
 public:
  struct Owner {
    virtual ~Owner() = default;
    /// The call is over and the connection can carry the next one.
    virtual void ready(const std::shared_ptr<ClientConnection>& connection) = 0;
    /// The connection is of no more use. `again`: a call that should be tried on another connection; may be nullptr.
    virtual void gone(const std::shared_ptr<ClientConnection>& connection, std::shared_ptr<ClientCall> again) = 0;
  };

  ClientConnection(net::Strand strand, std::shared_ptr<const ClientEndpoint> endpoint, std::weak_ptr<Owner> owner,
                   bool for_stream);

  /// Connects, then carries `call`.
  void open(std::shared_ptr<ClientCall> call, Millis connect_timeout);
  /// Carries the next call on a connection that is ready().
  void carry(std::shared_ptr<ClientCall> call);
  /// Closes after `idle` without a call.
  void rest(Millis idle);
  /// Fails the call, if there is one, with `error`, and closes.
  void abort(const Error& error);

  bool for_stream() const { return for_stream_; }
  const std::shared_ptr<ClientCall>& call() const { return call_; }

 private:
  /// The one place where a connection to the server is made: through a proxy, by the client's Dial, or directly; then
  /// TLS.
  void reach_server();
  void dial();
  void connect();
  void reached(const Result<void>& done);
  void shake_hands();
  void connected();
  void write_on();
  void read();
  void receive();
  void parse();
  void deliver();
  void resume(const std::shared_ptr<ClientCall>& call);
  void limit_silence();
  bool within_budget();
  void answered();
  void hand_over();
  void ready();
  void look_at_rest(Millis after);
  void lost(const Error& error);
  void close(std::shared_ptr<ClientCall> again);

  net::Strand strand_;
  std::shared_ptr<const ClientEndpoint> endpoint_;
  std::weak_ptr<Owner> owner_;
  bool for_stream_;
  std::unique_ptr<net::Transport> transport_;
  using Steady = std::chrono::steady_clock;
  net::Timer timer_;                            // connecting, then resting
  Steady::time_point rests_until_ = {};         // unless a call comes
  std::optional<Steady::time_point> looks_at_;  // whether it has rested for long enough
  bool closed_ = false;
  bool used_before_ = false;
  bool reading_ = false;
  bool held_ = false;  // the call's reader has not asked for more yet
  std::shared_ptr<ClientCall> call_;
  size_t written_ = 0;
  bool writing_ = false;
  bool head_given_ = false;
  std::unique_ptr<ResponseParser> parser_;
  size_t leased_ = 0;  // of the answer that is being read
  InputBuffer input_;
};

}  // namespace shiplog
