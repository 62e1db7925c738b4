#pragma once

#include <functional>
#include <string>
#include <vector>

#include "services/api/request.h"
#include "services/api/search/multi_version.h"
#include "services/api/search/search_answers.h"
#include "services/api/search/search_cache.h"
#include "services/api/selector/selector.h"

// Lists over clusters (6.5). Threads: any.
namespace shiplog::api {

/// Which objects are asked for.
struct CachedQuery {
  std::string ns;    ///< empty: all
  std::string name;  ///< empty: all
  ParsedLabelSelector labels;
  FieldSelector fields;
  size_t limit = 0;
  MultiContinue from;
};

/// Those of `sources` that hold objects of the namespace.
SearchCache::Sources sources_for(const SearchCache::Sources& sources, const std::string& ns);

/// What is not among the objects, or may be old, one sentence for each cluster.
Warnings missing_in(const SearchCache::Sources& sources);

/// The version over clusters of what is cached now.
MultiVersion version_of(const SearchCache::Sources& sources);

/// The page, with resourceVersion and continue. `stop`: nobody waits for it any more. Error: kCorrupt.
Result<CachedList> list_cached(const Kind& kind, const SearchCache::Sources& sources, const CachedQuery& query,
                               const std::function<bool()>& stop);

}  // namespace shiplog::api
