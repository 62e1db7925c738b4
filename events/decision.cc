#include "events/decision.h"

#include <utility>

namespace shiplog {
namespace {

constexpr size_t kBytesOfMember = 4;   // quotes, colon and comma
constexpr size_t kBytesOfNumber = 8;   // and of true, false and null
constexpr size_t kBytesOfEvent = 512;  // keys, names, reasons and explanation

/// As JSON text, without escapes.
size_t bytes_of(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kString:
      return 2 + value.as_string().size();
    case Value::Kind::kArray: {
      const auto items = value.items();
      size_t sum = 2 + items.size();
      for (const Value& item : items) sum += bytes_of(item);
      return sum;
    }
    case Value::Kind::kObject: {
      const auto members = value.members();
      size_t sum = 2 + kBytesOfMember * members.size();
      for (const auto& member : members) {
        const bool text = member.value.is_string();  // most are
        sum += member.key().size() + (text ? 2 + member.value.as_string().size() : bytes_of(member.value));
      }
      return sum;
    }
    case Value::Kind::kNull:
    case Value::Kind::kBool:
    case Value::Kind::kInt:
    case Value::Kind::kDouble:
      break;
  }
  return kBytesOfNumber;
}

size_t bytes_of(const Event& event) {
  return std::visit(
      [](const auto& fact) {
        size_t sum = kBytesOfEvent;
        if constexpr (requires { bytes_of(fact.value); }) sum += bytes_of(fact.value);
        if constexpr (requires { bytes_of(fact.answers); }) sum += bytes_of(fact.answers);
        if constexpr (requires { bytes_of(fact.manifest_statuses); }) sum += bytes_of(fact.manifest_statuses);
        return sum;
      },
      static_cast<const EventVariant&>(event));
}

}  // namespace

bool DecisionBuilder::try_add(Event event) {
  const size_t bytes = bytes_of(event);
  const bool fits = decision_.events.size() < most_events_ && bytes_ + bytes <= kMostBytes;
  if (!fits && !decision_.events.empty()) return false;
  bytes_ += bytes;
  decision_.events.push_back(std::move(event));
  return true;
}

bool DecisionBuilder::try_add(Event event, Expect expect) {
  if (!try_add(std::move(event))) return false;
  decision_.expects.push_back(std::move(expect));
  return true;
}

void DecisionBuilder::add(Event event) {
  bytes_ += bytes_of(event);
  decision_.events.push_back(std::move(event));
}

void DecisionBuilder::add(Event event, Expect expect) {
  add(std::move(event));
  decision_.expects.push_back(std::move(expect));
}

Decided DecisionBuilder::build() && {
  if (decision_.events.empty()) return Nothing{};
  return std::move(decision_);
}

Decided DecisionBuilder::build_and_look_again(UtcMillis again) && {
  if (decision_.events.empty()) return Nothing{};
  decision_.look_again = again;
  return std::move(decision_);
}

Decided decide_one(Event event, Expect expect) {
  DecisionBuilder builder;
  builder.add(std::move(event), std::move(expect));
  return std::move(builder).build();
}

}  // namespace shiplog
