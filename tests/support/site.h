#pragma once

#include <string>

#include "tests/support/test_directory.h"

namespace shiplog::e2e {

/// The network of a test whose processes lie in different networks: a namespace that is connected with nothing but the
/// sites made in it. Nothing has a name outside, so that tests run beside each other, and the kernel removes everything
/// when the process ends, however it ends. Made by the main thread before it makes others: processes and threads that
/// are begun from then on are in it.
class PrivateNetwork {
 public:
  /// Why this machine has none; empty: it has. In CI that is a failure, elsewhere a reason to skip the test.
  static std::string missing();

  /// Fails the test if something cannot be made.
  PrivateNetwork();
  /// Back in the network of before.
  ~PrivateNetwork();
  PrivateNetwork(const PrivateNetwork&) = delete;
  PrivateNetwork& operator=(const PrivateNetwork&) = delete;

  /// One more address of this network. Sites reach it.
  static void add_address(const std::string& address);
  /// The one host name that is known here and in the sites, besides localhost, and where it leads.
  void resolve(const std::string& name, const std::string& address) const;

 private:
  int before_ = -1;
  TestDirectory folder_{"hosts"};
  std::string hosts_ = folder_.file("hosts");  // in place of /etc/hosts
  bool mounted_ = false;
};

/// A network behind a link to the PrivateNetwork that lets connections out and none in, as behind NAT or a firewall.
/// Each has a number of its own, 0 to 255.
class Site {
 public:
  explicit Site(int number = 0);
  ~Site();
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  /// Of what runs in the site.
  std::string address() const { return prefix_ + "2"; }
  /// Of the PrivateNetwork at the other end of the link.
  std::string outside() const { return prefix_ + "1"; }

  void cut() const;
  void mend() const;
  /// Whether it lets connections in.
  void let_in(bool any) const;

  /// While it lives, what this thread starts and opens is in the site.
  class Inside {
   public:
    explicit Inside(const Site& site);
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    int before_ = -1;
  };

 private:
  const std::string link_, prefix_;
  int network_ = -1;
};

/// Whether a connection to the port is accepted within a second.
bool accepts_connections(const std::string& address, int port);

}  // namespace shiplog::e2e
