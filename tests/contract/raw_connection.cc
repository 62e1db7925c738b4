#include "tests/contract/raw_connection.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "services/http/kubeconfig.h"

namespace shiplog::e2e {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

Bio bio(const std::string& text) { return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free}; }

ClientTarget administrator(const std::string& kubeconfig) {
  const auto config = read_kubeconfig({kubeconfig});
  EXPECT_TRUE(config);
  const auto context = context_of(config.value());
  EXPECT_TRUE(context);
  return context.value().target;
}

int connect_to(const std::string& url) {
  const size_t host = url.find("//") + 2;
  const size_t colon = url.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(std::stoi(url.substr(colon + 1))));
  ::inet_pton(AF_INET, url.substr(host, colon - host).c_str(), &address.sin_addr);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval second{1, 0};  // so that reading ends
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
  EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0) << url;
  return fd;
}

}  // namespace

struct RawConnection::Impl {
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context{SSL_CTX_new(TLS_client_method()), &SSL_CTX_free};
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl{nullptr, &SSL_free};
  int fd = -1;
};

RawConnection::RawConnection(const std::string& kubeconfig) : impl_{std::make_unique<Impl>()} {
  const ClientTarget target = administrator(kubeconfig);
  const auto certificate = bio(target.certificate_pem);
  const auto key = bio(target.key_pem);
  const std::unique_ptr<X509, decltype(&X509_free)> x509{
      PEM_read_bio_X509(certificate.get(), nullptr, nullptr, nullptr), &X509_free};
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> pkey{
      PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free};
  SSL_CTX_use_certificate(impl_->context.get(), x509.get());
  SSL_CTX_use_PrivateKey(impl_->context.get(), pkey.get());
  impl_->fd = connect_to(target.url);
  impl_->ssl.reset(SSL_new(impl_->context.get()));
  SSL_set_fd(impl_->ssl.get(), impl_->fd);
  EXPECT_EQ(SSL_connect(impl_->ssl.get()), 1);
}

RawConnection::~RawConnection() {
  if (impl_->fd >= 0) ::close(impl_->fd);
}

bool RawConnection::send(std::string_view bytes) {
  size_t written = 0;
  return impl_->ssl && SSL_write_ex(impl_->ssl.get(), bytes.data(), bytes.size(), &written) == 1;
}

std::string RawConnection::read_until(std::string_view end, std::chrono::milliseconds patience) {
  std::string got;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < deadline && (end.empty() || got.find(end) == std::string::npos)) {
    char buffer[16384];
    size_t count = 0;
    if (SSL_read_ex(impl_->ssl.get(), buffer, sizeof buffer, &count) == 1) {
      got.append(buffer, count);
    } else if (const int error = SSL_get_error(impl_->ssl.get(), 0);
               error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
      break;  // closed
    }
  }
  return got;
}

}  // namespace shiplog::e2e
