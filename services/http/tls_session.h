#pragma once

#include <memory>
#include <optional>
#include <string>

#include "events/base/result.h"

struct ssl_st;      // OpenSSL's SSL
struct ssl_ctx_st;  // OpenSSL's SSL_CTX
struct x509_store_ctx_st;

/// Internal to services/http.
namespace shiplog::net {

/// TLS over a non-blocking socket. OpenSSL reads and writes the socket itself and gives its buffers back whenever they
/// are empty, so an idle session takes a few kilobytes; Asio's stream holds four buffers of 17 KB each (measured in
/// decision 0039).
class TlsSession {
 public:
  /// What an operation waits for before it can be tried again.
  enum class Wait { kNone, kReadable, kWritable };
  struct Step {
    Wait wait = Wait::kNone;
    size_t bytes = 0;  ///< read or written; 0 of a read: the peer has ended the session
  };

  /// `socket` is its file descriptor; close() must be called before that is closed.
  TlsSession(ssl_ctx_st* context, int socket);
  /// Runs inside of another session, which outlives it.
  TlsSession(ssl_ctx_st* context, TlsSession& carrier);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  void accept();
  /// Verifies the server's certificate for `name` (DNS name or IP address) unless `insecure`.
  void connect(const std::string& name, bool insecure);

  Result<Step> handshake();
  Result<Step> read(char* into, size_t size);
  Result<Step> write(const char* from, size_t size);
  /// Sends the notice that nothing more follows.
  Result<Step> shutdown();
  /// read() may return something without the socket being readable.
  bool holds_input() const;
  /// Every later operation fails.
  void close();

  ssl_st* native() const { return ssl_.get(); }

 private:
  explicit TlsSession(ssl_ctx_st* context);
  Result<void> begin() const;
  Result<Step> outcome(int result);
  static int verified(int good, x509_store_ctx_st* store);

  std::unique_ptr<ssl_st, void (*)(ssl_st*)> ssl_;
  TlsSession* carrier_ = nullptr;
  bool starved_ = false;  // the last read found only a part of a record
  bool closed_ = false;
  std::string server_name_;  // that the certificate is verified for
  std::string problem_;      // with the server's certificate
};

}  // namespace shiplog::net
