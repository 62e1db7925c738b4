#pragma once

#include <functional>
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

/// A list that is to be answered.
struct CachedList {
  std::string api_version, kind;
  std::vector<CachedObject::Ptr> objects;
  Value metadata;
  Warnings warnings;
};
/// Plain JSON is sent in parts, at the pace of the client, so that its size does not matter. Other forms are made as a
/// whole. Error, which is answered: kTooLarge, the list is too large for that. `post`: where parts are made.
void answer_cached_list(const RequestContextPtr& context, CachedList list, UtcMillis now,
                        std::function<void(std::function<void()>)> post);

}  // namespace shiplog::api
