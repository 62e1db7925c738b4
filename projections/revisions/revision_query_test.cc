#include "projections/revisions/revision_query.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/state/pod_template.h"
#include "tests/support/projected_fleet.h"

namespace shiplog {
namespace {

const ObjectKey kWeb{"deployments.apps", "default", "web"};

Value pod_template(const std::string& image) { return Value::object({{"image", image}}); }

struct Deployed {
  std::string image;
  int64_t generation = 1;
  std::string cause = {};
  bool paused = false;
  int64_t limit = 10;
};

Value deployment(const Deployed& wanted) {
  Value annotations = Value::object({{"kubectl.kubernetes.io/last-applied-configuration", "{}"},
                                     {"propagationpolicy.karmada.io/name", "p"},
                                     {"kubernetes.io/change-cause", wanted.cause}});
  Value spec = Value::object({{"template", pod_template(wanted.image)}, {"revisionHistoryLimit", wanted.limit}});
  if (wanted.paused) spec.set("paused", true);
  return Value::object({{"metadata", Value::object({{"name", "web"},
                                                    {"namespace", "default"},
                                                    {"generation", wanted.generation},
                                                    {"annotations", annotations}})},
                        {"spec", spec}});
}

class Revisions : public ::testing::Test {
 protected:
  void create(const Deployed& wanted) { fleet_.write({ObjectCreated{kWeb, deployment(wanted)}}); }
  void update(const Deployed& wanted) { fleet_.write({ObjectUpdated{kWeb, deployment(wanted)}}); }

  /// "3:nginx:2 2:nginx:1", newest first.
  std::string history(const RevisionList& which = {.type = "deployments.apps", .ns = "default", .name = "web"}) {
    std::string text;
    Reader reader = fleet_.reader();
    const View view = must(reader.view());
    must(RevisionQuery{view}.visit(which, [&](const TemplateRevision& revision) {
      last_ = text.empty() ? revision : last_;
      EXPECT_EQ(revision.newest, text.empty());
      text += (text.empty() ? "" : " ") + std::to_string(revision.number) + ":" +
              must(parse_json(revision.pod_template))["image"].str();
      return true;
    }));
    return text;
  }

  TestFleet fleet_;
  TemplateRevision last_;
};

TEST_F(Revisions, EveryTemplateGetsANumber) {
  create({"a"});
  update({.image = "a", .cause = "why"});
  EXPECT_EQ(history(), "1:a");
  EXPECT_EQ(last_.annotations, R"({"kubernetes.io/change-cause":"why"})")
      << "without annotations of kubectl and Karmada";
  EXPECT_EQ(last_.hash, template_hash(pod_template("a")));
  update({"b"});
  update({"c"});
  EXPECT_EQ(history(), "3:c 2:b 1:a");
  EXPECT_EQ(history({.type = "deployments.apps"}), "3:c 2:b 1:a");
  EXPECT_EQ(history({.type = "deployments.apps", .ns = "other"}), "");
  EXPECT_EQ(history({.type = "statefulsets.apps"}), "");
}

TEST_F(Revisions, ATemplateThatIsUsedAgainBecomesTheNewest) {
  create({"a"});
  const std::string created = (history(), last_.created);
  update({"b"});
  update({"a"});
  EXPECT_EQ(history(), "3:a 2:b");
  EXPECT_EQ(last_.created, created);
  EXPECT_EQ(last_.generation, 3);
}

TEST_F(Revisions, ChangesOfAPausedDeploymentMakeOneRevision) {
  create({"a"});
  update({.image = "a", .paused = true});
  update({.image = "b", .paused = true});
  update({.image = "c", .paused = true});
  EXPECT_EQ(history(), "1:a");
  update({"c"});
  EXPECT_EQ(history(), "2:c 1:a");
  update({.image = "c", .paused = true});
  update({"c"});
  EXPECT_EQ(history(), "2:c 1:a");
}

TEST_F(Revisions, OldRevisionsAreDeletedByTheHistoryLimit) {
  create({.image = "a", .limit = 2});
  for (const char* image : {"b", "c", "d"}) update({.image = image, .limit = 2});
  EXPECT_EQ(history(), "4:d 3:c 2:b");
  update({.image = "d", .limit = 0});
  EXPECT_EQ(history(), "4:d");
  update({.image = "e", .limit = 0});
  EXPECT_EQ(history(), "5:e");
}

TEST_F(Revisions, ARemovedWorkloadHasNone) {
  create({"a"});
  fleet_.remove(kWeb);
  EXPECT_EQ(history(), "");
  create({"b"});
  EXPECT_EQ(history(), "1:b");
}

}  // namespace
}  // namespace shiplog
