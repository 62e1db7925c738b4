// What conversion webhooks are asked, and what they may answer.
#include "services/api/conversion/review.h"

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog::api {
namespace {

Value json(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value ? std::move(value).value() : Value{};
}

Value shirt(const std::string& version, const std::string& spec, const std::string& labels = "{}") {
  Value object = json(R"({"kind":"Shirt","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7",
      "generation":2,"finalizers":["x.io/y"],"annotations":{"note":"old"}}})");
  object.set("apiVersion", "example.com/" + version);
  object.edit("metadata").set("labels", json(labels));
  object.set("spec", json(spec));
  return object;
}

Value answer(const std::vector<Value>& objects, const std::string& version = "v1") {
  Value review = json(R"({"kind":"ConversionReview","response":{"uid":"q","result":{"status":"Success"}}})");
  review.set("apiVersion", "apiextensions.k8s.io/" + version);
  review.edit("response").set("convertedObjects", Value::array(objects));
  return review;
}

/// What one object is converted to if the webhook answers so.
Result<Value> convert(const Value& original, const Value& review, const std::string& version = "v1") {
  auto converted = converted_objects(version, {original}, "example.com/v2", review, "q");
  if (!converted) return converted.error();
  EXPECT_EQ(converted.value().size(), 1U);
  return converted.value()[0];
}

std::string problem(const Value& original, const Value& review) {
  const auto converted = convert(original, review);
  return converted ? "" : converted.error().message;
}

const Value kOriginal = shirt("v1", R"({"size":1})");
const std::string kFor = "conversion webhook for example.com/v1, Kind=Shirt ";

TEST(ConversionReview, IsOfTheFirstVersionThatIsKnown) {
  const auto version = [](const char* versions) {
    return conversion_review_version(Value::object({{"conversionReviewVersions", json(versions)}}));
  };
  EXPECT_EQ(version(R"(["v1","v1beta1"])"), "v1");
  EXPECT_EQ(version(R"(["v2","v1beta1","v1"])"), "v1beta1");
  EXPECT_EQ(version(R"(["v2"])"), "");
  EXPECT_EQ(version("[]"), "");
}

TEST(ConversionReview, ContainsTheObjectsAndTheVersionThatIsWanted) {
  const Value review = conversion_review("v1beta1", {kOriginal}, "example.com/v2", "q");
  EXPECT_EQ(review["kind"].str(), "ConversionReview");
  EXPECT_EQ(review["apiVersion"].str(), "apiextensions.k8s.io/v1beta1");
  EXPECT_EQ(review["request"]["uid"].str(), "q");
  EXPECT_EQ(review["request"]["desiredAPIVersion"].str(), "example.com/v2");
  EXPECT_EQ(review["request"]["objects"][0], kOriginal);
}

TEST(ConvertedObjects, KeepTheirMetadataButForLabelsAndAnnotations) {
  Value changed = shirt("v2", R"({"width":1,"weight":2.0})", R"({"color":"red"})");
  Value& metadata = changed.edit("metadata");
  metadata.set("resourceVersion", "9");
  metadata.set("generation", 99);
  metadata.set("creationTimestamp", "2000-01-01T00:00:00Z");
  metadata.erase("finalizers");
  metadata.set("ownerReferences", json(R"([{"kind":"x"}])"));
  metadata.set("annotations", json(R"({"note":"new"})"));
  const auto converted = convert(kOriginal, answer({changed}));
  ASSERT_TRUE(converted) << converted.error().message;
  Value expected = shirt("v2", R"({"width":1,"weight":2})", R"({"color":"red"})");
  expected.edit("metadata").edit("annotations").set("note", "new");
  EXPECT_EQ(converted.value(), expected);
}

