#include "services/api/auth/websocket_token.h"

#include <gtest/gtest.h>

namespace shiplog::api {
namespace {

const std::string kToken = "base64url.bearer.authorization.k8s.io.c2VjcmV0";  // "secret"

HttpRequest upgrade_with(const std::string& protocols) {
  HttpRequest request;
  request.method = "GET";
  request.headers = {{"Connection", "Upgrade"}, {"Upgrade", "websocket"}, {"Sec-WebSocket-Protocol", protocols}};
  return request;
}

TEST(WebSocketToken, BecomesTheAuthorizationHeader) {  // AUTHN-10
  HttpRequest request = upgrade_with("v4.channel.k8s.io, " + kToken + ",base64.binary.k8s.io");
  ASSERT_TRUE(take_protocol_token(request));
  EXPECT_EQ(request.headers.get("Authorization"), "Bearer secret");
  EXPECT_EQ(request.headers.get("Sec-WebSocket-Protocol"), "v4.channel.k8s.io, base64.binary.k8s.io");
}

TEST(WebSocketToken, DoesNotReplaceTheAuthorizationHeaderButIsNotPassedOn) {
  HttpRequest request = upgrade_with(kToken + ", a");
  request.headers.add("Authorization", "Bearer other");
  ASSERT_TRUE(take_protocol_token(request));
  EXPECT_EQ(request.headers.get("Authorization"), "Bearer other");
  EXPECT_EQ(request.headers.get("Sec-WebSocket-Protocol"), "a");
}

TEST(WebSocketToken, InSeveralHeadersIsTakenFromAllOfThem) {
  HttpRequest request = upgrade_with("a");
  request.headers.add("sec-websocket-protocol", kToken);
  ASSERT_TRUE(take_protocol_token(request));
  EXPECT_EQ(request.headers.get("Authorization"), "Bearer secret");
  for (const auto& [name, value] : request.headers.all()) EXPECT_EQ(value.find("c2VjcmV0"), std::string::npos) << name;
}

TEST(WebSocketToken, ThatCannotBeReadIsRefused) {
  const std::string prefix = "base64url.bearer.authorization.k8s.io.";
  for (const std::string& protocols :
       {kToken, kToken + ", " + kToken + ", a", prefix + "!, a", prefix + ", a", prefix + "c2VjcmV0=, a",
        prefix + "YQpi, a" /* a line break */, prefix + "_w, a" /* no UTF-8 */}) {
    HttpRequest request = upgrade_with(protocols);
    const auto taken = take_protocol_token(request);
    ASSERT_FALSE(taken) << protocols;
    EXPECT_EQ(taken.error().code, ErrorCode::kUnauthorized);
    EXPECT_FALSE(request.headers.contains("Authorization"));
  }
}

TEST(WebSocketToken, OfAnotherRequestIsNoToken) {
  HttpRequest request = upgrade_with(kToken + ", a");
  request.headers.erase("Upgrade");
  ASSERT_TRUE(take_protocol_token(request));
  EXPECT_FALSE(request.headers.contains("Authorization"));
}

}  // namespace
}  // namespace shiplog::api
