#include "services/http/tls_session.h"

#include <cerrno>
#include <string>

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include "events/base/check.h"
#include "events/base/system.h"
#include "services/http/network_error.h"
#include "services/http/x509.h"

namespace shiplog::net {
namespace {

// --- the socket, as OpenSSL sees it ------------------------------------------------------------------------------
// OpenSSL's own BIO writes without MSG_NOSIGNAL: a peer that has closed would end the process by SIGPIPE.

int socket_of(BIO* bio) { return static_cast<int>(reinterpret_cast<intptr_t>(::BIO_get_data(bio))); }

bool would_block(int number) { return number == EAGAIN || number == EWOULDBLOCK || number == EINTR; }

int send_bytes(BIO* bio, const char* from, int size) {
  ::BIO_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
  const ssize_t sent = ::send(socket_of(bio), from, static_cast<size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && would_block(errno)) ::BIO_set_flags(bio, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY);
  return static_cast<int>(sent);
}

int receive_bytes(BIO* bio, char* into, int size) {
  ::BIO_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
  const ssize_t received = ::recv(socket_of(bio), into, static_cast<size_t>(size), 0);
  if (received < 0 && would_block(errno)) ::BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY);
  if (received == 0) ::BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(received);
}

long control(BIO* bio, int command, long, void*) {
  switch (command) {
    case BIO_CTRL_FLUSH:
      return 1;
    case BIO_CTRL_EOF:
      return ::BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    default:
      return 0;
  }
}

// --- another session, as OpenSSL sees it -------------------------------------------------------------------------

TlsSession& session_of(BIO* bio) { return *static_cast<TlsSession*>(::BIO_get_data(bio)); }

int outcome_of(BIO* bio, const Result<TlsSession::Step>& step) {
  ::BIO_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
  if (!step) return -1;
  if (step.value().wait == TlsSession::Wait::kNone) return static_cast<int>(step.value().bytes);
  const int direction = step.value().wait == TlsSession::Wait::kReadable ? BIO_FLAGS_READ : BIO_FLAGS_WRITE;
  ::BIO_set_flags(bio, direction | BIO_FLAGS_SHOULD_RETRY);
  return -1;
}

int send_inside(BIO* bio, const char* from, int size) {
  return outcome_of(bio, session_of(bio).write(from, static_cast<size_t>(size)));
}

int receive_inside(BIO* bio, char* into, int size) {
  const int received = outcome_of(bio, session_of(bio).read(into, static_cast<size_t>(size)));
  if (received == 0) ::BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return received;
}

BIO_METHOD* new_method(const char* name, int (*write)(BIO*, const char*, int), int (*read)(BIO*, char*, int)) {
  BIO_METHOD* made = ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, name);
  SHIPLOG_CHECK(made != nullptr, "OpenSSL has memory for a BIO method");
  ::BIO_meth_set_write(made, write);
  ::BIO_meth_set_read(made, read);
  ::BIO_meth_set_ctrl(made, &control);
  return made;
}

BIO_METHOD* socket_method() {
  static BIO_METHOD* const method = new_method("socket without signals", &send_bytes, &receive_bytes);
  return method;
}

BIO_METHOD* carrier_method() {
  static BIO_METHOD* const method = new_method("TLS inside of TLS", &send_inside, &receive_inside);
  return method;
}

/// Takes over reading and writing of a session.
void attach(SSL* ssl, BIO_METHOD* method, void* data) {
  BIO* bio = ::BIO_new(method);
  SHIPLOG_CHECK(bio != nullptr, "OpenSSL has memory for a BIO");
  ::BIO_set_data(bio, data);
  ::BIO_set_init(bio, 1);
  ::SSL_set_bio(ssl, bio, bio);
}

// --- errors ------------------------------------------------------------------------------------------------------

/// TLS alerts by which a server refuses our certificate or the lack of one.
bool is_certificate_alert(int reason) {
  switch (reason) {
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return true;
    default:
      return false;
  }
}

Error tls_error(unsigned long code) {
  const int reason = ERR_GET_REASON(code);
  if (reason == SSL_R_UNEXPECTED_EOF_WHILE_READING) return closed_by_peer();
  const char* text = ::ERR_reason_error_string(code);
  const std::string what = text != nullptr ? text : "error " + std::to_string(code);
  if (is_certificate_alert(reason)) {
    return {ErrorCode::kUnavailable, "the other side refused our certificate: " + what};
  }
  if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST) {
    return {ErrorCode::kUnavailable, "the other side does not speak TLS: " + what};
  }
  return {ErrorCode::kUnavailable, "TLS: " + what};
}

std::string names_of(const CertificateInfo& info) {
  std::string names;
  for (const auto* group : {&info.dns_names, &info.ip_addresses}) {
    for (const std::string& name : *group) names += (names.empty() ? "" : ", ") + name;
  }
  return names.empty() ? "no name at all" : names;
}

/// Why a server's certificate failed verification.
std::string certificate_problem(int code, X509* certificate, const std::string& name) {
  const CertificateInfo info = certificate != nullptr ? x509::info_of(certificate) : CertificateInfo{};
  switch (code) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "the server's certificate is not valid for the name " + name + ", only for " + names_of(info);
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "the server's certificate has expired (" + info.subject + ", valid until " + rfc3339(info.not_after) + ")";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "the server's certificate is not valid before " + rfc3339(info.not_before) + " (" + info.subject + ")";
    default:
      return "the server's certificate is not trusted: " + std::string{::X509_verify_cert_error_string(code)} + " (" +
             info.subject + ", issued by " + info.issuer + ")";
  }
}

