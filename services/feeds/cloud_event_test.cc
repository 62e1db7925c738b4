#include "services/feeds/cloud_event.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/codec/codec.h"
#include "events/codec/samples.h"
#include "events/fold/fold.h"
#include "services/adapters/vault/vault.h"
#include "services/feeds/event_schema.h"
#include "services/feeds/redact.h"
#include "tests/support/feed_consumer.h"
#include "tests/support/fold_history.h"
#include "tests/support/json_schema.h"
#include "tests/support/must.h"

namespace shiplog::feeds {
namespace {

using test::FeedConsumer;
using test::json;

constexpr const char* kSource = "urn:shiplog:fleet:test";

VersionOperation operation_of(const Change& change) {
  if (change.removed()) return VersionOperation::kRemoved;
  return change.created() ? VersionOperation::kCreated : VersionOperation::kUpdated;
}

FeedEntry entry_of(Offset offset, const Entry& entry, const Folded& folded) {
  FeedEntry made{offset, entry, folded.revision, {}};
  for (const Change& change : folded.changes) {
    made.changes.push_back({change.object, change.revision, operation_of(change), *change.json, ""});
  }
  return made;
}

std::vector<Value> parsed(const std::vector<CloudEvent>& events) {
  std::vector<Value> values;
  for (const CloudEvent& event : events) values.push_back(must(parse_json(to_json(event))));
  return values;
}

TEST(CloudEvents, EverySampleMatchesTheSchemaOfItsKind) {
  std::map<std::string, Value> schemas;
  for (FeedEventSchema& schema : event_schemas()) schemas[schema.kind] = std::move(schema.schema);
  const ObjectKey changed{"configmaps", "default", "other"};
  std::set<std::string> seen;
  for (const Event& event : samples::every_kind()) {
    Entry entry = must(decode(encode(samples::entry_of({event}))));
    const std::string kind{name_of(event)};
    // Without a change, with one of its own, with one of another object, with a removal.
    std::vector<ChangeRow> changes;
    if (const ObjectKey key = subject_of(event); !key.empty()) {
      changes.push_back({key, Revision{7}, VersionOperation::kUpdated, R"({"kind":"Any"})", ""});
    }
    changes.push_back({changed, Revision{8}, VersionOperation::kRemoved, R"({"kind":"Any"})", ""});
    for (const bool with : {false, true}) {
      const FeedEntry of{Offset{3}, entry, Revision{8}, with ? changes : std::vector<ChangeRow>{}};
      const auto events = parsed(must(cloud_events_of(of, kSource)));
      EXPECT_EQ(events.size(), with ? 2U : 1U) << kind;
      for (const Value& value : events) {
        EXPECT_EQ(test::JsonSchema::errors(schemas.at(kind), value), std::vector<std::string>{}) << to_json(value);
        EXPECT_EQ(value["type"].str(), type_of(family_of(event), kind));
      }
    }
    seen.insert(kind);
  }
  EXPECT_EQ(seen.size(), schemas.size()) << "every kind has a sample and a schema";
}

TEST(CloudEvents, ASchemaRefusesWhatIsNotSuchAnEvent) {
  const FeedEventSchema schema = event_schemas().front();
  const Entry entry = samples::entry_of({ObjectCreated{{"configmaps", "default", "a"}, Value::object()}});
  const FeedEntry of{Offset{3}, entry, Revision{8}, {}};
  Value event = parsed(must(cloud_events_of(of, kSource))).front();
  ASSERT_TRUE(test::JsonSchema::errors(schema.schema, event).empty());
  Value other = event;
  other.set("type", "io.shiplog.api.ObjectUpdated.v1");
  EXPECT_FALSE(test::JsonSchema::errors(schema.schema, other).empty());
  other = event;
  other.edit("data").edit("event").erase("object");
  EXPECT_FALSE(test::JsonSchema::errors(schema.schema, other).empty());
  other = event;
  other.set("id", "1");
  EXPECT_FALSE(test::JsonSchema::errors(schema.schema, other).empty());
}

TEST(CloudEvents, SequencesCompareAsTextAndAreReadAgain) {
  const Sequence small{Offset{9}, 10};
  const Sequence large{Offset{10}, 9};
  EXPECT_LT(small, large);
  EXPECT_LT(to_string(small), to_string(large));
  EXPECT_EQ(must(parse_sequence(to_string(large))), large);
  for (const char* wrong : {"", "1", "1.", ".1", "-1.0", "1.x", "1.-1", "99999999999999999999.0"}) {
    EXPECT_FALSE(parse_sequence(wrong)) << wrong;
  }
}

/// Random writes, some of which are refused, and the consumer that knows them from their events only.
struct FeedHistory {
  testing::FoldHistory fold = testing::FoldHistory::with_namespace();
  FeedConsumer consumer;
  std::vector<CloudEvent> events;
  int64_t offset = 0;
  size_t refused = 0;

