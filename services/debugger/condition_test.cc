#include "services/debugger/condition.h"

#include <gtest/gtest.h>

#include "services/debugger/words.h"

namespace shiplog::debugger {
namespace {

std::string error_of(std::string_view text) {
  const auto parsed = BreakCondition::parse(text);
  return parsed ? "" : parsed.error().message;
}

class ConditionsOfMoments : public ::testing::Test {
 protected:
  ConditionsOfMoments() {
    put({ObjectCreated{{type::kNamespace, "", "default"}, named("default", "")}});
    put({ObjectCreated{web(), with_replicas(2)}});
    put({ObjectCreated{binding(), placed({"m1"})}});
  }

  static ObjectKey web() { return {"deployments.apps", "default", "web"}; }
  static ObjectKey binding() { return {type::kResourceBinding, "default", "web-deployment"}; }
  static Value named(const std::string& name, const std::string& ns) {
    Value metadata = Value::object({{"name", name}});
    if (!ns.empty()) metadata.set("namespace", ns);
    return Value::object({{"metadata", std::move(metadata)}});
  }
  static Value with_replicas(int64_t replicas) {
    Value value = named("web", "default");
    value.edit("spec").set("replicas", replicas);
    value.edit("metadata").edit("labels").set("app.io/name", "web");
    return value;
  }
  static Value placed(const std::vector<std::string>& clusters) {
    Value value = named("web-deployment", "default");
    for (const std::string& name : clusters) {
      value.edit("spec").edit("clusters").push_back(Value::object({{"name", name}, {"replicas", 1}}));
    }
    return value;
  }

  void put(std::vector<Event> events, const std::string& user = "ann") {
    entry_ = {};
    entry_.id.bytes[0] = static_cast<uint8_t>(++entries_);
    entry_.time = UtcMillis{1'700'000'000'000 + entries_};
    entry_.actor = {user, {}, "api", "", ""};
    entry_.request = {"update", "/"};
    entry_.events = std::move(events);
    folded_ = fold(state_, entry_);
  }
  Moment moment() const { return {Offset{entries_ - 1}, &entry_, &folded_, state_}; }
  bool holds(std::string_view text) const {
    const auto parsed = BreakCondition::parse(text);
    EXPECT_TRUE(parsed) << text << ": " << parsed.error().message;
    return parsed && parsed.value().holds(moment());
  }

