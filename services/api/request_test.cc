#include "services/api/request.h"

#include <gtest/gtest.h>

namespace shiplog::api {
namespace {

HttpRequest get(const std::string& target) {
  HttpRequest request;
  request.target = target;
  EXPECT_TRUE(parse_target(request));
  return request;
}

TEST(ResourcePath, NamesGroupVersionNamespaceAndSubresource) {  // PATH-1, PATH-2
  const auto path = parse_resource_path("/apis/apps/v1/namespaces/default/deployments/nginx/scale").value();
  EXPECT_EQ(path.group, "apps");
  EXPECT_EQ(path.version, "v1");
  EXPECT_EQ(path.ns, "default");
  EXPECT_EQ(path.resource, "deployments");
  EXPECT_EQ(path.name, "nginx");
  EXPECT_EQ(path.subresource, "scale");
  EXPECT_EQ(parse_resource_path("/api/v1/pods")->resource, "pods");
  EXPECT_EQ(parse_resource_path("/api/v1/pods")->group, "");
  EXPECT_FALSE(parse_resource_path("/api/v1"));
  EXPECT_FALSE(parse_resource_path("/apis/apps/v1"));
  EXPECT_FALSE(parse_resource_path("/version"));
}

TEST(ResourcePath, NamespaceSubresourcesAreTheNamespacesOwn) {  // PATH-2
  const auto finalize = parse_resource_path("/api/v1/namespaces/team-a/finalize").value();
  EXPECT_EQ(finalize.resource, "namespaces");
  EXPECT_EQ(finalize.name, "team-a");
  EXPECT_EQ(finalize.ns, "");
  EXPECT_EQ(finalize.subresource, "finalize");
  EXPECT_EQ(parse_resource_path("/api/v1/namespaces/team-a")->name, "team-a");
  EXPECT_EQ(parse_resource_path("/api/v1/namespaces/team-a/pods")->ns, "team-a");
}

TEST(Negotiate, TakesTheFirstClauseThatCanBeMet) {  // NEG-1, NEG-5, NEG-7
  EXPECT_EQ(negotiate("", false).value().form, Accept::Form::kObject);
  const auto table = negotiate("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", true).value();
  EXPECT_EQ(table.form, Accept::Form::kTable);
  EXPECT_EQ(table.meta_version, "meta.k8s.io/v1");
  const auto fallback = negotiate("application/vnd.kubernetes.protobuf,application/json;q=0.5", false).value();
  EXPECT_EQ(fallback.form, Accept::Form::kObject);
  EXPECT_TRUE(negotiate("application/yaml", false).value().yaml);
}

TEST(Negotiate, RefusesWhatNothingCanMeet) {  // NEG-2, NEG-6
  EXPECT_EQ(negotiate("text/html", false).error().code, ErrorCode::kNotAcceptable);
  EXPECT_EQ(negotiate("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", true).error().code,
            ErrorCode::kNotAcceptable);
  EXPECT_TRUE(negotiate("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", true));
}

TEST(Negotiate, SkipsTablesOfWhatHasNone) {  // NEG-2, NEG-5
  const std::string table = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const auto refused = negotiate(table, false, false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNotAcceptable);
  EXPECT_EQ(refused.error().message.find("Table"), std::string::npos);
  EXPECT_EQ(negotiate(table + ",application/json", false, false).value().form, Accept::Form::kObject);
}

TEST(Flags, AreFalseOnlyWhenAbsentZeroOrFalse) {  // HTTP-8
  EXPECT_FALSE(flag(get("/x"), "watch"));
  EXPECT_FALSE(flag(get("/x?watch=0"), "watch"));
  EXPECT_FALSE(flag(get("/x?watch=False"), "watch"));
  EXPECT_TRUE(flag(get("/x?watch=True"), "watch"));
  EXPECT_TRUE(flag(get("/x?watch"), "watch"));
}

TEST(ReadOptions, RefuseWhatContradictsItself) {  // LIST-8, LIST-10, LIST-13, W-14
  EXPECT_EQ(read_options(get("/x?resourceVersionMatch=Exact")).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(read_options(get("/x?resourceVersion=0&resourceVersionMatch=Exact")).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(read_options(get("/x?continue=abc&resourceVersion=5")).error().code, ErrorCode::kBadRequest);
  EXPECT_EQ(read_options(get("/x?sendInitialEvents=true")).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(read_options(get("/x?watch=1&sendInitialEvents=true")).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(read_options(get("/x?limit=many")).error().code, ErrorCode::kBadRequest);
  EXPECT_EQ(read_options(get("/x?resourceVersion=-1")).error().code, ErrorCode::kBadRequest);
  EXPECT_TRUE(read_options(get("/x?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan")));
}

TEST(WriteParameters, KnowDryRunAndFieldValidation) {
  EXPECT_TRUE(write_parameters(get("/x?dryRun=All")).value().dry_run);
  EXPECT_EQ(write_parameters(get("/x?dryRun=Some")).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(write_parameters(get("/x?fieldValidation=Strict")).value().field_validation, FieldValidation::kStrict);
  EXPECT_EQ(write_parameters(get("/x?fieldValidation=Hard")).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace shiplog::api
