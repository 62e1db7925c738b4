#include "services/roles/collector/retained_fields.h"

#include <gtest/gtest.h>

#include "tests/support/literals.h"

namespace shiplog::collector {
namespace {

using test::yaml;

TEST(RetainedFields, HaveTheManifestsValues_E_21) {
  EXPECT_EQ(without_retained(yaml("{spec: {replicas: 7, paused: true}}"), yaml("{spec: {replicas: 2}}"),
                             yaml("{spec: {replicas: 7}}")),
            yaml("{spec: {replicas: 2, paused: true}}"));
  EXPECT_EQ(
      without_retained(yaml("{imagePullSecrets: [{name: a}, {name: b}]}"), yaml("{imagePullSecrets: [{name: a}]}"),
                       yaml("{imagePullSecrets: [{name: a}, {name: b}]}")),
      yaml("{imagePullSecrets: [{name: a}]}"));
}

TEST(RetainedFields, OfTheMemberAloneAreLeftOut_E_21) {
  const Value manifest = yaml("{spec: {ports: [{port: 80}, {port: 81, nodePort: 30000}]}}");
  const Value kept =
      yaml("{spec: {ports: [{port: 80, nodePort: 31000}, {port: 81, nodePort: 30000}], clusterIP: 10.0.0.1}}");
  Value observed = kept;
  observed.edit("spec").set("type", "ClusterIP");
  Value expected = manifest;
  expected.edit("spec").set("type", "ClusterIP");
  EXPECT_EQ(without_retained(observed, manifest, kept), expected);
  EXPECT_EQ(without_retained(yaml("{spec: {selector: {matchLabels: {uid: x}}}}"), yaml("{spec: {}}"),
                             yaml("{spec: {selector: {matchLabels: {uid: x}}}}")),
            yaml("{spec: {}}"));
}

TEST(RetainedFields, ThatTheMemberDoesWithoutAreTheManifests_E_21) {
  // A script that keeps all data of the member.
  EXPECT_EQ(without_retained(yaml("{data: {b: x, own: y}}"), yaml("{data: {a: \"1\", b: \"2\"}}"),
                             yaml("{data: {b: x, own: y}}")),
            yaml("{data: {a: \"1\", b: \"2\"}}"));
}

TEST(RetainedFields, WhatIsNeitherTheManifestsNorKeptStays) {
  const Value observed = yaml("{spec: {replicas: 7, image: evil}, imagePullSecrets: [{name: b}]}");
  EXPECT_EQ(without_retained(observed, yaml("{spec: {replicas: 2, image: nginx}, imagePullSecrets: [{name: a}]}"),
                             yaml("{spec: {replicas: 7, image: nginx}, imagePullSecrets: [{name: a}, {name: b}]}")),
            yaml("{spec: {replicas: 2, image: evil}, imagePullSecrets: [{name: b}]}"));
}

TEST(FilledInFields, AreLeftOutUnlessTheManifestHasThem) {
  const Value service = yaml("{apiVersion: v1, kind: Service, spec: {type: ClusterIP}}");
  Value observed = service;
  observed.edit("spec").set("clusterIPs", Value::array({"10.0.0.1"}));
  EXPECT_EQ(without_filled_in(observed, service), service);
  EXPECT_EQ(without_filled_in(observed, observed), observed);
  const Value claim = yaml("{apiVersion: v1, kind: PersistentVolumeClaim, spec: {volumeName: v}}");
  EXPECT_EQ(without_filled_in(yaml("{apiVersion: v1, kind: PersistentVolumeClaim, spec: {volumeName: v, "
                                   "storageClassName: standard}}"),
                              claim),
            claim);
  const Value other = yaml("{apiVersion: example.com/v1, kind: Service, spec: {clusterIPs: [x]}}");
  EXPECT_EQ(without_filled_in(other, yaml("{apiVersion: example.com/v1, kind: Service, spec: {}}")), other);
}

}  // namespace
}  // namespace shiplog::collector
