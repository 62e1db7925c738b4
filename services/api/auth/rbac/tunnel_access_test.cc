#include "services/api/auth/rbac/tunnel_access.h"

#include <gtest/gtest.h>

namespace shiplog::api {
namespace {

TEST(TunnelAccess, IsTheAgentsOfTheClusterAlone) {
  const User agent{"system:karmada:agent:p1", {"system:karmada:agents"}, "", {}};
  EXPECT_TRUE(may_open_tunnel(agent, "p1"));
  EXPECT_FALSE(may_open_tunnel(agent, "p2"));
  EXPECT_FALSE(may_open_tunnel(agent, ""));
  EXPECT_FALSE(may_open_tunnel({agent.name, {}, "", {}}, "p1")) << "the name without the group";
  EXPECT_FALSE(may_open_tunnel({"ann", agent.groups, "", {}}, "p1"));
  EXPECT_FALSE(may_open_tunnel({"admin", {"system:masters"}, "", {}}, "p1"));
}

TEST(TunnelAccess, PathsNameOneCluster) {
  EXPECT_EQ(tunnel_of("/shiplog/v1/tunnels/p1"), "p1");
  for (const char* other :
       {"/shiplog/v1/tunnels", "/shiplog/v1/tunnels/", "/shiplog/v1/tunnels/p1/x", "/shiplog/v1/why"}) {
    EXPECT_EQ(tunnel_of(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace shiplog::api
