// What an editor and a user write to the debugger: frames, words, paths and conditions.
#include <algorithm>

#include "events/base/check.h"
#include "events/base/utf8.h"
#include "services/debugger/condition.h"
#include "services/debugger/dap/frames.h"
#include "services/debugger/value_path.h"
#include "services/debugger/words.h"
#include "tests/fuzz/fuzz.h"

namespace {

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
}

const shiplog::State& small_state() {
  static const shiplog::State state = [] {
    shiplog::State made;
    shiplog::Entry entry;
    entry.id.bytes[0] = 1;
    entry.events = {
        shiplog::ObjectCreated{{shiplog::type::kNamespace, "", "default"},
                               shiplog::Value::object({{"metadata", shiplog::Value::object({{"name", "default"}})}})}};
    shiplog::fold(made, entry);
    return made;
  }();
  return state;
}

}  // namespace

SHIPLOG_FUZZ_TARGET(debugger) {
  using namespace shiplog::debugger;
  FrameReader whole;
  whole.feed(input);
  FrameReader parts;
  for (const char c : input) parts.feed({&c, 1});
  for (bool more = true; more;) {
    const auto one = whole.next();
    const auto other = parts.next();
    SHIPLOG_CHECK(one.has_value() == other.has_value(), "frames do not depend on how they arrive");
    more = one && one.value();
    if (!more) break;
    SHIPLOG_CHECK(*one.value() == *other.value(), "frames do not depend on how they arrive");
    FrameReader again;
    again.feed(frame(*one.value()));
    SHIPLOG_CHECK(again.next().value() == one.value(), "a message that is framed again is the same");
  }

  const std::string shown = without_controls(input);
  SHIPLOG_CHECK(shiplog::is_utf8(shown), "what is printed is UTF-8");
  SHIPLOG_CHECK(std::ranges::none_of(shown, is_control), "what is printed has no control characters");
  SHIPLOG_CHECK(without_controls(shown) == shown, "what is fit for a terminal stays as it is");

  if (const auto words = words_of(input)) {
    for (const CommandWord& word : words.value()) {
      SHIPLOG_CHECK(word.column >= 1 && word.column <= input.size(), "a word is within the line");
    }
  }
  if (const auto path = ValuePath::parse(input)) {
    shiplog::Value root = shiplog::Value::object();
    if (path.value().set(root, 7)) {
      const auto values = path.value().values(root);
      SHIPLOG_CHECK(values.size() == 1 && values.front()->as_int() == 7, "what was set is there");
      SHIPLOG_CHECK(path.value().erase(root).has_value() && path.value().values(root).empty(), "and can be removed");
    }
  }
  const auto condition = BreakCondition::parse(input);
  if (!condition) return;
  const shiplog::debugger::Moment moment{shiplog::Offset{}, nullptr, nullptr, small_state()};
  const bool holds = condition.value().holds(moment);
  ConditionWatch watch{condition.value()};
  SHIPLOG_CHECK(watch.begin(moment) == holds, "a watch begins with what holds");
  const auto negated = BreakCondition::parse("not (" + std::string{input} + ")");
  if (negated) SHIPLOG_CHECK(negated.value().holds(moment) != holds, "a negated condition is the opposite");
}
