// Addresses of Services: who is first has them.
#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/random.h"
#include "events/fold/fold.h"

namespace shiplog {
namespace {

class FoldServices : public ::testing::Test {
 protected:
  FoldServices() { write({ObjectCreated{{type::kNamespace, "", "default"}, Value::object()}}); }

  Folded write(std::vector<Event> events) {
    Entry entry;
    entry.id = new_entry_id(random_);
    entry.events = std::move(events);
    return fold(state_, entry);
  }
  static ObjectKey key(const std::string& name) { return {type::kService, "default", name}; }
  static Value service(const std::string& ip, int64_t node_port = 0) {
    Value port = Value::object({{"port", 80}});
    if (node_port != 0) port.set("nodePort", node_port);
    return Value::object(
        {{"spec",
          Value::object({{"clusterIP", ip}, {"clusterIPs", Value::array({ip})}, {"ports", Value::array({port})}})}});
  }
  bool taken(std::vector<Event> events) {
    const Folded folded = write(std::move(events));
    return folded.refusal && folded.refusal->address_taken;
  }
  void activate() { write({FoldVersionActivated{4}}); }

  SeededRandom random_{1};
  State state_;
};

TEST_F(FoldServices, AnAddressBelongsToTheFirstService) {
  activate();
  EXPECT_FALSE(taken({ObjectCreated{key("a"), service("10.0.0.2", 30000)}}));
  EXPECT_TRUE(taken({ObjectCreated{key("b"), service("10.0.0.2")}}));
  EXPECT_TRUE(taken({ObjectCreated{key("b"), service("10.0.0.3", 30000)}}));
  EXPECT_EQ(state_.find(key("b")), nullptr);
  EXPECT_TRUE(taken({ObjectCreated{key("b"), service("10.0.0.3")}, ObjectCreated{key("c"), service("10.0.0.3")}}))
      << "in one entry";
  EXPECT_FALSE(taken({ObjectCreated{key("b"), service("10.0.0.3")}}));
  EXPECT_TRUE(taken({ObjectUpdated{key("b"), service("10.0.0.3", 30000)}}));
  EXPECT_FALSE(taken({ObjectCreated{key("none"), service("None")}}));
  EXPECT_FALSE(taken({ObjectCreated{key("neither"), service("None")}}));
}

TEST_F(FoldServices, ADeletedServiceGivesItsAddressesBack) {
  activate();
  EXPECT_FALSE(taken({ObjectCreated{key("a"), service("10.0.0.2", 30000)}}));
  EXPECT_FALSE(taken({ObjectUpdated{key("a"), service("10.0.0.2", 30001)}}));
  EXPECT_FALSE(taken({ObjectCreated{key("b"), service("10.0.0.3", 30000)}}));
  write({DeletionRequested{key("a")}});
  EXPECT_FALSE(taken({ObjectCreated{key("c"), service("10.0.0.2", 30001)}}));
}

TEST_F(FoldServices, OlderJournalsFoldAsTheyDid) {
  EXPECT_FALSE(taken({ObjectCreated{key("a"), service("10.0.0.2", 30000)}}));
  EXPECT_FALSE(taken({ObjectCreated{key("b"), service("10.0.0.2", 30000)}}));
  activate();
  Value labelled = service("10.0.0.2", 30000);
  labelled.edit("metadata").edit("labels").set("a", "b");
  EXPECT_FALSE(taken({ObjectUpdated{key("b"), labelled}})) << "what it has had it keeps";
  EXPECT_TRUE(taken({ObjectCreated{key("c"), service("10.0.0.2")}}));
  write({DeletionRequested{key("a")}});
  EXPECT_TRUE(taken({ObjectCreated{key("c"), service("10.0.0.2")}})) << "b still has it";
}

}  // namespace
}  // namespace shiplog
