#include "services/programs/shiplogctl/effects.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/must.h"

namespace shiplog::ctl {
namespace {

Value item(int64_t node, int64_t parent, int64_t after, const char* service, const char* kind, const std::string& name,
           const std::string& summary = {}) {
  Value event = Value::object(
      {{"kind", kind},
       {"object",
        Value::object({{"type", "resourcebindings.work.karmada.io"}, {"namespace", "default"}, {"name", name}})}});
  if (!summary.empty()) event.set("summary", summary);
  Value made = Value::object({{"node", node},
                              {"revision", 40 + node},
                              {"time", "2026-11-24T03:12:00.000Z"},
                              {"user", "alice"},
                              {"result", "accepted"},
                              {"afterMillis", after},
                              {"events", Value::array({event})}});
  if (*service != '\0') made.set("service", service);
  if (node > 0) made.set("parent", parent);
  return made;
}

Value answer_of(std::vector<Value> items) {
  Value kinds = Value::object();
  for (size_t at = 1; at < items.size(); ++at) {
    const std::string kind = items[at]["events"][0]["kind"].str();
    kinds.set(kind, kinds[kind].as_int() + 1);
  }
  return Value::object(
      {{"items", Value::array(Value::Array{items.begin(), items.end()})}, {"events", kinds}, {"unreadable", 0}});
}

size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) ++found;
  return found;
}

