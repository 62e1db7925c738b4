#include "events/base/networks.h"

#include <gtest/gtest.h>

namespace shiplog {
namespace {

TEST(Networks, HoldTheirAddressesHoweverTheseAreWritten) {
  const Networks networks = Networks::parse({"169.254.0.0/16", "fe80::/10", "10.1.2.3"}).value();
  for (const char* inside :
       {"169.254.169.254", "::ffff:169.254.169.254", "::169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1"}) {
    EXPECT_EQ(networks.holding(inside), "169.254.0.0/16") << inside;
  }
  EXPECT_EQ(networks.holding("fe80::1%eth0"), "fe80::/10");
  EXPECT_EQ(networks.holding("febf::1"), "fe80::/10");
  EXPECT_EQ(networks.holding("10.1.2.3"), "10.1.2.3");
  for (const char* outside : {"169.253.255.255", "169.255.0.0", "fec0::1", "10.1.2.4", "::1", "example.com", ""}) {
    EXPECT_EQ(networks.holding(outside), "") << outside;
  }
}

TEST(Networks, FindTheHostOfAUrl) {
  const Networks networks = Networks::parse({"169.254.0.0/16", "fe80::/10"}).value();
  for (const char* url :
       {"https://169.254.169.254", "http://169.254.0.1:80/a", "https://u:p@169.254.1.1/", "https://169.254.1.1?x"}) {
    EXPECT_EQ(networks.holding_host_of(url), "169.254.0.0/16") << url;
  }
  EXPECT_EQ(networks.holding_host_of("https://[fe80::1]:443/x"), "fe80::/10");
  EXPECT_EQ(networks.holding_host_of("https://metadata.internal/169.254.0.1"), "");
}

TEST(Networks, RefuseWhatIsNoNetwork) {
  for (const char* word : {"10.0.0.0/33", "fe80::/129", "ten", "10.0.0.0/", "10.0.0.0/8x", "10.0.0.0/-1", "/8"}) {
    EXPECT_FALSE(Networks::parse({word})) << word;
  }
  EXPECT_TRUE(Networks::parse({"0.0.0.0/0", "::/0"}).value().holding("1.2.3.4") == "0.0.0.0/0");
  EXPECT_TRUE(Networks::parse({}).value().empty());
}

}  // namespace
}  // namespace shiplog
