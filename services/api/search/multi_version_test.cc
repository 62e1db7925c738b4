// Versions and continue tokens over clusters, and what of a body is different for a member.
#include "services/api/search/multi_version.h"

#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "events/base/yaml.h"
#include "events/kinds/protobuf.h"
#include "services/api/search/member_body.h"
#include "tests/support/literals.h"
#include "tests/support/protobuf_wire.h"

namespace shiplog::api {
namespace {

using test::json;

TEST(MultiVersion, IsAMapSortedByClusterWithoutWhiteSpace_6_5_1) {
  const MultiVersion version{{{"m2", "7"}, {"m1", "12"}}, false};
  EXPECT_EQ(base64url_decode(to_text(version)), R"({"m1":"12","m2":"7"})");
  EXPECT_EQ(parse_multi_version(to_text(version)), version);
  EXPECT_EQ(version.at("m1"), "12");
  EXPECT_EQ(version.at("m3"), std::nullopt);
}

TEST(MultiVersion, ZeroAndEmptyStay_6_5_1) {
  EXPECT_EQ(to_text(parse_multi_version("0")), "0");
  EXPECT_EQ(parse_multi_version("0").at("any"), "0");
  EXPECT_EQ(to_text(parse_multi_version("")), "");
}

TEST(MultiVersion, WhatCannotBeReadIsEmpty_6_5_1) {
  for (const std::string& text : {std::string{"12"}, std::string{"%%"}, base64url_encode("[1]"),
                                  base64url_encode(R"({"m1":1})"), base64url_encode("{")}) {
    EXPECT_EQ(parse_multi_version(text), MultiVersion{}) << text;
  }
}

TEST(MultiVersion, VersionsAreComparedAsNumbersIfTheyAreSome) {
  EXPECT_EQ(compare_resource_versions("9", "10"), -1);
  EXPECT_EQ(compare_resource_versions("10", "9"), 1);
  EXPECT_EQ(compare_resource_versions("a", "a"), 0);
  EXPECT_EQ(compare_resource_versions("a", "1"), std::nullopt);
}

TEST(MultiContinue, NamesTheClusterAndItsPosition_6_5_2) {
  const MultiContinue token{"rv", "m1", "default/web"};
  EXPECT_EQ(base64url_decode(to_text(token)), R"({"cluster":"m1","continue":"default/web","rv":"rv"})");
  EXPECT_EQ(parse_multi_continue(to_text(token)), token);
  EXPECT_EQ(base64url_decode(to_text(MultiContinue{"rv", "m1", ""})), R"({"cluster":"m1","rv":"rv"})");
  EXPECT_EQ(to_text(MultiContinue{}), "");
  EXPECT_EQ(parse_multi_continue("no token"), MultiContinue{});
}

TEST(BodyForMember, HasTheClustersOwnVersionAndNoAnnotationOfTheCache_6_4_5) {
  const std::string version = multi_version_of("m1", "12");
  EXPECT_EQ(body_for_member("PUT", "application/json",
                            R"({"metadata":{"annotations":{"a":"1","resource.karmada.io/cached-from-cluster":"m1"},)"
                            R"("name":"web","resourceVersion":")" +
                                version + R"("},"kind":"Pod"})",
                            "m1"),
            R"({"kind":"Pod","metadata":{"annotations":{"a":"1"},"name":"web","resourceVersion":"12"}})");
  EXPECT_EQ(body_for_member("PUT", "application/json",
                            R"({"metadata":{"annotations":{"resource.karmada.io/cached-from-cluster":"m1"}}})", "m1"),
            R"({"metadata":{}})");
  EXPECT_EQ(body_for_member("DELETE", "application/json",
                            R"({"preconditions":{"resourceVersion":")" + version + R"("}})", "m1"),
            R"({"preconditions":{"resourceVersion":"12"}})");
}

