#pragma once

#include <string_view>

#include "events/base/value.h"

namespace shiplog::feeds {

/// A value without what no feed contains.
struct Redacted {
  Value value;
  bool redacted = false;  ///< something was left out
};
/// Leaves out the payload of Secrets (data, stringData, kubectl's copy of them) at any depth, as in the manifests of a
/// Work, and every text that contains sealed text: a copy of that would outlive the key without which it is noise. An
/// item of a list becomes null, so that the others keep their places. Pure.
Redacted redact(Value value);
/// The same for an object of this type, whether or not its kind is written in it.
Redacted redact(std::string_view type, Value object);

/// False: redact() would leave an object with this JSON as it is, so that it need not be parsed.
bool may_need_redaction(std::string_view type, std::string_view json);

}  // namespace shiplog::feeds
