#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "services/api/pipeline/responses.h"
#include "services/api/pipeline/server.h"
#include "services/api/search/cached_object.h"

// How objects of the search cache are answered with: as the member has sent them, also with fields that this server
// does not know. Threads: any.
namespace shiplog::api {

/// In the form that the client accepts.
void answer_cached(const RequestContext& context, const Value& object, UtcMillis now, const Warnings& warnings);
/// One object of a watch. `with_columns`: of a Table.
Value cached_in_form(const RequestContext& context, const Value& object, UtcMillis now, bool with_columns);

class CachedWalk;

/// A list that is to be answered.
struct CachedList {
  std::string api_version, kind;
  std::vector<CachedObject::Ptr> objects;
  Value metadata;
  Warnings warnings;
  /// In place of `objects`: they are read while the list is sent, at the pace of the client. The form must be
  /// may_be_in_parts().
  std::shared_ptr<CachedWalk> rest;
  std::shared_ptr<void> place;  ///< held until the list is sent; may be nullptr
};
/// Plain JSON.
bool may_be_in_parts(const Accept& accept);
/// `post`: where parts are made.
void answer_cached_list(const RequestContextPtr& context, CachedList list, UtcMillis now,
                        std::function<void(std::function<void()>)> post);

}  // namespace shiplog::api
