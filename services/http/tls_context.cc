#include "services/http/tls_context.h"

#include <string_view>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "services/http/x509.h"

namespace shiplog {
namespace {

Result<net::TlsContext> new_context(const SSL_METHOD* method) {
  ::ERR_clear_error();
  net::TlsContext context{::SSL_CTX_new(method), &::SSL_CTX_free};
  if (!context) return x509::error();
  ::SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                           SSL_OP_CIPHER_SERVER_PREFERENCE);
  // Buffers are given back for the sake of thousands of idle watches; what is left of a partial write may have moved.
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context.get(), 1);  // a record in one system call instead of two
  // Sessions are not resumed: every connection verifies its certificates afresh.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  ::SSL_CTX_set_num_tickets(context.get(), 0);
  if (SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1 ||
      ::SSL_CTX_set_cipher_list(context.get(), "ECDHE+AESGCM:ECDHE+CHACHA20") != 1) {
    return x509::error();
  }
  return context;
}

Result<void> use_key_pair(SSL_CTX* context, const std::string& certificate_pem, const std::string& key_pem) {
  const x509::Bio certificates = x509::reader_of(certificate_pem);
  const x509::Certificate leaf = x509::next_certificate(certificates.get());
  if (!leaf) return Error{ErrorCode::kBadRequest, "the certificate is not PEM: " + x509::error_text()};
  if (::SSL_CTX_use_certificate(context, leaf.get()) != 1) {
    return Error{ErrorCode::kBadRequest, "the certificate cannot be used: " + x509::error_text()};
  }
  while (const x509::Certificate link = x509::next_certificate(certificates.get())) {
    SSL_CTX_add1_chain_cert(context, link.get());
  }
  ::ERR_clear_error();  // the chain's end shows as "no start line"
  const x509::PrivateKey key{
      ::PEM_read_bio_PrivateKey(x509::reader_of(key_pem).get(), nullptr, &x509::no_password, nullptr)};
  if (!key)
    return Error{ErrorCode::kBadRequest, "the private key is not PEM or needs a pass phrase: " + x509::error_text()};
  if (::SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    return Error{ErrorCode::kBadRequest, "the private key does not belong to the certificate: " + x509::error_text()};
  }
  return ok();
}

/// Trusts every certificate of `pem`; for a server also names them to clients, so that they know which to present.
Result<void> trust(SSL_CTX* context, const std::string& pem, bool announce) {
  const x509::Bio bio = x509::reader_of(pem);
  int count = 0;
  // What is listed is trusted, also an intermediate authority without its root: as Go's clients and servers do.
  ::X509_VERIFY_PARAM_set_flags(::SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
  while (const x509::Certificate authority = x509::next_certificate(bio.get())) {
    ::X509_STORE_add_cert(::SSL_CTX_get_cert_store(context), authority.get());
    if (announce) ::SSL_CTX_add_client_CA(context, authority.get());
    ++count;
  }
  if (count == 0) return Error{ErrorCode::kBadRequest, "the certificate authority is not PEM: " + x509::error_text()};
  ::ERR_clear_error();
  return ok();
}

/// We speak HTTP/1.1. A client that offers only something else is left to find out by itself.
int select_alpn(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* in, unsigned int in_size,
                void*) {
  const std::string_view offered{reinterpret_cast<const char*>(in), in_size};
  for (size_t position = 0; position < offered.size();) {
    const auto size = static_cast<unsigned char>(offered[position]);
    if (offered.substr(position + 1, size) == "http/1.1") {
      *out = in + position + 1;
      *out_size = size;
      return SSL_TLSEXT_ERR_OK;
    }
    position += size_t{1} + size;
  }
  return SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

Result<net::TlsContext> server_tls(const std::string& certificate_pem, const std::string& key_pem,
                                   const std::string& client_ca_pem) {
  SHIPLOG_TRY(auto context, new_context(::TLS_server_method()));
  SHIPLOG_TRY(use_key_pair(context.get(), certificate_pem, key_pem));
  ::SSL_CTX_set_alpn_select_cb(context.get(), &select_alpn, nullptr);
  if (!client_ca_pem.empty()) {
    SHIPLOG_TRY(trust(context.get(), client_ca_pem, true));
    // An unknown certificate does not end the handshake: its client counts as one without a certificate, and may
    // have a token. Who counts as certified is decided by SSL_get_verify_result, which keeps what went wrong.
    ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, [](int, X509_STORE_CTX*) { return 1; });
  }
  return context;
}

Result<net::TlsContext> client_tls(const ClientTarget& target) {
  SHIPLOG_TRY(auto context, new_context(::TLS_client_method()));
  if (target.tls13 && SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) != 1) return x509::error();
  static constexpr unsigned char kAlpn[] = "\x08http/1.1";
  ::SSL_CTX_set_alpn_protos(context.get(), kAlpn, sizeof kAlpn - 1);
  if (!target.insecure && target.ca_pem.empty()) ::SSL_CTX_set_default_verify_paths(context.get());
  if (!target.ca_pem.empty()) {
    SHIPLOG_TRY(trust(context.get(), target.ca_pem, false));
  }
  if (target.certificate_pem.empty() != target.key_pem.empty()) {
    return Error{ErrorCode::kBadRequest, "a client certificate needs its key, and a key its certificate"};
  }
  if (!target.certificate_pem.empty()) {
    SHIPLOG_TRY(use_key_pair(context.get(), target.certificate_pem, target.key_pem));
  }
  return context;
}

}  // namespace shiplog
