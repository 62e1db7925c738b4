#include "services/api/insight/resource.h"

#include <algorithm>
#include <string>

#include "events/base/ascii.h"
#include "events/base/utf8.h"

namespace shiplog::api {
namespace {

// `word` without a group; lower case.
bool goes_by(const Kind& kind, std::string_view word) {
  return word == kind.plural || word == kind.singular || word == lower_case(kind.kind) ||
         std::ranges::find(kind.short_names, word) != kind.short_names.end();
}

}  // namespace

Result<const Kind*> find_resource(const Kinds& kinds, std::string_view word) {
  const std::string wanted = lower_case(word);
  const size_t dot = wanted.find('.');
  const std::string_view name = std::string_view{wanted}.substr(0, dot);
  const std::string_view group = dot == std::string::npos ? "" : std::string_view{wanted}.substr(dot + 1);
  const Kind* found = nullptr;
  for (const auto& kind : kinds.all()) {
    if (!kind->storage || (!group.empty() && kind->group != group) || !goes_by(*kind, name)) continue;
    if (found == nullptr || (kind->builtin && !found->builtin)) found = kind.get();
  }
  if (found == nullptr) {
    return Error{ErrorCode::kNotFound,
                 "the server doesn't have a resource type \"" + printable(std::string{word}, 253) + "\""};
  }
  return found;
}

}  // namespace shiplog::api
