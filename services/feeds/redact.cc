#include "services/feeds/redact.h"

#include <string>
#include <vector>

#include "events/state/object.h"
#include "events/state/sealed.h"
#include "services/adapters/vault/live_keys.h"

namespace shiplog::feeds {
namespace {

constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

bool is_sealed_text(const Value& value) {
  return value.is_string() && value.as_string().find(vault::kSealedPrefix) != std::string_view::npos;
}

bool leave_out_payload(Value& secret) {
  bool left_out = secret.erase("data");
  left_out |= secret.erase("stringData");
  if (secret["metadata"]["annotations"].contains(kLastApplied)) {
    left_out |= secret.edit("metadata").edit("annotations").erase(kLastApplied);
  }
  return left_out;
}

bool leave_out(Value& value) {
  bool left_out = false;
  if (value.is_array()) {
    for (Value& item : value.edit_items()) {
      if (is_sealed_text(item)) {
        item = Value{};
        left_out = true;
      } else {
        left_out |= leave_out(item);
      }
    }
    return left_out;
  }
  if (!value.is_object()) return false;
  if (is_sealed(value)) left_out |= leave_out_payload(value);
  std::vector<std::string> sealed;
  std::vector<std::string> nested;
  for (const auto& member : value.members()) {
    if (is_sealed_text(member.value) || is_sealed_text(member.key_text)) {
      sealed.emplace_back(member.key());
    } else if (member.value.is_array() || member.value.is_object()) {
      nested.emplace_back(member.key());
    }
  }
  for (const std::string& key : sealed) left_out |= value.erase(key);
  for (const std::string& key : nested) left_out |= leave_out(value.edit(key));
  return left_out;
}

}  // namespace

Redacted redact(Value value) {
  if (is_sealed_text(value)) return {Value{}, true};
  const bool left_out = leave_out(value);
  return {std::move(value), left_out};
}

Redacted redact(std::string_view type, Value object) {
  const bool payload = type == type::kSecret && leave_out_payload(object);
  Redacted redacted = redact(std::move(object));
  redacted.redacted |= payload;
  return redacted;
}

bool may_need_redaction(std::string_view type, std::string_view json) {
  return type == type::kSecret || json.find("\"Secret\"") != std::string_view::npos ||
         json.find(vault::kSealedPrefix) != std::string_view::npos;
}

}  // namespace shiplog::feeds
