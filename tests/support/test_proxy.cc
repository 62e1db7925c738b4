#include "tests/support/test_proxy.h"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "events/base/base64.h"
#include "tests/support/http_peers.h"

namespace shiplog::testing {
namespace {

using SslContext = std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)>;

SslContext server_context() {
  SslContext context{::SSL_CTX_new(::TLS_server_method()), &::SSL_CTX_free};
  const KeyPair& pair = TestCertificates::get().server;
  BIO* certificate = ::BIO_new_mem_buf(pair.certificate_pem.data(), static_cast<int>(pair.certificate_pem.size()));
  BIO* key = ::BIO_new_mem_buf(pair.key_pem.data(), static_cast<int>(pair.key_pem.size()));
  X509* x509 = ::PEM_read_bio_X509(certificate, nullptr, nullptr, nullptr);
  EVP_PKEY* private_key = ::PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
  ::SSL_CTX_use_certificate(context.get(), x509);
  ::SSL_CTX_use_PrivateKey(context.get(), private_key);
  ::X509_free(x509);
  ::EVP_PKEY_free(private_key);
  ::BIO_free(certificate);
  ::BIO_free(key);
  return context;
}

/// Names below .test are known to the proxy alone, and lead to this machine.
bool is_loopback(const std::string& host) { return host == "localhost" || host.ends_with(".test"); }

int connect_to(const std::string& host, uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  ::inet_pton(AF_INET, is_loopback(host) ? "127.0.0.1" : host.c_str(), &to.sin_addr);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

/// One connection of a client, on a thread of its own.
class TestProxy::Tunnel {
 public:
  Tunnel(TestProxy& proxy, int client) : proxy_{proxy}, client_{client} {}
  ~Tunnel() {
    if (ssl_ != nullptr) ::SSL_free(ssl_);
    ::close(client_);
    if (server_ >= 0) ::close(server_);
  }
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;

  void run() {
    if (proxy_.options_.tls) {
      ssl_ = ::SSL_new(context_.get());
      ::SSL_set_fd(ssl_, client_);
      if (::SSL_accept(ssl_) != 1) return;
    }
    if (proxy_.options_.socks ? socks() : connect()) pump();
  }

 private:
  bool wait(int fd, bool also_pending) {
    while (!proxy_.stopping_) {
      if (also_pending && ssl_ != nullptr && ::SSL_pending(ssl_) > 0) return true;
      pollfd one{fd, POLLIN, 0};
      if (::poll(&one, 1, 20) > 0) return true;
    }
    return false;
  }
  ssize_t read_client(char* into, size_t size) {
    return ssl_ != nullptr ? ::SSL_read(ssl_, into, static_cast<int>(size)) : ::recv(client_, into, size, 0);
  }
  void write_client(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ssl_ != nullptr ? ::SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                                           : ::send(client_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }
  std::string take(size_t count) {
    std::string bytes;
    while (bytes.size() < count && wait(client_, true)) {
      char byte = 0;
      if (read_client(&byte, 1) != 1) break;
      bytes += byte;
    }
    return bytes;
  }
  void note(std::string request) {
    const std::lock_guard lock{proxy_.mutex_};
    proxy_.requests_.push_back(std::move(request));
  }

  bool connect() {
    std::string head;
    while (!head.ends_with("\r\n\r\n")) {
      const std::string byte = take(1);
      if (byte.empty()) return false;
      head += byte;
    }
    note(head);
    if (!proxy_.options_.refusal.empty()) {
      write_client(proxy_.options_.refusal);
      return false;
    }
    const std::string& user = proxy_.options_.user;
    const std::string login =
        "Proxy-Authorization: Basic " + base64_encode(user + ":" + proxy_.options_.password) + "\r\n";
    if (!user.empty() && head.find(login) == std::string::npos) {
      write_client("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
      return false;
    }
    const size_t begin = std::strlen("CONNECT ");
    const size_t colon = head.find(':', begin);
    server_ = connect_to(head.substr(begin, colon - begin), static_cast<uint16_t>(std::stoi(head.substr(colon + 1))));
    write_client(server_ < 0 ? "HTTP/1.1 502 Bad Gateway\r\n\r\n" : "HTTP/1.1 200 Connection established\r\n\r\n");
    return server_ >= 0;
  }

  bool socks() {
    const std::string greeting = take(2);
    take(static_cast<unsigned char>(greeting[1]));
    const bool login = !proxy_.options_.user.empty();
    write_client(login ? std::string("\x05\x02", 2) : std::string("\x05\x00", 2));
    if (login) {
      const std::string user = take(static_cast<unsigned char>(take(2)[1]));
      const std::string password = take(static_cast<unsigned char>(take(1)[0]));
      const bool right = user == proxy_.options_.user && password == proxy_.options_.password;
      write_client(right ? std::string("\x01\x00", 2) : std::string("\x01\x01", 2));
      if (!right) return false;
    }
    const std::string request = take(4);
    std::string host;
    if (request[3] == '\x01') {
      const std::string bytes = take(4);
      char text[INET_ADDRSTRLEN];
      host = ::inet_ntop(AF_INET, bytes.data(), text, sizeof text);
    } else {
      host = take(static_cast<unsigned char>(take(1)[0]));
    }
    const std::string port = take(2);
    const auto number =
        static_cast<uint16_t>((static_cast<unsigned char>(port[0]) << 8U) | static_cast<unsigned char>(port[1]));
    note(host + ":" + std::to_string(number));
    server_ = connect_to(host, number);
    write_client(std::string(server_ < 0 ? "\x05\x05\x00\x01" : "\x05\x00\x00\x01", 4) + std::string(6, '\0'));
    return server_ >= 0;
  }

  void pump() {
    std::array<char, 16384> bytes{};
    while (!proxy_.stopping_) {
      pollfd both[2] = {{client_, POLLIN, 0}, {server_, POLLIN, 0}};
      const bool pending = ssl_ != nullptr && ::SSL_pending(ssl_) > 0;
      if (!pending && ::poll(both, 2, 20) <= 0) continue;
      if (pending || (both[0].revents & (POLLIN | POLLHUP)) != 0) {
        const ssize_t count = read_client(bytes.data(), bytes.size());
        if (count <= 0 || ::send(server_, bytes.data(), static_cast<size_t>(count), MSG_NOSIGNAL) < 0) return;
      }
      if ((both[1].revents & (POLLIN | POLLHUP)) != 0) {
        const ssize_t count = ::recv(server_, bytes.data(), bytes.size(), 0);
        if (count <= 0) return;
        write_client({bytes.data(), static_cast<size_t>(count)});
      }
    }
  }

  TestProxy& proxy_;
  int client_;
  int server_ = -1;
  SslContext context_ = server_context();
  SSL* ssl_ = nullptr;
};

TestProxy::TestProxy(Options options) : options_{std::move(options)} {
  listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool listening = ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                         ::listen(listener_, 16) == 0 &&
                         ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (listening) port_ = ntohs(address.sin_port);
  acceptor_ = std::thread{[this] { accept(); }};
}

TestProxy::~TestProxy() {
  stopping_ = true;
  acceptor_.join();
  for (std::thread& tunnel : tunnels_) tunnel.join();
  ::close(listener_);
}

void TestProxy::accept() {
  while (!stopping_) {
    pollfd one{listener_, POLLIN, 0};
    if (::poll(&one, 1, 20) <= 0) continue;
    const int client = ::accept(listener_, nullptr, nullptr);
    if (client >= 0) tunnels_.emplace_back([this, client] { Tunnel{*this, client}.run(); });
  }
}

std::string TestProxy::url() const {
  const char* scheme = options_.socks ? "socks5://" : options_.tls ? "https://" : "http://";
  const std::string login = options_.user.empty() ? "" : options_.user + ":" + options_.password + "@";
  return scheme + login + "127.0.0.1:" + std::to_string(port_);
}

std::vector<std::string> TestProxy::requests() const {
  const std::lock_guard lock{mutex_};
  return requests_;
}

}  // namespace shiplog::testing
