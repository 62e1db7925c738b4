#include "services/http/proxy_route.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <arpa/inet.h>

#include "events/base/base64.h"
#include "services/http/tls_context.h"

namespace shiplog {
namespace {

constexpr size_t kMostHeadBytes = 16 * 1024;
constexpr size_t kMostNameBytes = 255;

bool has_no_line_break(std::string_view text) {
  return text.find_first_of(std::string_view{"\r\n\0", 3}) == std::string_view::npos;
}

/// Reads "user:password@host:port" into the route. Returns what is wrong; nullptr: nothing.
const char* read_authority(std::string_view rest, const char* default_port, ProxyRoute& route) {
  if (const size_t at = rest.rfind('@'); at != std::string_view::npos) {
    const std::string_view user_info = rest.substr(0, at);
    const size_t colon = std::min(user_info.find(':'), user_info.size());
    auto user = percent_decode(user_info.substr(0, colon), false);
    auto password = percent_decode(user_info.substr(std::min(colon + 1, user_info.size())), false);
    if (!user || !password) return "user and password have a broken percent escape";
    route.user = std::move(user).value();
    route.password = std::move(password).value();
    rest.remove_prefix(at + 1);
  }
  const size_t bracket = rest.starts_with('[') ? rest.find(']') : 0;
  if (bracket == std::string_view::npos) return "the IPv6 address lacks its ']'";
  const size_t colon = std::min(rest.find(':', bracket), rest.size());
  route.host = bracket == 0 ? rest.substr(0, colon) : rest.substr(1, bracket - 1);
  route.port = default_port;
  if (route.host.empty()) return "there is no host";
  if (colon == rest.size()) return nullptr;
  uint16_t port = 0;
  const char* const end = rest.data() + rest.size();
  if (std::from_chars(rest.data() + colon + 1, end, port).ptr != end || port == 0) {
    return "the port is not a number from 1 to 65535";
  }
  route.port = std::to_string(port);
  return nullptr;
}

Error wrong_url(const std::string& why) {
  // The URL is not repeated: it may contain a password.
  return {ErrorCode::kBadRequest, "the proxy's URL cannot be used: " + why};
}

/// A conversation with a proxy on a transport that is connected to it.
class ProxyConversation : public std::enable_shared_from_this<ProxyConversation> {
 public:
  ProxyConversation(ProxyRoute proxy, net::Transport& transport, ProxyDestination destination,
                    std::shared_ptr<void> keep, net::Transport::Done done)
      : proxy_{std::move(proxy)},
        transport_{transport},
        destination_{std::move(destination)},
        keep_{std::move(keep)},
        done_{std::move(done)} {}

  void begin() {
    transport_.connect(
        proxy_.host, proxy_.port, destination_.denied, [self = shared_from_this()](const Result<void>& connected) {
          if (!connected) return self->fail(connected.error());
          if (!self->proxy_.tls) return self->talk();
          self->transport_.handshake_as_client(
              self->proxy_.tls, self->proxy_.host, self->proxy_.insecure,
              [self](const Result<void>& shaken) { shaken ? self->talk() : self->fail(shaken.error()); });
        });
  }

 private:
  using Step = void (ProxyConversation::*)();

  void talk() { proxy_.kind == ProxyRoute::Kind::kHttp ? request_tunnel() : greet(); }

  // --- HTTP CONNECT ---

  void request_tunnel() {
    const bool ipv6 = destination_.host.find(':') != std::string::npos;
    const std::string to = (ipv6 ? "[" + destination_.host + "]" : destination_.host) + ":" + destination_.port;
    output_ = "CONNECT " + to + " HTTP/1.1\r\nHost: " + to + "\r\n";
    for (const auto& [name, value] : proxy_.headers.all()) output_ += name + ": " + value + "\r\n";
    if (!proxy_.user.empty()) {
      output_ += "Proxy-Authorization: Basic " + base64_encode(proxy_.user + ":" + proxy_.password) + "\r\n";
    }
    output_ += "\r\n";
    write_then(&ProxyConversation::read_head);
  }

  /// Byte for byte: what follows the header belongs to the destination.
  void read_head() {
    wanted_ = 1;
    read_then(&ProxyConversation::judge_head);
  }