TEST(EffectsText, IsATreeWithTimesRolesAndRefusals) {
  Value refused = item(3, 0, 250, "quota", "QuotaUsageChanged", "limits");
  refused.set("result", "refused");
  refused.set("refusal", Value::object({{"reason", "quota moved on"}}));
  Value answer =
      answer_of({item(0, 0, 0, "", "ObjectUpdated", "web"), item(1, 0, 4, "binder", "BindingPut", "web", "by p"),
                 item(2, 1, 61'500, "scheduler", "PlacementDecided", "web", "m1"), refused});
  answer.set("unreadable", 2);
  EXPECT_EQ(effects_text(answer, 3),
            R"(revision 40, 2026-11-24T03:12:00.000Z alice: ObjectUpdated resourcebindings/default/web
├─ +4ms binder: BindingPut resourcebindings/default/web: by p
│  └─ +61.5s scheduler: PlacementDecided resourcebindings/default/web: m1
└─ +250ms quota: QuotaUsageChanged resourcebindings/default/limits (refused: quota moved on)

Effects: 1 BindingPut, 1 PlacementDecided, 1 QuotaUsageChanged
2 effects are about objects that you may not read
)");
  Value alone = item(0, 0, 0, "", "ObjectUpdated", "web");
  EXPECT_NE(effects_text(answer_of({alone}), 3).find("Nothing followed from it"), std::string::npos);
  alone.set("more", true);  // beyond --limit, --depth or --within
  const std::string cut = effects_text(answer_of({alone}), 3);
  EXPECT_EQ(cut.find("Nothing followed"), std::string::npos) << cut;
  EXPECT_NE(cut.find("What followed from it is not listed"), std::string::npos) << cut;
}

TEST(EffectsText, CountsWhatIsAlike) {
  std::vector<Value> items{item(0, 0, 0, "", "ObjectUpdated", "p")};
  for (int64_t at = 1; at <= 40; ++at)
    items.push_back(item(at, 0, at, "dispatcher", "WorkRendered", std::to_string(at)));
  for (int64_t at = 1; at <= 40; ++at)
    items.push_back(item(40 + at, at, at, "dispatcher", "WorkApplied", std::to_string(at)));
  const std::string folded = effects_text(answer_of(items), 3);
  EXPECT_NE(folded.find("└─ and 37 more: WorkRendered of resourcebindings by dispatcher, with 37 effects\n"),
            std::string::npos)
      << folded;
  EXPECT_EQ(count(folded, "WorkApplied resource"), 3U) << folded;
  EXPECT_EQ(count(effects_text(answer_of(items), 0), "WorkApplied resource"), 40U);
  // One more than is drawn is drawn, too: a line that counts one is no shorter.
  items.resize(5);
  EXPECT_EQ(effects_text(answer_of(items), 3).find(" more"), std::string::npos);
}

TEST(EffectsText, NamesOfUsersCannotCommandATerminal) {
  const Value answer = answer_of({item(0, 0, 0, "", "RequestDenied", "\x1b[2Jweb\r\n", "\x1b]0;title\x07")});
  const std::string text = effects_text(answer, 3);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
}

// A server that answers nonsense cannot make the program run in circles.
TEST(EffectsText, ParentsThatCannotBeAreTheCause) {
  const Value answer =
      answer_of({item(0, 7, 0, "", "ObjectUpdated", "web"), item(1, 2, 1, "binder", "BindingPut", "a"),
                 item(2, 1, 2, "binder", "BindingPut", "b"), item(3, -1, 3, "binder", "BindingPut", "c")});
  EXPECT_EQ(drawn_effects(answer, 0, 100).size(), 4U);
  EXPECT_TRUE(drawn_effects(Value{}, 3, 100).empty());
  EXPECT_TRUE(drawn_effects(Value::object({{"items", "none"}}), 3, 100).empty());
}

TEST(EffectsPicture, IsBounded) {
  std::vector<Value> items{item(0, 0, 0, "", "ObjectUpdated", "p")};
  for (int64_t at = 1; at < 3000; ++at)
    items.push_back(item(at, at % 2 == 0 ? 0 : at - 1, at, "binder", "BindingPut", std::to_string(at)));
  const auto drawn = drawn_effects(answer_of(items), 0, 100);
  EXPECT_LE(drawn.size(), 110U);
  EXPECT_TRUE(std::ranges::any_of(drawn, [](const DrawnEffect& effect) { return effect.what.starts_with("and "); }));
}

TEST(EffectsMermaid, IsAFlowchartInWhichNamesAreData) {
  const Value answer = answer_of({item(0, 0, 0, "", "ObjectUpdated", R"(a"]; click n0 href "javascript:x" <script>#)"),
                                  item(1, 0, 4, "binder", "BindingPut", "web")});
  const std::string text = effects_mermaid(answer, 3);
  EXPECT_TRUE(text.starts_with("flowchart LR\n  n0[\"revision 40")) << text;
  EXPECT_NE(text.find("  n0 --> n1\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("<script"), std::string::npos) << text;
  EXPECT_NE(text.find("#34;#93;#59; click n0 href #34;javascript:x#34; #60;script#62;#35;"), std::string::npos) << text;
  EXPECT_EQ(std::ranges::count(text, '"'), 4) << text;
}

TEST(EffectsSvg, IsAPictureInWhichNamesAreData) {
  const Value answer = answer_of({item(0, 0, 0, "", "ObjectUpdated", R"(<b>bold</b>\N\G&lt;"x" </text><script>)"),
                                  item(1, 0, 4, "binder", "BindingPut", "web")});
  const std::string svg = must(effects_svg(answer, 3));
  EXPECT_NE(svg.find("<svg "), std::string::npos) << svg;
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
  EXPECT_EQ(count(svg, "class=\"node\""), 2U) << svg;
  EXPECT_EQ(count(svg, "class=\"edge\""), 1U) << svg;
  EXPECT_EQ(svg.find("<script"), std::string::npos) << svg;
  EXPECT_EQ(svg.find("<b>"), std::string::npos) << svg;
  EXPECT_NE(svg.find("&lt;b&gt;bold&lt;/b&gt;\\N\\G&amp;lt;"), std::string::npos) << "as it was written\n" << svg;
}

TEST(EffectsSvg, DrawsTheLargestPictureInTime) {
  std::vector<Value> items{item(0, 0, 0, "", "ObjectUpdated", "p")};
  for (int64_t at = 1; at < 5000; ++at)
    items.push_back(item(at, at / 3, at, "binder", "BindingPut", std::to_string(at)));
  const std::string svg = must(effects_svg(answer_of(items), 0));
  EXPECT_LE(count(svg, "class=\"node\""), 410U);
  EXPECT_GE(count(svg, "class=\"node\""), 300U);
}

}  // namespace
}  // namespace shiplog::ctl