TEST(ConvertedObjects, KeepLabelsAndAnnotationsOfTheControlPlane) {
  const std::string owned = R"({"resourcetemplate.karmada.io/deletion-protected":"Always",
                                "propagationpolicy.karmada.io/permanent-id":"p","mine":"x"})";
  const auto converted =
      convert(shirt("v1", "{}", owned), answer({shirt("v2", "{}", R"({"propagationpolicy.karmada.io/permanent-id":"q",
                                               "clusterpropagationpolicy.karmada.io/permanent-id":"q","mine":"y"})")}));
  ASSERT_TRUE(converted) << converted.error().message;
  EXPECT_EQ(converted.value()["metadata"]["labels"], json(R"({"resourcetemplate.karmada.io/deletion-protected":"Always",
                                                "propagationpolicy.karmada.io/permanent-id":"p","mine":"y"})"));
}

TEST(ConvertedObjects, AreTheSameObjectsInTheWantedVersion) {
  const auto with = [](const char* field, const Value& value) {
    Value object = shirt("v2", "{}");
    object.edit("metadata").set(field, value);
    return answer({object});
  };
  EXPECT_EQ(problem(kOriginal, with("name", "b")), kFor + "returned invalid object: must have the same name: a != b");
  EXPECT_EQ(problem(kOriginal, with("namespace", "m")),
            kFor + "returned invalid object: must have the same namespace: n != m");
  EXPECT_EQ(problem(kOriginal, with("uid", Value{})), kFor + "returned invalid object: must have the same UID: u != ");
  EXPECT_EQ(problem(kOriginal, with("labels", json(R"({"a":1})"))),
            kFor + "returned invalid metadata: metadata.labels[a] must be a string in converted object");
  EXPECT_EQ(problem(kOriginal, with("labels", json(R"({"a b":"c"})"))).find(kFor + "returned invalid metadata: "), 0U);
  EXPECT_EQ(problem(kOriginal, with("annotations", json(R"(["a"])"))).find(kFor + "returned invalid metadata: "), 0U);
  EXPECT_EQ(problem(kOriginal, answer({shirt("v1", "{}")})),
            kFor +
                "returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received "
                "example.com/v1)");
  Value other = shirt("v2", "{}");
  other.set("kind", "Coat");
  EXPECT_EQ(problem(kOriginal, answer({other})),
            kFor + "returned invalid object at index 0: invalid kind (expected Shirt, received Coat)");
  other = shirt("v2", "{}");
  other.erase("metadata");
  EXPECT_EQ(problem(kOriginal, answer({other})), kFor + "returned invalid object: must have the same name: a != ");
}

TEST(ConvertedObjects, OfSeveralErrorsNameTheIndex) {
  const auto converted = converted_objects("v1", {kOriginal, kOriginal}, "example.com/v2",
                                           answer({shirt("v2", "{}"), shirt("v1", "{}")}), "q");
  ASSERT_FALSE(converted);
  EXPECT_EQ(converted.error().message, kFor +
                                           "returned invalid converted object at index 1: invalid groupVersion "
                                           "(expected example.com/v2, received example.com/v1)");
}

TEST(ConvertedObjects, AnswersThatAreNone) {
  EXPECT_EQ(problem(kOriginal, answer({})), kFor + "returned 0 objects, expected 1");
  EXPECT_EQ(problem(kOriginal, json("{}")),
            kFor + "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got , Kind=");
  EXPECT_EQ(problem(kOriginal, json("[]")).find(kFor + "failed: "), 0U);
  EXPECT_EQ(problem(kOriginal, answer({json("[1]")})), kFor + "returned invalid object: it is no object");
  Value review = answer({shirt("v2", "{}")});
  review.edit("response").set("uid", "other");
  EXPECT_EQ(problem(kOriginal, review), kFor + "failed: expected response.uid=\"q\", got \"other\"");
  review = answer({});
  review.edit("response").set("result", json(R"({"status":"Failure","message":"no idea"})"));
  EXPECT_EQ(problem(kOriginal, review), kFor + "failed: no idea");
  review.edit("response").set("result", json("{}"));
  EXPECT_EQ(problem(kOriginal, review), kFor + "failed: response.result.status was '', not 'Success'");
  review.erase("response");
  EXPECT_EQ(problem(kOriginal, review), kFor + "failed: no response provided");
}

TEST(ConvertedObjects, OfV1beta1NeedNeitherUidNorKind) {
  Value review = answer({shirt("v2", "{}")}, "v1beta1");
  review.edit("response").erase("uid");
  EXPECT_TRUE(convert(kOriginal, review, "v1beta1"));
  review.erase("kind");
  EXPECT_TRUE(convert(kOriginal, review, "v1beta1"));
}

}  // namespace
}  // namespace shiplog::api