  void judge_head() {
    if (!input_.ends_with("\r\n\r\n")) {
      if (input_.size() >= kMostHeadBytes) return fail("its response is longer than " + std::to_string(kMostHeadBytes));
      ++wanted_;
      again_ = true;
      return;
    }
    const std::string_view line = std::string_view{input_}.substr(0, input_.find("\r\n"));
    const bool is_http = line.starts_with("HTTP/1.") && line.size() >= 12 && line[8] == ' ';
    if (!is_http) return fail("it does not speak HTTP");
    if (line[9] != '2') return fail("it answered CONNECT with \"" + std::string{line.substr(9)} + '"');
    succeed();
  }

  // --- SOCKS 5 ---

  void greet() {
    output_ = proxy_.user.empty() ? std::string("\x05\x01\x00", 3) : std::string("\x05\x02\x00\x02", 4);
    wanted_ = 2;
    write_then(&ProxyConversation::read_method);
  }
  void read_method() { read_then(&ProxyConversation::judge_method); }

  void judge_method() {
    if (input_[0] != '\x05') return fail("it does not speak SOCKS 5");
    if (input_[1] == '\x00') return request_connection();
    if (input_[1] != '\x02' || proxy_.user.empty())
      return fail("it accepts none of the ways to log in that are offered");
    if (proxy_.user.size() > kMostNameBytes || proxy_.password.size() > kMostNameBytes) {
      return fail("SOCKS 5 allows 255 bytes for user and password");
    }
    output_ = '\x01';
    append_counted(proxy_.user);
    append_counted(proxy_.password);
    wanted_ = 2;
    write_then(&ProxyConversation::read_login);
  }
  void read_login() { read_then(&ProxyConversation::judge_login); }
  void judge_login() { input_[1] == '\x00' ? request_connection() : fail("it refused user and password"); }

  void request_connection() {
    output_ = std::string("\x05\x01\x00", 3);
    std::array<char, 16> address{};
    if (::inet_pton(AF_INET, destination_.host.c_str(), address.data()) == 1) {
      output_ += '\x01';
      output_.append(address.data(), 4);
    } else if (::inet_pton(AF_INET6, destination_.host.c_str(), address.data()) == 1) {
      output_ += '\x04';
      output_.append(address.data(), 16);
    } else if (destination_.host.size() <= kMostNameBytes) {
      output_ += '\x03';
      append_counted(destination_.host);
    } else {
      return fail("SOCKS 5 allows 255 bytes for a host name");
    }
    uint16_t port = 0;
    std::from_chars(destination_.port.data(), destination_.port.data() + destination_.port.size(), port);
    output_ += static_cast<char>(port >> 8U);
    output_ += static_cast<char>(port & 0xffU);
    wanted_ = 5;  // as far as the length of the address
    write_then(&ProxyConversation::read_reply);
  }
  void read_reply() { read_then(&ProxyConversation::judge_reply); }

  void judge_reply() {
    static constexpr std::array<const char*, 9> kCauses = {"",
                                                           "general failure",
                                                           "the connection is not allowed by its rules",
                                                           "network unreachable",
                                                           "host unreachable",
                                                           "connection refused",
                                                           "time to live expired",
                                                           "command not supported",
                                                           "address type not supported"};
    if (input_[0] != '\x05') return fail("it does not speak SOCKS 5");
    const auto code = static_cast<unsigned char>(input_[1]);
    if (code != 0) {
      return fail("it could not connect to " + destination_.host + ":" + destination_.port + ": " +
                  (code < kCauses.size() ? kCauses.at(code) : "error " + std::to_string(code)));
    }
    const auto length = static_cast<unsigned char>(input_[4]);
    switch (input_[3]) {
      case '\x01':
        wanted_ = 4 + 4 + 2;
        break;
      case '\x03':
        wanted_ = size_t{4} + 1 + length + 2;
        break;
      case '\x04':
        wanted_ = 4 + 16 + 2;
        break;
      default:
        return fail("its reply has an unknown type of address");
    }
    read_then(&ProxyConversation::succeed);
  }

  void append_counted(const std::string& text) {
    output_ += static_cast<char>(text.size());
    output_ += text;
  }

  // --- bytes ---

  void write_then(Step next) {
    written_ = 0;
    next_ = next;
    write_on();
  }