  void put(std::vector<Event> of) {
    const Entry entry = fold.entry(std::move(of));
    const Folded folded = shiplog::fold(fold.state, entry);
    ++offset;
    if (folded.refusal) {
      ++refused;
      return;
    }
    for (CloudEvent& event : must(cloud_events_of(entry_of(Offset{offset}, entry, folded), kSource))) {
      events.push_back(std::move(event));
    }
  }
  size_t below(size_t bound) { return fold.random.next() % bound; }
};

TEST(CloudEvents, AConsumerRebuildsObjectsAndHashOfAnyHistoryInAnyOrder) {
  FeedHistory history;
  history.fold = {};
  history.put({ObjectCreated{testing::kNamespaceKey,
                             json(R"({"metadata":{"name":"default"},"spec":{"finalizers":["kubernetes"]}})")}});
  for (int step = 0; step < 600; ++step) {
    std::vector<Event> events;
    for (size_t more = history.below(3) + 1; more > 0; --more) {
      const std::string name = "object-" + std::to_string(history.below(12));
      const ObjectKey key{"configmaps", "default", name};
      Value value = Value::object({{"metadata", Value::object({{"name", name}, {"namespace", "default"}})},
                                   {"data", Value::object({{"text", std::to_string(step)}})}});
      switch (history.below(4)) {
        case 0:
          events.push_back(ObjectCreated{key, value});
          break;
        case 1:
          events.push_back(DeletionRequested{key});
          break;
        case 2:
          events.push_back(StatusAggregated{.binding = testing::kBindingKey,
                                            .aggregated_status = Value::array({step}),
                                            .fully_applied = true,
                                            .reason = "R",
                                            .message = "",
                                            .template_object = key,
                                            .template_status = Value::object({{"step", step}})});
          break;
        default:
          events.push_back(ObjectUpdated{key, value});
      }
    }
    history.put(std::move(events));
    if (step == 5) {
      history.put({BindingPut{testing::kBindingKey,
                              json(R"({"metadata":{"name":"web-deployment","namespace":"default"},"spec":{}})"),
                              {}}});
    }
    if (step % 100 == 99) history.put({StateHashed{history.fold.state.revision(), history.fold.state.hash()}});
  }
  EXPECT_GT(history.refused, 50U);
  // Backwards, and every third one twice: as redelivered from several partitions.
  FeedConsumer consumer;
  for (size_t index = history.events.size(); index-- > 0;) {
    const Value event = must(parse_json(to_json(history.events[index])));
    EXPECT_TRUE(consumer.take(event));
    if (index % 3 == 0) {
      EXPECT_FALSE(consumer.take(event));
    }
  }
  const State& state = history.fold.state;
  EXPECT_EQ(consumer.complete_to(), static_cast<int64_t>(state.revision().value));
  EXPECT_EQ(consumer.hash(), to_string(state.hash()));
  std::map<std::string, std::string> objects;
  for (const std::string& type : state.types()) {
    for (const auto& [name, object] : state.objects(type)) {
      objects[type + "/" + name.ns + "/" + name.name] = to_json(object.value);
    }
  }
  EXPECT_EQ(consumer.objects(), objects);
  // One order over all of them, and per object the order of its revisions.
  EXPECT_TRUE(std::ranges::is_sorted(history.events, {}, &CloudEvent::sequence));
}

TEST(CloudEvents, OfASecretOnlyWhatIsNoPayloadIsLeftAlsoInAWork) {
  const auto vault = Vault::in_memory();
  const ObjectKey key{type::kSecret, "default", "login"};
  const Value secret =
      json(R"({"apiVersion":"v1","kind":"Secret","type":"Opaque","data":{"password":"aHVudGVyMg=="},)"
           R"("metadata":{"name":"login","namespace":"default","labels":{"app":"web"},"annotations":{"note":"kept",)"
           R"("kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"password\":\"aHVudGVyMg==\"}}"}}})");
  const Value sealed = must(vault->seal(key, secret));
  ASSERT_NE(to_json(sealed).find("shiplog:sealed:"), std::string::npos);
  const ObjectKey work_key{type::kWork, "karmada-es-m1", "login"};
  const Value work = Value::object(
      {{"apiVersion", "work.karmada.io/v1alpha1"},
       {"kind", "Work"},
       {"metadata", Value::object({{"name", "login"}, {"namespace", "karmada-es-m1"}})},
       {"spec", Value::object({{"workload", Value::object({{"manifests", Value::array({sealed, "plain"})}})}})}});
  for (const auto& [object, stored] : {std::pair{key, sealed}, std::pair{work_key, work}, std::pair{key, secret}}) {
    FeedEntry of{Offset{1}, samples::entry_of({ObjectCreated{object, stored}}), Revision{5}, {}};
    of.changes.push_back({object, Revision{5}, VersionOperation::kCreated, to_json(stored), ""});
    const CloudEvent event = must(cloud_events_of(of, kSource)).front();
    const std::string text = to_json(event);
    for (const char* payload : {"shiplog:sealed:", "aHVudGVyMg", "hunter2", "\"password\""}) {
      EXPECT_EQ(text.find(payload), std::string::npos) << payload << " is in " << text;
    }
    const Value change = must(parse_json(text))["data"]["change"];
    EXPECT_TRUE(change["redacted"].as_bool());
    EXPECT_NE(text.find("\"note\":\"kept\""), std::string::npos);
    EXPECT_EQ(change["hash"].str(), to_string(siphash128(to_string(object) + "\n" + to_json(stored))))
        << "of the object as it is stored";
  }
}

