#include "events/kinds/protobuf.h"

#include <random>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/kinds/builtin_schema.h"
#include "tests/support/literals.h"
#include "tests/support/protobuf_wire.h"

namespace shiplog {
namespace {

using test::yaml;
using wire::bytes;
using wire::number;
using wire::varint;

const Kinds& kinds() { return Kinds::compiled(); }

/// With the two last fields, which a Go client writes although they are empty.
std::string envelope(std::string_view api_version, std::string_view kind, std::string_view raw) {
  return wire::envelope(api_version, kind, raw, bytes(3, "") + bytes(4, ""));
}

Value decoded(std::string_view api_version, std::string_view kind, std::string_view raw) {
  auto result = decode_protobuf(kinds(), envelope(api_version, kind, raw));
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  if (!result) return {};
  Value object = std::move(result).value();
  EXPECT_EQ(object["apiVersion"], Value{api_version});
  EXPECT_EQ(object["kind"], Value{kind});
  object.erase("apiVersion");
  object.erase("kind");
  return object;
}

std::string refusal(std::string_view body) {
  auto result = decode_protobuf(kinds(), body);
  if (result) return "accepted";
  EXPECT_EQ(result.error().code, ErrorCode::kBadRequest);
  return result.error().message;
}

TEST(Protobuf, ReadsWhatAGoClientWrites) {  // PB-5, PB-10: zeros that were never set are no fields
  const std::string metadata = bytes(1, "web") + bytes(2, "") + bytes(3, "default") + bytes(4, "") + bytes(5, "") +
                               bytes(6, "") + varint(7, 0) + bytes(8, "") +
                               bytes(11, bytes(1, "app") + bytes(2, "web"));
  const std::string data = bytes(1, "key") + bytes(2, "value");
  EXPECT_EQ(decoded("v1", "ConfigMap", bytes(1, metadata) + bytes(2, data) + bytes(3, bytes(1, "raw") + bytes(2, "f"))),
            yaml("{metadata: {name: web, namespace: default, labels: {app: web}}, data: {key: value}, "
                 "binaryData: {raw: Zg==}}"));
}

TEST(Protobuf, KeepsTheZerosOfPointers) {  // PB-10
  EXPECT_EQ(decoded("apps/v1", "Deployment", bytes(2, varint(1, 0) + varint(7, 0))), yaml("{spec: {replicas: 0}}"));
  EXPECT_EQ(decoded("v1", "DeleteOptions", varint(1, 0) + varint(3, 0)),
            yaml("{gracePeriodSeconds: 0, orphanDependents: false}"));
  EXPECT_EQ(decoded("v1", "ServiceAccount", varint(4, 0)), yaml("{automountServiceAccountToken: false}"));
}

TEST(Protobuf, KeepsEmptyMessages) {
  EXPECT_EQ(decoded("batch/v1", "Job", bytes(2, bytes(6, bytes(1, "") + bytes(2, "")))),
            yaml("{spec: {template: {metadata: {}, spec: {}}}}"));
  // emptyDir (2) in the wrapper volumeSource (2) of a volume.
  EXPECT_EQ(decoded("v1", "Pod", bytes(2, bytes(1, bytes(1, "tmp") + bytes(2, bytes(2, ""))))),
            yaml("{spec: {volumes: [{name: tmp, emptyDir: {}}]}}"));
  EXPECT_EQ(decoded("v1", "Secret", bytes(2, bytes(1, "empty"))), yaml("{data: {empty: ''}}"));
}

TEST(Protobuf, OptionsAndScaleAreKnownWithoutBeingKinds) {  // PB-6
  EXPECT_EQ(decoded("apps/v1", "DeleteOptions", bytes(2, bytes(1, "u-1")) + bytes(4, "Orphan") + bytes(5, "All")),
            yaml("{preconditions: {uid: u-1}, propagationPolicy: Orphan, dryRun: [All]}"));
  EXPECT_EQ(decoded("autoscaling/v1", "Scale", bytes(1, bytes(1, "web")) + bytes(2, varint(1, 3)) + bytes(3, "")),
            yaml("{metadata: {name: web}, spec: {replicas: 3}, status: {}}"));
}

TEST(Protobuf, ReadsMessagesThatAreScalarsInJson) {  // PB-8
  const std::string port = varint(3, 80) + bytes(4, varint(1, 1) + varint(2, 0) + bytes(3, "http"));
  const std::string other = varint(3, 81) + bytes(4, varint(1, 0) + varint(2, 8080) + bytes(3, ""));
  EXPECT_EQ(decoded("v1", "Service", bytes(2, bytes(1, port) + bytes(1, other))),
            yaml("{spec: {ports: [{port: 80, targetPort: http}, {port: 81, targetPort: 8080}]}}"));
  EXPECT_EQ(decoded("v1", "ResourceQuota", bytes(2, bytes(1, bytes(1, "cpu") + bytes(2, bytes(1, "500m"))))),
            yaml("{spec: {hard: {cpu: 500m}}}"));
  const std::string renew = bytes(4, varint(1, 1'700'000'000) + varint(2, 123'456'789));
  EXPECT_EQ(decoded("coordination.k8s.io/v1", "Lease", bytes(2, bytes(1, "me") + renew)),
            Value::object(
                {{"spec", Value::object({{"holderIdentity", "me"}, {"renewTime", "2023-11-14T22:13:20.123456Z"}})}}));
  const std::string created = bytes(1, bytes(8, varint(1, 0) + varint(2, 0)));
  EXPECT_EQ(decoded("v1", "Namespace", created),
            Value::object({{"metadata", Value::object({{"creationTimestamp", "1970-01-01T00:00:00Z"}})}}));
  const std::string managed = bytes(1, bytes(17, bytes(1, "kubectl") + bytes(7, bytes(1, R"({"f:data":{}})"))));
  EXPECT_EQ(decoded("v1", "ConfigMap", managed),
            yaml("{metadata: {managedFields: [{manager: kubectl, fieldsV1: {'f:data': {}}}]}}"));
}

TEST(Protobuf, NegativeNumbersTakeTenBytes) {
  EXPECT_EQ(decoded("scheduling.k8s.io/v1", "PriorityClass", varint(2, static_cast<uint64_t>(-5))),
            yaml("{value: -5}"));
  EXPECT_EQ(refusal(envelope("scheduling.k8s.io/v1", "PriorityClass", varint(2, uint64_t{1} << 40U))),
            "the protobuf body cannot be read: value: 1099511627776 does not fit 32 bits");
}

TEST(Protobuf, SkipsFieldsItDoesNotKnow) {
  const std::string later = bytes(90, "x") + varint(91, 7) + number(92U << 3U | 1U) + "8 octets";
  EXPECT_EQ(decoded("v1", "ConfigMap", later + bytes(1, bytes(1, "a") + bytes(99, "x"))),
            yaml("{metadata: {name: a}}"));
}

TEST(Protobuf, NamesTheFieldThatCannotBeRead) {
  const std::string container = bytes(1, "\xff");
  const std::string text = "the protobuf body cannot be read: ";
  EXPECT_EQ(refusal(envelope("v1", "Pod", bytes(2, bytes(2, container)))),
            text + "spec.containers[0].name: the string is not UTF-8");
  EXPECT_EQ(refusal(envelope("v1", "Pod", bytes(2, varint(2, 1)))),
            text + "spec.containers[0]: wire type 0 where 2 is expected");
  EXPECT_EQ(refusal(envelope("v1", "Pod", bytes(2, "\x12\x7f"))),
            text + "spec: the message breaks off or is no protobuf message");
  EXPECT_EQ(refusal(envelope("v1", "ConfigMap", varint(4, 1) + varint(4, 1))),
            text + "immutable: the field stands twice");
  const std::string managed = bytes(1, bytes(17, bytes(7, bytes(1, "{"))));
  EXPECT_TRUE(refusal(envelope("v1", "ConfigMap", managed)).starts_with(text + "metadata.managedFields[0].fieldsV1: "));
  EXPECT_EQ(refusal("{}"), text + "it does not begin with \"k8s\" and a zero byte");
  EXPECT_EQ(refusal(envelope("v1", "", "")), text + "typeMeta: the kind is missing");
}

TEST(Protobuf, HasNoFormForOtherKinds) {  // PB-4
  for (const auto& [version, kind] : {std::pair{"work.karmada.io/v1alpha1", "Work"}, std::pair{"v2", "ConfigMap"}}) {
    auto result = decode_protobuf(kinds(), envelope(version, kind, ""));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::kUnsupportedMediaType);
  }
}

TEST(Protobuf, DepthIsBounded) {
  const auto body = [&](int depth) {
    std::string schema;
    for (int i = 0; i < depth; ++i) schema = bytes(28, schema);  // JSONSchemaProps.not
    // spec, versions, schema, openAPIV3Schema
    return envelope("apiextensions.k8s.io/v1", "CustomResourceDefinition",
                    bytes(2, bytes(7, bytes(4, bytes(1, schema)))));
  };
  EXPECT_TRUE(decode_protobuf(kinds(), body(200)).has_value());
  EXPECT_NE(refusal(body(300)).find("nested too deep"), std::string::npos);
  EXPECT_NE(refusal(body(20'000)).find("nested too deep"), std::string::npos);
}

/// Values of every shape that a schema allows, in the form that decoding returns.
class Generator {
 public:
  explicit Generator(uint64_t seed) : random_{seed} {}

  Value of(const Schema& schema, int depth) {
    if (schema.format == "byte") return pick<const char*>({"Zg==", "AAECAw==", "/+8="});
    if (schema.format == "date-time") return pick<const char*>({"2026-01-02T03:04:05Z", "1969-12-31T23:59:59Z"});
    if (schema.format == "micro-time")
      return pick<const char*>({"2026-01-02T03:04:05.000007Z", "1960-01-01T00:00:00.900000Z"});
    if (schema.format == "quantity") return pick<const char*>({"1", "500m", "3Gi", "0"});
    if (schema.format == "int-or-string") return chance() ? Value{number()} : Value{word()};
    if (schema.format == "fields-v1") return Value::object({{"f:" + word(), Value::object()}});
    if (schema.format == "raw-extension") return Value::object({{word(), word()}});
    if (schema.format == "json")
      return pick<Value>({Value{}, Value{1.5}, Value{"x"}, Value::array({1, nullptr}), Value{false}});
    if (schema.format.starts_with("schema-or-")) {
      if (chance()) return of(*message_schemas().find("apiextensions.JSONSchemaProps")->second, depth + 1);
      if (schema.format == "schema-or-bool") return Value{chance()};
      if (schema.format == "schema-or-strings") return Value::array({word(), word()});
      return Value::array({Value::object({{"type", "string"}}), Value::object({{"not", Value::object()}})});
    }
    switch (schema.type) {
      case Schema::Type::kBoolean:
        return Value{chance()};
      case Schema::Type::kInteger:
        return schema.format == "int64" && chance() ? Value{number() * 4'000'000'007} : Value{number()};
      case Schema::Type::kNumber:
        return pick<Value>({Value{1}, Value{-2.25}, Value{1e300}, Value{0}});
      case Schema::Type::kString:
        return Value{word()};
      case Schema::Type::kArray: {
        Value list = Value::array();
        for (uint64_t i = 0, count = 1 + random_() % 2; i < count; ++i) list.push_back(of(*schema.items, depth + 1));
        return list;
      }
      case Schema::Type::kObject:
        return object(schema, depth);
      case Schema::Type::kAny:
      case Schema::Type::kIntOrString:
        break;
    }
    ADD_FAILURE() << "no values for format " << schema.format;
    return {};
  }

 private:
  Value object(const Schema& schema, int depth) {
    Value made = Value::object();
    if (schema.additional != nullptr) {
      made.set(word() + "/k", of(*schema.additional, depth + 1));
      made.set("", of(*schema.additional, depth + 1));
      return made;
    }
    for (const auto& [name, property] : schema.properties) {
      // Nearly all fields near the top, fewer below, so that recursive schemas terminate.
      if (property->proto_number == 0 || random_() % 12 < static_cast<uint64_t>(depth)) continue;
      Value value = of(*property, depth + 1);
      const bool kept = property->proto_pointer || property->always || value.is_object() || !value.is_empty();
      if (kept) made.set(name, std::move(value));
    }
    return made;
  }

  template <class T>
  Value pick(std::vector<T> from) {
    return Value{from[random_() % from.size()]};
  }
  bool chance() { return random_() % 2 == 0; }
  int64_t number() { return static_cast<int64_t>(random_() % 7) * 1'000'003 - 3'000'009; }
  std::string word() {
    return pick<const char*>({"", "a", "web-1", "größe", "a longer text, beyond what fits inside"}).str();
  }

  std::mt19937_64 random_;
};

Value generated(const Kind& kind, uint64_t seed) {
  Value object = Generator{seed}.of(*kind.schema, 0);
  object.set("apiVersion", kind.api_version());
  object.set("kind", kind.kind);
  return object;
}

/// The first difference of two values, with both sides; empty if they are equal.
std::string difference(const Value& a, const Value& b, const std::string& path = "") {
  if (a == b) return "";
  if (a.is_object() && b.is_object()) {
    for (const auto* side : {&a, &b}) {
      for (const auto& member : side->members()) {
        const std::string below = path + "." + std::string{member.key()};
        if (!a.contains(member.key()) || !b.contains(member.key())) return below + " is on one side only";
        if (auto found = difference(a[member.key()], b[member.key()], below); !found.empty()) return found;
      }
    }
  }
  for (size_t i = 0; a.is_array() && a.size() == b.size() && i < a.size(); ++i) {
    if (auto found = difference(a[i], b[i], path + "[" + std::to_string(i) + "]"); !found.empty()) return found;
  }
  return path + ": " + to_json(a).substr(0, 99) + " and " + to_json(b).substr(0, 99);
}

TEST(Protobuf, EveryBuiltInKindRoundTrips) {
  int seen = 0;
  for (const auto& kind : kinds().all()) {
    if (!kind->builtin) continue;
    ++seen;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const Value object = generated(*kind, seed);
      const auto body = encode_protobuf(kinds(), object);
      ASSERT_TRUE(body.has_value()) << kind->kind << seed << ": " << body.error().message;
      const auto back = decode_protobuf(kinds(), body.value());
      ASSERT_TRUE(back.has_value()) << kind->kind << seed << ": " << back.error().message;
      ASSERT_EQ(difference(back.value(), object), "") << kind->kind << seed;
    }
  }
  EXPECT_GT(seen, 20);
}

TEST(Protobuf, DamagedBodiesAreReadOrRefusedSafely) {
  std::mt19937_64 random{1};
  int refused = 0;
  int read = 0;
  for (const auto& kind : kinds().all()) {
    if (!kind->builtin) continue;
    const auto whole = encode_protobuf(kinds(), generated(*kind, 3));
    ASSERT_TRUE(whole.has_value());
    for (int round = 0; round < 150; ++round) {
      std::string body = whole.value();
      for (uint64_t i = 0, count = 1 + random() % 4; i < count; ++i) {
        const size_t at = 4 + random() % (body.size() - 4);
        if (random() % 8 == 0) {
          body.resize(at + 1);
        } else if (random() % 4 == 0) {
          body.erase(at, 1);
          if (body.size() < 6) break;
        } else {
          body[at] = static_cast<char>(random());
        }
      }
      const auto result = decode_protobuf(kinds(), body);
      ++(result ? read : refused);
      if (result) {
        EXPECT_TRUE(parse_json(to_json(result.value())).has_value()) << "the result can be read again";
      } else {
        EXPECT_FALSE(result.error().message.empty());
        EXPECT_NE(result.error().code, ErrorCode::kInternal) << result.error().message;
      }
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(read, 100);
}

TEST(Protobuf, ManyEntriesAreReadInTime) {
  std::string data;
  for (int i = 100'000; i-- > 0;) data += bytes(2, bytes(1, "k" + std::to_string(i)) + bytes(2, "v"));
  const auto result = decode_protobuf(kinds(), envelope("v1", "ConfigMap", data));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result.value()["data"].size(), 100'000U);
}

// A dependency that is neither a schema nor names: null in JSON, and an empty message in protobuf.
TEST(Protobuf, AMapEntryWithoutAValueRoundTrips) {
  const std::string schema = bytes(32, bytes(1, "x") + bytes(2, ""));
  const std::string version = bytes(1, "v1") + bytes(4, bytes(1, schema));
  const Value object =
      decoded("apiextensions.k8s.io/v1", "CustomResourceDefinition", bytes(2, bytes(1, "g") + bytes(7, version)));
  Value whole = object;
  whole.set("apiVersion", "apiextensions.k8s.io/v1");
  whole.set("kind", "CustomResourceDefinition");
  EXPECT_EQ(to_json(object["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["dependencies"]), R"({"x":null})");
  const auto written = encode_protobuf(kinds(), whole);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(decode_protobuf(kinds(), written.value()).value(), whole);
}

TEST(Protobuf, RefusesToWriteValuesWithoutAProtobufForm) {
  const auto result = encode_protobuf(kinds(), yaml("{apiVersion: v1, kind: Pod, spec: {containers: [{name: 3}]}}"));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(result.error().causes.at(0).field, "spec.containers[0].name");
}

}  // namespace
}  // namespace shiplog