TEST(BodyForMember, OfProtobufAndYamlIsAsOfJson_6_4_5) {
  const std::string version = multi_version_of("m1", "12");
  const Value sent = json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web","resourceVersion":")" +
                          version + R"(","annotations":{"a":"1","resource.karmada.io/cached-from-cluster":"m1"}},)" +
                          R"("data":{"key":"value"}})");
  const Value wanted = json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web","resourceVersion":"12",)"
                            R"("annotations":{"a":"1"}},"data":{"key":"value"}})");
  const Kinds& kinds = Kinds::compiled();
  constexpr const char* kProtobuf = "application/vnd.kubernetes.protobuf";
  const std::string protobuf = encode_protobuf(kinds, sent).value();
  EXPECT_EQ(body_for_member("PUT", kProtobuf, protobuf, "m1"), encode_protobuf(kinds, wanted).value());
  EXPECT_EQ(body_for_member("PUT", kProtobuf, protobuf, "m2"),
            encode_protobuf(kinds,
                            [&] {
                              Value other = wanted;
                              other.edit("metadata").set("resourceVersion", version);
                              return other;
                            }())
                .value())
      << "it has no version of this cluster";
  EXPECT_EQ(json(body_for_member("PUT", "application/yaml", to_yaml(sent), "m1")), wanted);

  const auto deletion = [&](const std::string& of) {
    return encode_protobuf(kinds, json(R"({"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":5,)"
                                       R"("preconditions":{"uid":"u","resourceVersion":")" +
                                       of + R"("}})"))
        .value();
  };
  EXPECT_EQ(body_for_member("DELETE", kProtobuf, deletion(version), "m1"), deletion("12"));
}

TEST(BodyForMember, KeepsOfProtobufWhatItDoesNotKnow) {
  const std::string version = multi_version_of("m1", "12");
  const auto body = [](const std::string& of) {
    const std::string metadata = wire::bytes(1, "web") + wire::bytes(6, of) + wire::bytes(15, "unknown");
    const std::string object = wire::bytes(1, metadata) + wire::bytes(14, "unknown") + wire::varint(13, 300);
    return wire::envelope("example.com/v1", "Widget", object, wire::bytes(4, ""));
  };
  EXPECT_EQ(body_for_member("PUT", "", body(version), "m1"), body("12"));
  const std::string cut = body(version).substr(0, body(version).size() - 6);
  EXPECT_EQ(body_for_member("PUT", "", cut, "m1"), cut) << "malformed: the member refuses it";
}

std::string put_of(const MultiVersion& version, const std::string& cluster) {
  return body_for_member("PUT", "application/json", R"({"metadata":{"resourceVersion":")" + to_text(version) + R"("}})",
                         cluster);
}

TEST(BodyForMember, OfAnEventHasTheVersionOfTheObjectNotOfTheWatch_6_4_5) {
  const MultiVersion event{{{"m1", "120"}, {"m2", "0"}, {object_key("m2"), "7"}}, false};
  EXPECT_EQ(put_of(event, "m2"), R"({"metadata":{"resourceVersion":"7"}})");
  EXPECT_EQ(put_of(event, "m1"), R"({"metadata":{"resourceVersion":"120"}})") << "the object has moved: a conflict";
  EXPECT_EQ(put_of({{{"m1/default", "12"}}, false}, "m1"), R"({"metadata":{"resourceVersion":"12"}})")
      << "as get answers it where namespaces are listed each by itself";
}

TEST(BodyForMember, NeverAsksToOverwriteWhateverIsThere) {
  const MultiVersion version{{{"m1", "120"}, {"m2", "0"}}, false};
  EXPECT_EQ(put_of(version, "m2"), R"({"metadata":{"resourceVersion":")" + to_text(version) + R"("}})")
      << "the member refuses it";
}

TEST(BodyForMember, StaysAsItIsWhereNothingIsOfTheCache_6_4_5) {
  for (const char* body : {"", "no json", "[]", "{ \"metadata\" : 1}", R"({"metadata": {"resourceVersion": "12"}})",
                           R"({ "spec": {"replicas": 2}})", R"([{"op": "remove", "path": "/a"}])"}) {
    EXPECT_EQ(body_for_member("PATCH", "application/json", body, "m1"), body);
  }
  const std::string other = R"({ "metadata":{"resourceVersion":")" + multi_version_of("m2", "1") + R"("}})";
  EXPECT_EQ(body_for_member("PUT", "application/json", other, "m1"), other) << "it has no version of this cluster";
}

}  // namespace
}  // namespace shiplog::api