  State state_;
  Entry entry_;
  Folded folded_;
  int64_t entries_ = 0;
};

TEST_F(ConditionsOfMoments, ErrorsNameTheColumn) {
  EXPECT_EQ(error_of(""), "the condition is empty");
  EXPECT_NE(error_of("object").find("at the end: expected an object"), std::string::npos) << error_of("object");
  EXPECT_NE(error_of("object Deployment default/web").find("at the end of the condition: expected exists"),
            std::string::npos)
      << error_of("object Deployment default/web");
  EXPECT_NE(error_of("object Deployment default/web .spec.replicas = 3").find("column 46: expected =="),
            std::string::npos)
      << error_of("object Deployment default/web .spec.replicas = 3");
  EXPECT_NE(error_of("refused and (denied or decision").find("expected a closing parenthesis"), std::string::npos);
  EXPECT_NE(error_of("refused denied").find("column 9: expected and, or"), std::string::npos);
  EXPECT_NE(error_of("family schedulng").find("column 8: expected a family"), std::string::npos);
  EXPECT_NE(error_of("event PlacementDecide").find("column 7: expected the name of an event"), std::string::npos);
  EXPECT_NE(error_of("colour red").find("column 1: expected not, ( or one of about"), std::string::npos);
  EXPECT_NE(error_of("revision > many").find("column 12: expected a number"), std::string::npos);
  EXPECT_NE(error_of("time > yesterday").find("column 8: expected a time"), std::string::npos);
  EXPECT_NE(error_of("user \"ann").find("column 6: the quote is not closed"), std::string::npos);
  EXPECT_NE(error_of("object a b .spec[x] exists").find("column 12"), std::string::npos);
  EXPECT_NE(error_of("binding default/web placed member1").find("expected on"), std::string::npos);
  EXPECT_NE(error_of("object a b .c ! 3").find("column 15: ! alone"), std::string::npos);
}

TEST_F(ConditionsOfMoments, AreBounded) {
  std::string nested(2000, '(');
  EXPECT_NE(error_of(nested + "refused").find("64 nested"), std::string::npos);
  std::string nots;
  for (int i = 0; i < 2000; ++i) nots += "not ";
  EXPECT_NE(error_of(nots + "refused").find("64 nested"), std::string::npos);
  std::string many = "refused";
  for (int i = 0; i < 300; ++i) many += " or refused";
  EXPECT_NE(error_of(many).find("256 terms"), std::string::npos);
  EXPECT_NE(error_of(std::string(20'000, 'x')).find("longer than"), std::string::npos);
}

TEST_F(ConditionsOfMoments, LookAtObjects) {
  EXPECT_TRUE(holds("object Deployment default/web exists"));
  EXPECT_TRUE(holds("object deploy default/web exists"));
  EXPECT_TRUE(holds("object deployments.apps/default/web exists"));
  EXPECT_TRUE(holds("object deployment web exists")) << "without a namespace: of any";
  EXPECT_TRUE(holds("object * */w* exists"));
  EXPECT_FALSE(holds("object Deployment other/web exists"));
  EXPECT_FALSE(holds("object ConfigMap default/web exists"));
  EXPECT_TRUE(holds("object Deployment default/web .spec.replicas == 2"));
  EXPECT_FALSE(holds("object Deployment default/web .spec.replicas > 2"));
  EXPECT_TRUE(holds("object Deployment default/web .spec.replicas >= 2"));
  EXPECT_TRUE(holds("object Deployment default/web .spec.replicas < 2.5"));
  EXPECT_TRUE(holds("object Deployment default/web .spec.replicas != \"2\"")) << "text is not a number";
  EXPECT_TRUE(holds("object Deployment default/web .metadata.labels[\"app.io/name\"] == web"));
  EXPECT_TRUE(holds("object Deployment default/web .spec.paused == null"));
  EXPECT_FALSE(holds("object Deployment default/web .spec.paused exists"));
  EXPECT_FALSE(holds("object Deployment default/gone .spec.paused == null")) << "an object that is not there has none";
  EXPECT_TRUE(holds("object ResourceBinding default/web-deployment .spec.clusters[*].name == m1"));
  EXPECT_TRUE(holds("object ResourceBinding default/web-deployment .spec.clusters[name=m1].replicas == 1"));
  EXPECT_TRUE(holds("binding default/web-deployment placed on m1"));
  EXPECT_TRUE(holds("binding web-deployment placed on m*"));
  EXPECT_FALSE(holds("binding default/web-deployment placed on m2"));
}

TEST_F(ConditionsOfMoments, ComposeWithAndStrongerThanOr) {
  EXPECT_TRUE(holds("refused and refused or object Deployment web exists"));
  EXPECT_TRUE(holds("object Deployment web exists or refused and refused"));
  EXPECT_FALSE(holds("(object Deployment web exists or refused) and refused"));
  EXPECT_TRUE(holds("not refused and not (denied or decision)"));
  EXPECT_FALSE(holds("not not refused"));
}

TEST_F(ConditionsOfMoments, LookAtEntries) {
  put({ObjectUpdated{web(), with_replicas(5)}});
  EXPECT_TRUE(holds("changes Deployment default/web"));
  EXPECT_TRUE(holds("changes Deployment default/web .spec.replicas"));
  EXPECT_TRUE(holds("changes Deployment default/web .spec.replicas == 5"));
  EXPECT_FALSE(holds("changes Deployment default/web .spec.replicas == 2"));
  EXPECT_FALSE(holds("changes Deployment default/web .metadata.labels"));
  EXPECT_FALSE(holds("creates Deployment default/web"));
  EXPECT_TRUE(holds("family api and event ObjectUpdated and user an* and service api and verb update"));
  EXPECT_TRUE(holds("revision == 4 and offset == 3 and time > 2023-11-14T22:13:20Z"));
  EXPECT_FALSE(holds("user bob"));

  put({ObjectUpdated{binding(), placed({"m2", "m3"})}});
  EXPECT_TRUE(holds("binding default/web-deployment gains m2"));
  EXPECT_TRUE(holds("binding default/web-deployment loses m1"));
  EXPECT_FALSE(holds("binding default/web-deployment gains m1"));
  EXPECT_FALSE(holds("object Deployment default/web gains m2"));

  put({ObjectRemoved{web()}});
  EXPECT_TRUE(holds("removes Deployment default/web"));
  EXPECT_FALSE(holds("refused"));
  put({ObjectUpdated{web(), with_replicas(1)}});
  EXPECT_TRUE(holds("refused and about Deployment default/web"));
  EXPECT_FALSE(holds("changes Deployment default/web")) << "a refused entry changes nothing";
}

TEST_F(ConditionsOfMoments, AWatchOfTheStateStopsWhereItBeginsToHold) {
  ConditionWatch more{BreakCondition::parse("object Deployment default/web .spec.replicas > 3").value()};
  ConditionWatch both{
      BreakCondition::parse("changes Deployment web and object Deployment web .spec.replicas > 3").value()};
  EXPECT_FALSE(more.begin(moment()));
  both.begin(moment());
  std::vector<std::pair<bool, bool>> stops;
  for (const int64_t replicas : {3, 4, 5, 1, 9}) {
    put({ObjectUpdated{web(), with_replicas(replicas)}});
    const bool first = more.stops_at(moment());
    stops.emplace_back(first, both.stops_at(moment()));
    EXPECT_EQ(more.held(), more.condition().holds(moment())) << "what is remembered is what is looked up";
  }
  const std::vector<std::pair<bool, bool>> expected{
      {false, false}, {true, true}, {false, true}, {false, false}, {true, true}};
  EXPECT_EQ(stops, expected);
}

TEST(DebuggerWords, AreReadWithColumnsAndEscapes) {
  const auto words = words_of(R"(a "b c" .d["x y"].e >= (f)=)").value();
  ASSERT_EQ(words.size(), 8U);
  EXPECT_EQ(words[1].text, "b c");
  EXPECT_EQ(words[1].column, 3U);
  EXPECT_EQ(words[2].text, R"(.d["x y"].e)");
  EXPECT_EQ(words[3].text, ">=");
  EXPECT_EQ(words[5].text, "f");
  EXPECT_FALSE(words_of(".a[1"));
  EXPECT_EQ(value_of({CommandWord::Kind::kPlain, "-3", 1}), Value{-3});
  EXPECT_EQ(value_of({CommandWord::Kind::kQuoted, "-3", 1}), Value{"-3"});
  EXPECT_EQ(value_of({CommandWord::Kind::kPlain, "1-2", 1}), Value{"1-2"});
  const auto list = words_of(R"(set .a [{"operator": "Exists"}])").value();
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(value_of(list[2])[0]["operator"].as_string(), "Exists");
  EXPECT_EQ(value_of({CommandWord::Kind::kPlain, "[1", 1}), Value{"[1"});
}

TEST(DebuggerWords, ControlCharactersAreWritten) {
  EXPECT_EQ(without_controls("a\x1b[31mb\r\n\tc\x7f"), "a\\x1b[31mb\\x0d\n\tc\\x7f");
  EXPECT_EQ(without_controls("x\xe2\x80\xaey\xc2\x9bz"), "x\\u202ey\\u009bz");
  EXPECT_EQ(without_controls("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(without_controls("größer \xe2\x82\xac"), "größer \xe2\x82\xac");
}

TEST(DebuggerWords, GlobsTakeTheirTimeOnly) {
  EXPECT_TRUE(matches_glob("a*c*e", "abcde"));
  EXPECT_FALSE(matches_glob("a*c", "abcd"));
  EXPECT_TRUE(matches_glob("**", ""));
  EXPECT_FALSE(matches_glob("", "a"));
  std::string pattern;
  for (int i = 0; i < 2000; ++i) pattern += "a*";
  EXPECT_FALSE(matches_glob(pattern + "b", std::string(20'000, 'a')));
}

TEST(DebuggerValuePath, SetsAndErases) {
  Value root =
      Value::object({{"list", Value::array({Value::object({{"name", "a"}}), Value::object({{"name", "b"}})})}});
  const auto path = [](std::string_view text) { return ValuePath::parse(text).value(); };
  EXPECT_TRUE(path(".spec.replicas").set(root, 3));
  EXPECT_EQ(root["spec"]["replicas"].as_int(), 3);
  EXPECT_TRUE(path(".list[name=b].weight").set(root, 7));
  EXPECT_EQ(root["list"][1]["weight"].as_int(), 7);
  EXPECT_FALSE(path(".list[5].weight").set(root, 7));
  EXPECT_FALSE(path(".list[*].weight").set(root, 7));
  EXPECT_FALSE(path(".spec.replicas.deeper").set(root, 7)) << "a number has no members";
  EXPECT_TRUE(path(".list[0]").erase(root));
  EXPECT_EQ(root["list"].items().size(), 1U);
  EXPECT_EQ(path(".spec.gone").erase(root).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(ValuePath::parse("spec"));
  EXPECT_FALSE(ValuePath::parse(".a..b"));
  EXPECT_FALSE(ValuePath::parse(".a[99999999999999999999999]"));
}

}  // namespace
}  // namespace shiplog::debugger
