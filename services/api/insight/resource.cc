#include "services/api/insight/resource.h"

#include <algorithm>
#include <string>

#include "events/base/ascii.h"
#include "events/base/utf8.h"

namespace shiplog::api {

bool is_meant(const Kind& kind, std::string_view word) {
  const std::string wanted = lower_case(word);
  const size_t dot = wanted.find('.');
  const std::string_view name = std::string_view{wanted}.substr(0, dot);
  const std::string_view group = dot == std::string::npos ? "" : std::string_view{wanted}.substr(dot + 1);
  if (!group.empty() && kind.group != group) return false;
  return name == kind.plural || name == kind.singular || name == lower_case(kind.kind) ||
         std::ranges::find(kind.short_names, name) != kind.short_names.end();
}

Result<const Kind*> find_resource(const Kinds& kinds, std::string_view word) {
  const Kind* found = nullptr;
  for (const auto& kind : kinds.all()) {
    if (!kind->storage || !is_meant(*kind, word)) continue;
    if (found == nullptr || (kind->builtin && !found->builtin)) found = kind.get();
  }
  if (found == nullptr) {
    return Error{ErrorCode::kNotFound,
                 "the server doesn't have a resource type \"" + printable(std::string{word}, 253) + "\""};
  }
  return found;
}

}  // namespace shiplog::api