  void write_on() {
    while (written_ < output_.size()) {
      const auto count = transport_.try_write(output_.data() + written_, output_.size() - written_);
      if (!count) return fail(count.error());
      if (!count.value()) {
        return transport_.when_writable([self = shared_from_this()](const Result<void>& ready) {
          ready ? self->write_on() : self->fail(ready.error());
        });
      }
      written_ += *count.value();
    }
    input_.clear();
    (this->*next_)();
  }

  /// Until there are `wanted_` bytes.
  void read_then(Step next) {
    next_ = next;
    read_on();
  }

  void read_on() {
    do {
      while (input_.size() < wanted_) {
        std::array<char, 512> bytes{};
        const auto count = transport_.try_read(bytes.data(), std::min(bytes.size(), wanted_ - input_.size()));
        if (!count) return fail(count.error());
        if (!count.value()) {
          return transport_.when_readable([self = shared_from_this()](const Result<void>& ready) {
            ready ? self->read_on() : self->fail(ready.error());
          });
        }
        if (*count.value() == 0) return fail("it closed the connection");
        input_.append(bytes.data(), *count.value());
      }
      (this->*next_)();
    } while (std::exchange(again_, false));
  }

  void succeed() { finish(ok()); }
  void fail(const std::string& what) { fail(Error{ErrorCode::kUnavailable, what}); }
  void fail(const Error& error) { finish(error.context(proxy_.name)); }
  void finish(const Result<void>& outcome) {
    const auto done = std::exchange(done_, nullptr);
    const auto keep = std::exchange(keep_, nullptr);
    if (done) done(outcome);
  }

  ProxyRoute proxy_;
  net::Transport& transport_;
  ProxyDestination destination_;
  std::shared_ptr<void> keep_;
  net::Transport::Done done_;
  Step next_ = nullptr;
  std::string output_;
  size_t written_ = 0;
  std::string input_;
  size_t wanted_ = 0;
  bool again_ = false;  // repeat the step with one more byte; in a loop, as a recursion would fill the stack
};

}  // namespace

Result<std::shared_ptr<const ProxyRoute>> proxy_route_of(const ClientTarget& target) {
  if (target.proxy_url.empty()) return std::shared_ptr<const ProxyRoute>{};
  const auto made = std::make_shared<ProxyRoute>();
  std::string_view rest = target.proxy_url;
  const size_t scheme_end = rest.find("://");
  if (scheme_end == std::string_view::npos) return wrong_url("it has no scheme");
  const std::string scheme{rest.substr(0, scheme_end)};
  rest.remove_prefix(scheme_end + 3);
  rest = rest.substr(0, rest.find('/'));
  const char* default_port = "80";
  if (scheme == "https") {
    default_port = "443";
    // As Go's transports do: one set of authorities for the server and its proxy.
    ClientTarget proxy;
    proxy.ca_pem = target.ca_pem;
    proxy.insecure = made->insecure = target.insecure;
    SHIPLOG_TRY(made->tls, client_tls(proxy));
  } else if (scheme == "socks5" || scheme == "socks5h") {
    default_port = "1080";
    made->kind = ProxyRoute::Kind::kSocks5;
  } else if (scheme != "http") {
    return wrong_url("its scheme is none of http, https, socks5 and socks5h");
  }
  if (!has_no_line_break(rest)) return wrong_url("it has a line break");
  if (const char* problem = read_authority(rest, default_port, *made)) return wrong_url(problem);
  made->name = "proxy " + scheme + "://" + made->host + ":" + made->port;
  for (const auto& [name, value] : target.proxy_headers) {
    const bool usable =
        !name.empty() && name.find_first_of(" \t:\r\n") == std::string::npos && has_no_line_break(value);
    if (!usable) return Error{ErrorCode::kBadRequest, "the header \"" + name + "\" for the proxy cannot be written"};
    made->headers.add(name, value);
  }
  return std::shared_ptr<const ProxyRoute>{made};
}

void connect_through(const ProxyRoute& proxy, net::Transport& transport, ProxyDestination destination,
                     std::shared_ptr<void> keep, net::Transport::Done done) {
  const std::string network = destination.denied == nullptr ? "" : destination.denied->holding(destination.host);
  if (!network.empty()) {
    return done(
        Error{ErrorCode::kForbidden, "not called: " + destination.host + " is in the denied network " + network});
  }
  std::make_shared<ProxyConversation>(proxy, transport, std::move(destination), std::move(keep), std::move(done))
      ->begin();
}

}  // namespace shiplog
