#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "services/http/input_buffer.h"
#include "services/http/message_parser.h"
#include "services/http/server.h"
#include "services/http/transport.h"

/// One client's connection to the server. Internal to services/http.
namespace shiplog {

class HttpConnection;

/// What all connections of a server share.
struct ServerState {
  HttpServer::Options options;
  HttpServer::Handler handler;

  std::atomic<size_t> in_flight{0};
  std::atomic<size_t> streams{0};
  std::atomic<uint64_t> accepted{0};
  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> refused{0};

  std::mutex mutex;
  net::TlsContext tls;  // guarded by mutex; nullptr: plain
  std::condition_variable emptied;
  std::map<HttpConnection*, std::weak_ptr<HttpConnection>> connections;
  std::map<std::string, size_t> by_address;  // connections now
  std::atomic<bool> stopping{false};

  net::TlsContext current_tls();
  /// False: there are too many, in all or from its address, or the server is stopping.
  bool enter(const std::shared_ptr<HttpConnection>& connection);
  void leave(HttpConnection* connection);
  void trouble(const HttpPeer& peer, const Error& error) const;
};

/// Drawn once; every function below states in which phase it runs.
///
///   handshake ──▶ idle ──first byte──▶ header ──▶ body ──complete──▶ handling ──answer written──▶ idle
///       │          │                     │         │                    │              └─no keep-alive─▶ closed
///       (gently) └──────────┴── timeout, EOF ─────┴─────────┴── refused ──▶ refusing ──▶ closed (gently)
///
/// From handling, a 101 leads to upgraded: the transport is the ByteStream's until that is closed.
///
/// A handshake begins with the client's first byte; the time for it runs from the start.
/// One read is always under way (but for a full buffer): while handling it notices that the client has closed, and
/// keeps pipelined requests. Everything runs on the connection's strand.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(std::shared_ptr<ServerState> server, net::Strand strand, std::unique_ptr<net::Transport> transport);

  void start();
  /// From any thread: finish what is being handled, then close.
  void stop();
  /// From any thread: close now.
  void kill();

  const net::Strand& strand() const { return strand_; }
  const std::string& address() const { return address_; }

  // Calls of the ResponseWriter of exchange number `exchange`. Late calls, for an older exchange, do nothing.
  void send(uint64_t exchange, HttpResponse response);
  void start_stream(uint64_t exchange, int status, HttpHeaders headers);
  void write_chunk(uint64_t exchange, std::string chunk, ResponseWriter::Done done);
  void end_stream(uint64_t exchange);
  void when_closed(uint64_t exchange, std::function<void()> callback);
  void upgrade(uint64_t exchange, HttpHeaders headers, ResponseWriter::Upgraded then);
  void abandoned(uint64_t exchange);

 private:
  enum class Phase { kHandshake, kIdle, kHeader, kBody, kHandling, kRefusing, kUpgraded, kClosed };
  using Instant = std::chrono::steady_clock::time_point;
  struct Piece {
    std::string bytes;
    ResponseWriter::Done done;
  };

  void handshake();
  void next_request();
  void read();
  void receive();
  void received(size_t count);
  void parse();
  bool header_received();
  void handle();
  HttpResponse refusal(const HttpRequest& request, int status, const std::string& message);
  void refuse(int status, const std::string& message);

  std::string head(int status, const HttpHeaders& headers, const std::string& framing) const;
  void enqueue(std::string bytes, ResponseWriter::Done done);
  void pump();
  void write_on();
  void written();
  void answered();
  void hand_over(const ResponseWriter::Upgraded& then);
  void upgrade_closed();

  void tick();
  void expired();
  void release_counts();
  void notify_closed();
  void finish_gently();
  void lose(const Error& error);
  void leave();

  std::shared_ptr<ServerState> server_;
  net::Strand strand_;
  std::unique_ptr<net::Transport> transport_;
  net::Timer timer_;
  Millis tick_;
  Phase phase_ = Phase::kHandshake;
  HttpPeer peer_;
  const std::string address_;  // as it was counted
  bool keep_alive_ = true;
  bool stopping_ = false;
  std::optional<Instant> read_deadline_;
  std::optional<Instant> answer_deadline_;  // for the handler
  std::optional<Instant> write_deadline_;

  InputBuffer input_;
  bool input_full_ = false;  // the last read took all that there was room for
  bool reading_ = false;
  std::unique_ptr<RequestParser> parser_;

  // The request being answered.
  uint64_t exchange_ = 0;
  bool head_request_ = false;
  bool http11_ = true;
  bool counted_ = false;    // in server_->in_flight
  bool streaming_ = false;  // start() was called; counted in server_->streams
  bool chunked_ = false;
  bool complete_ = false;  // the answer's last piece is queued
  std::function<void()> on_close_;
  std::shared_ptr<std::atomic<bool>> over_;  // what the writer's closed() reads

  std::deque<Piece> output_;
  std::string writing_;  // what the socket is being given
  size_t written_ = 0;
  size_t granted_ = 0;  // of these bytes, when the deadline was set
  std::vector<ResponseWriter::Done> writing_done_;
  bool write_pending_ = false;
  std::weak_ptr<ByteStream> upgraded_;
};

}  // namespace shiplog
