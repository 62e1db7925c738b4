// Watches over WebSockets (W-18), byte by byte as a browser sees them.
#include "events/base/json.h"
#include "tests/contract/contract.h"
#include "tests/contract/raw_connection.h"

namespace shiplog::e2e {
namespace {

const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";

std::string handshake(const std::string& query, const std::string& more = "") {
  return "GET " + kConfigMaps + "?watch=1" + query +
         " HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
         more + "\r\n";
}

Value named(const char* name) {
  return Value::object({{"metadata", Value::object({{"name", name}})}, {"data", Value::object({{"a", "b"}})}});
}

TEST(WebSocketWatches, EachEventIsATextMessage) {
  RawConnection raw{plane().kubeconfig("plane")};
  raw.send(handshake("&fieldSelector=metadata.name%3Dover-websocket"));
  const std::string head = raw.read_until("\r\n\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 101")) << head;
  EXPECT_NE(head.find("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), std::string::npos) << head;
  ASSERT_EQ(api().post(kConfigMaps, named("over-websocket")).status, 201);
  const std::string added = raw.read_until(R"("uid":)");
  // One frame: text, its length in two bytes.
  ASSERT_GT(added.size(), 4U);
  EXPECT_EQ(added[0], '\x81');
  EXPECT_EQ(added[1], '\x7e');
  EXPECT_TRUE(added.substr(4).starts_with(R"({"type":"ADDED","object":{)")) << added;
  EXPECT_EQ(api().call("DELETE", kConfigMaps + "/over-websocket").status, 200);
  EXPECT_NE(raw.read_until(R"("type":"DELETED")").find("DELETED"), std::string::npos);
  raw.send(std::string_view{"\x88\x80\0\0\0\0", 6});
  EXPECT_TRUE(raw.read_until("").ends_with("\x88\x02\x03\xe8")) << "the close is answered, and the connection ends";
}

TEST(WebSocketWatches, EndWithTheTimeOfTheWatch) {
  RawConnection raw{plane().kubeconfig("plane")};
  raw.send(handshake("&timeoutSeconds=1&fieldSelector=metadata.name%3Dnone"));
  EXPECT_TRUE(raw.read_until("").ends_with("\x88\x02\x03\xe8"));
}

TEST(WebSocketWatches, AreRefusedWithoutAHandshake) {
  const Answer refused =
      api().call("GET", kConfigMaps + "?watch=1", {}, {{"Connection", "Upgrade"}, {"Upgrade", "websocket"}});
  EXPECT_EQ(refused.status, 400) << refused;
  EXPECT_NE(refused.json["message"].str().find("Sec-WebSocket-Version"), std::string::npos) << refused;
}

TEST(WebSocketWatches, NeedTheRightToWatch) {
  const Answer refused = api().call("GET", kConfigMaps + "?watch=1", {},
                                    {{"Connection", "Upgrade"},
                                     {"Upgrade", "websocket"},
                                     {"Impersonate-User", "system:serviceaccount:default:no-rights"}});
  EXPECT_EQ(refused.status, 403) << refused;
}

}  // namespace
}  // namespace shiplog::e2e