bool is_address(const std::string& name) {
  in6_addr ignored{};
  return ::inet_pton(AF_INET, name.c_str(), &ignored) == 1 || ::inet_pton(AF_INET6, name.c_str(), &ignored) == 1;
}

}  // namespace

TlsSession::TlsSession(ssl_ctx_st* context) : ssl_{::SSL_new(context), &::SSL_free} {
  SHIPLOG_CHECK(ssl_ != nullptr, "OpenSSL has memory for a session");
  // Certificates are judged at the time of this process: a clock that is set makes no member and no client a stranger.
  ::X509_VERIFY_PARAM_set_time(::SSL_get0_param(ssl_.get()), SystemClock{}.now().value / 1000);
}

TlsSession::TlsSession(ssl_ctx_st* context, int socket) : TlsSession{context} {
  attach(ssl_.get(), socket_method(), reinterpret_cast<void*>(static_cast<intptr_t>(socket)));
}

TlsSession::TlsSession(ssl_ctx_st* context, TlsSession& carrier) : TlsSession{context} {
  carrier_ = &carrier;
  attach(ssl_.get(), carrier_method(), &carrier);
}

TlsSession::~TlsSession() = default;

void TlsSession::accept() { ::SSL_set_accept_state(ssl_.get()); }

int TlsSession::verified(int good, X509_STORE_CTX* store) {
  const auto* ssl =
      static_cast<const SSL*>(::X509_STORE_CTX_get_ex_data(store, ::SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* self = static_cast<TlsSession*>(SSL_get_app_data(ssl));
  if (good == 0 && self->problem_.empty()) {
    self->problem_ = certificate_problem(::X509_STORE_CTX_get_error(store), ::X509_STORE_CTX_get_current_cert(store),
                                         self->server_name_);
  }
  return good;
}

void TlsSession::connect(const std::string& name, bool insecure) {
  SSL* ssl = ssl_.get();
  ::SSL_set_connect_state(ssl);
  const bool address = is_address(name);
  if (!address) SSL_set_tlsext_host_name(ssl, name.c_str());
  if (insecure) return ::SSL_set_verify(ssl, SSL_VERIFY_NONE, nullptr);
  X509_VERIFY_PARAM* expect = ::SSL_get0_param(ssl);
  ::X509_VERIFY_PARAM_set_hostflags(expect, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const int set = address ? ::X509_VERIFY_PARAM_set1_ip_asc(expect, name.c_str())
                          : ::X509_VERIFY_PARAM_set1_host(expect, name.c_str(), name.size());
  SHIPLOG_CHECK(set == 1, "OpenSSL takes the name that the certificate is checked against");
  server_name_ = name;
  SSL_set_app_data(ssl, this);
  ::SSL_set_verify(ssl, SSL_VERIFY_PEER, &TlsSession::verified);
}

/// What an OpenSSL call returned that was made with an empty error queue.
Result<TlsSession::Step> TlsSession::outcome(int result) {
  if (result > 0) return Step{Wait::kNone, static_cast<size_t>(result)};
  const int number = errno;
  switch (::SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return Step{Wait::kReadable, 0};
    case SSL_ERROR_WANT_WRITE:
      return Step{Wait::kWritable, 0};
    case SSL_ERROR_ZERO_RETURN:
      return Step{};
    case SSL_ERROR_SYSCALL:
      return number == 0 ? closed_by_peer() : network_error(number);
    default:
      return tls_error(::ERR_get_error());
  }
}

/// Before every call of OpenSSL, whose error queue and errno are the thread's.
Result<void> TlsSession::begin() const {
  // The number of a closed socket may already be another connection's.
  if (closed_) return Error{ErrorCode::kUnavailable, "the connection was closed"};
  ::ERR_clear_error();
  errno = 0;
  return ok();
}

Result<TlsSession::Step> TlsSession::handshake() {
  SHIPLOG_TRY(begin());
  auto step = outcome(::SSL_do_handshake(ssl_.get()));
  if (!step && !problem_.empty()) return Error{ErrorCode::kUnavailable, problem_};
  return step;
}

Result<TlsSession::Step> TlsSession::read(char* into, size_t size) {
  SHIPLOG_TRY(begin());
  auto step = outcome(::SSL_read(ssl_.get(), into, static_cast<int>(size)));
  starved_ = step && step.value().wait != Wait::kNone;
  return step;
}

Result<TlsSession::Step> TlsSession::write(const char* from, size_t size) {
  SHIPLOG_TRY(begin());
  return outcome(::SSL_write(ssl_.get(), from, static_cast<int>(size)));
}

Result<TlsSession::Step> TlsSession::shutdown() {
  SHIPLOG_TRY(begin());
  if (SSL_in_init(ssl_.get()) != 0) return Step{};
  const int result = ::SSL_shutdown(ssl_.get());
  if (result >= 0) return Step{};  // sent; whether the peer has answered is not waited for
  return outcome(result);
}

bool TlsSession::holds_input() const {
  if (!starved_ && ::SSL_has_pending(ssl_.get()) == 1) return true;
  return carrier_ != nullptr && carrier_->holds_input();
}

void TlsSession::close() {
  closed_ = true;
  if (carrier_ != nullptr) carrier_->close();
}

}  // namespace shiplog::net