TEST(CloudEvents, SealedTextIsLeftOutWhereverItIsAndNothingElse) {
  const std::string sealed = "shiplog:sealed:v1:00ff:AAAA";
  const Value value = Value::object({{"answers", Value::object({{"a", Value::object({{"answer", sealed}})}})},
                                     {"list", Value::array({"x", "copy of " + sealed, 3})},
                                     {"other", "kept"},
                                     {sealed, "as a key"}});
  const Redacted redacted = redact(value);
  EXPECT_TRUE(redacted.redacted);
  EXPECT_EQ(to_json(redacted.value), R"({"answers":{"a":{}},"list":["x",null,3],"other":"kept"})");
  const Value plain = json(R"({"data":{"a":"b"},"kind":"ConfigMap","apiVersion":"v1"})");
  EXPECT_FALSE(redact(plain).redacted);
  EXPECT_EQ(redact(plain).value, plain);
  // Without its kind, a Secret is known by its type.
  EXPECT_FALSE(redact(type::kSecret, json(R"({"data":{"a":"b"}})")).value.contains("data"));
}

TEST(CloudEvents, AVeryLargeExplanationIsReducedToItsSummary) {
  PlacementDecided decided{.binding = testing::kBindingKey,
                           .targets = {},
                           .observed_generation = 1,
                           .applied_placement = "{}",
                           .affinity_name = "",
                           .why = {PlacementMade{}, "", {}, {}, {}}};
  for (int cluster = 0; cluster < 5'000; ++cluster) {
    decided.why.add(
        {"member-" + std::to_string(cluster), 0, 1, -1},
        {{{"TaintToleration", false, Text{"taint " + std::to_string(cluster) + std::string(200, 'x')}}}, {}});
  }
  const FeedEntry of{Offset{3}, samples::entry_of({decided}), Revision{8}, {}};
  const CloudEvent event = must(cloud_events_of(of, kSource)).front();
  EXPECT_LT(event.data.size(), 10'000U);
  const Value why = must(parse_json(event.data))["event"]["why"];
  EXPECT_EQ(why["omitted"], Value{true});
  EXPECT_FALSE(why["summary"].as_string().empty());
}

TEST(CloudEvents, AnEntryOfManyEventsHasOneOfEachAndItsChangesOnce) {
  const ObjectKey map{"configmaps", "default", "a"};
  const ObjectKey other{"deployments.apps", "default", "web"};
  const Entry entry = samples::entry_of({ObjectUpdated{map, Value::object()}, ObjectUpdated{map, Value::object()},
                                         StatusAggregated{.binding = testing::kBindingKey,
                                                          .aggregated_status = {},
                                                          .fully_applied = true,
                                                          .reason = "",
                                                          .message = "",
                                                          .template_object = other,
                                                          .template_status = {}},
                                         DeletionRequested{map}});
  const FeedEntry of{Offset{4},
                     entry,
                     Revision{12},
                     {{map, Revision{11}, VersionOperation::kUpdated, "{}", ""},
                      {other, Revision{12}, VersionOperation::kUpdated, "{}", ""}}};
  const auto events = must(cloud_events_of(of, kSource));
  ASSERT_EQ(events.size(), 5U);
  const std::string id = to_string(entry.id);
  std::vector<std::string> ids;
  for (const CloudEvent& event : events) ids.push_back(event.id.substr(id.size()));
  EXPECT_EQ(ids, (std::vector<std::string>{"-0", "-1", "-2", "-3", "-2-r12"}));
  EXPECT_EQ(events[4].family, Family::kDispatch);
  EXPECT_EQ(events[4].subject, "deployments.apps/default/web");
  const auto values = parsed(events);
  std::vector<int64_t> revisions;
  for (const Value& value : values) revisions.push_back(value["data"]["change"]["revision"].as_int());
  EXPECT_EQ(revisions, (std::vector<int64_t>{0, 0, 0, 11, 12})) << "with the last event about the object";
  EXPECT_EQ(parsed(must(cloud_events_of(of, kSource))), values) << "the same whenever it is made";
}

}  // namespace
}  // namespace shiplog::feeds
