#include "tests/support/site.h"

#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/process.h"

namespace shiplog::e2e {
namespace {

constexpr const char* kThisNetwork = "/proc/thread-self/ns/net";
constexpr const char* kUplink = "uplink";  // the site's end of its link

/// Runs a program that makes something; the test fails if it does.
void make(const std::vector<std::string>& command, const std::string& input = {}) {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nothing here changes the environment
  const Environment with_sbin{{"PATH", (path == nullptr ? "" : std::string{path} + ":") + "/usr/sbin:/sbin"}};
  const Ran ran = run(command, with_sbin, input, kPatience);
  if (!ran.ok()) ADD_FAILURE() << ran << "the packages iproute2 and nftables are needed";
}

int this_network() { return ::open(kThisNetwork, O_RDONLY | O_CLOEXEC); }

void enter(int network) {
  if (::setns(network, CLONE_NEWNET) != 0) ADD_FAILURE() << "entering a network: " << std::strerror(errno);
}

/// Of a thread that ends at once: namespaces last as long as something refers to them.
int new_network() {
  int network = -1;
  std::thread{[&] {
    if (::unshare(CLONE_NEWNET) == 0) network = this_network();
  }}.join();
  return network;
}

}  // namespace

std::string PrivateNetwork::missing() {
  int failure = 0;
  std::thread{[&] {
    if (::unshare(CLONE_NEWNET | CLONE_NEWNS) != 0) failure = errno;
  }}.join();
  return failure == 0
             ? ""
             : "network namespaces cannot be made here, which needs root: " + std::string{std::strerror(failure)};
}

PrivateNetwork::PrivateNetwork() : before_{this_network()} {
  resolve("localhost", "127.0.0.1");
  mounted_ = ::unshare(CLONE_NEWNET | CLONE_NEWNS) == 0 &&
             ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
             ::mount(hosts_.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) == 0;
  if (!mounted_) ADD_FAILURE() << "making a network namespace: " << std::strerror(errno);
  make({"ip", "link", "set", "lo", "up"});
}

PrivateNetwork::~PrivateNetwork() {
  // Otherwise it is that of the machine.
  if (mounted_) ::umount2("/etc/hosts", MNT_DETACH);
  enter(before_);
  ::close(before_);
}

void PrivateNetwork::add_address(const std::string& address) {
  make({"ip", "address", "add", address + "/32", "dev", "lo"});
}

void PrivateNetwork::resolve(const std::string& name, const std::string& address) const {
  // The same file: it is mounted elsewhere.
  write_file(hosts_, "127.0.0.1 localhost\n" + address + " " + name + "\n");
}

Site::Site(int number)
    : link_{"site" + std::to_string(number)},
      prefix_{"10.77." + std::to_string(number) + "."},
      network_{new_network()} {
  const std::string there = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(network_);
  make({"ip", "link", "add", link_, "type", "veth", "peer", "name", kUplink, "netns", there});
  make({"ip", "address", "add", outside() + "/30", "dev", link_});
  {
    const Inside inside{*this};
    make({"ip", "link", "set", "lo", "up"});
    make({"ip", "address", "add", address() + "/30", "dev", kUplink});
    make({"ip", "link", "set", kUplink, "up"});
    make({"ip", "route", "add", "default", "via", outside()});
  }
  let_in(false);
  mend();
}

Site::~Site() { ::close(network_); }

void Site::cut() const { make({"ip", "link", "set", link_, "down"}); }
void Site::mend() const { make({"ip", "link", "set", link_, "up"}); }

void Site::let_in(bool any) const {
  const Inside inside{*this};
  make({"nft", "-f", "-"}, std::string{"flush ruleset\ntable inet site {\n  chain in {\n"} +
                               "    type filter hook input priority 0; policy " + (any ? "accept" : "drop") +
                               ";\n    iif lo accept\n    ct state established,related accept\n  }\n}\n");
}

Site::Inside::Inside(const Site& site) : before_{this_network()} { enter(site.network_); }

Site::Inside::~Inside() {
  enter(before_);
  ::close(before_);
}

bool accepts_connections(const std::string& address, int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  ::inet_pton(AF_INET, address.c_str(), &to.sin_addr);
  bool connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  pollfd waiting{fd, POLLOUT, 0};
  if (!connected && errno == EINPROGRESS && ::poll(&waiting, 1, 1000) == 1) {
    int failure = 0;
    socklen_t size = sizeof failure;
    connected = ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) == 0 && failure == 0;
  }
  ::close(fd);
  return connected;
}

}  // namespace shiplog::e2e
