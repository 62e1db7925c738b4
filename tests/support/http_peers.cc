#include "tests/support/http_peers.h"

#include <chrono>
#include <cstdlib>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "events/base/check.h"

namespace shiplog::testing {

RawClient::RawClient(uint16_t port, int receive_buffer_bytes, const char* from) {
  fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  SHIPLOG_CHECK(fd_ >= 0, "a socket can be had");
  if (receive_buffer_bytes > 0) {
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
  }
  timeval limit = {20, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  if (from != nullptr) {
    SHIPLOG_CHECK(::inet_pton(AF_INET, from, &address.sin_addr) == 1, "an address is written with dots");
    SHIPLOG_CHECK(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0,
                  "the address is this host's");
  }
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int connected = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address);
  SHIPLOG_CHECK(connected == 0, "the server accepts connections");
}

RawClient::~RawClient() { close(); }

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

std::string RawClient::read_until(std::string_view end) {
  char block[64 * 1024];
  while (true) {
    const size_t at = end.empty() ? std::string::npos : pending_.find(end);
    if (at != std::string::npos) {
      std::string found = pending_.substr(0, at + end.size());
      pending_.erase(0, at + end.size());
      return found;
    }
    const ssize_t count = ::recv(fd_, block, sizeof block, 0);
    if (count <= 0) return std::exchange(pending_, {});
    pending_.append(block, static_cast<size_t>(count));
  }
}

bool RawClient::take_a_byte() {
  char byte = 0;
  return ::recv(fd_, &byte, 1, 0) == 1;
}

std::string RawClient::read_answer() {
  std::string answer = read_until("\r\n\r\n");
  const std::string field = "Content-Length: ";
  const size_t at = answer.find(field);
  size_t left =
      at == std::string::npos ? 0 : static_cast<size_t>(std::strtoul(answer.c_str() + at + field.size(), nullptr, 10));
  char block[4096];
  while (left > pending_.size()) {
    const ssize_t count = ::recv(fd_, block, sizeof block, 0);
    if (count <= 0) break;
    pending_.append(block, static_cast<size_t>(count));
  }
  answer += pending_.substr(0, left);
  pending_.erase(0, left);
  return answer;
}

void RawClient::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

UtcMillis test_now() {
  return {std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
              .count()};
}

const TestCertificates& TestCertificates::get() {
  static const TestCertificates certificates = [] {
    const Validity validity = valid_for_days(test_now(), 1);
    const KeyPair authority = make_authority("test-ca", validity).value();
    return TestCertificates{
        authority, issue_server_certificate(authority, "test-server", {{"localhost"}, {"127.0.0.1"}}, validity).value(),
        issue_client_certificate(authority, "alice", {"dev", "ops"}, validity).value()};
  }();
  return certificates;
}

HttpServer::Options tls_options() {
  const auto& certificates = TestCertificates::get();
  HttpServer::Options options;
  options.certificate_pem = certificates.server.certificate_pem;
  options.key_pem = certificates.server.key_pem;
  options.client_ca_pem = certificates.authority.certificate_pem;
  return options;
}

ClientTarget tls_target(const HttpServer& server) {
  ClientTarget target;
  target.url = server.url();
  target.ca_pem = TestCertificates::get().authority.certificate_pem;
  return target;
}

Result<HttpResponse> ask(HttpClient& client, HttpRequest request, Millis timeout) {
  const auto answer = std::make_shared<Awaited<Result<HttpResponse>>>();
  client.request(std::move(request), timeout,
                 [answer](Result<HttpResponse> result) { answer->set(std::move(result)); });
  const auto result = answer->get();
  if (!result) return Error{ErrorCode::kInternal, "no callback came"};
  return *result;
}

}  // namespace shiplog::testing
