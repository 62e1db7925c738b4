#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/value.h"
#include "events/kinds/kinds.h"

namespace shiplog::api {

/// A labelSelector parameter (LIST-4), ready to match. Integer comparisons included.
struct ParsedLabelSelector {
  struct Requirement {
    std::string key;
    std::string op;  ///< "in", "notin", "exists", "!", "gt", "lt"
    std::vector<std::string> values;
  };
  std::vector<Requirement> requirements;
  bool empty() const { return requirements.empty(); }
  /// `labels`: metadata.labels or null.
  bool matches(const Value& labels) const;
};
/// Error: kBadRequest, as kube-apiserver words it.
Result<ParsedLabelSelector> parse_label_selector(std::string_view text);

/// A fieldSelector parameter (LIST-5, LIST-6).
struct FieldSelector {
  struct Term {
    std::string path;
    bool equal = true;  ///< false: !=
    std::string value;
    bool of_definition = false;  ///< one of Kind::selectable_fields
  };
  std::vector<Term> terms;
  bool empty() const { return terms.empty(); }
  bool matches(const Value& object) const;
  /// matches(), for an object in another version than that of the kind: of its name and namespace only.
  bool may_match(const Value& object) const;
  /// Whether it names fields that depend on the version of the object.
  bool depends_on_version() const;
  /// The name, when the selector requires exactly one.
  std::optional<std::string> name() const;
};
/// Errors: kBadRequest, malformed, or a label that this kind does not support.
Result<FieldSelector> parse_field_selector(std::string_view text, const Kind& kind);

/// Where a limited list goes on: the revision of its first page and the last object sent.
struct ContinueToken {
  Revision revision;  ///< Revision{}: the newest, though the pages before are of an older one (LIST-9)
  std::string ns, name;
};
/// Opaque and URL-safe.
std::string encode(const ContinueToken& token);
/// Error: kBadRequest.
Result<ContinueToken> parse_continue_token(std::string_view text);

}  // namespace shiplog::api
