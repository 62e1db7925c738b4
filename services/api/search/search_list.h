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

/// Goes through the objects that are asked for, by cluster, namespace and name. It holds a position, not objects: what
/// is read is what is cached at that time. Threads: one at a time.
class CachedWalk {
 public:
  /// What next() stops at. Bytes are those of the JSON; all objects count as looked at, also those that do not match.
  struct Limits {
    size_t objects = 0;  ///< 0: no limit
    size_t bytes = 0;
    size_t looked_at = 0;
  };
  CachedWalk(SearchCache::Sources sources, CachedQuery query);

  /// The next objects, until a limit is reached or no more follow. Error: kCorrupt.
  Result<std::vector<CachedObject::Ptr>> next(const Limits& limits);
  /// No more objects follow. False also if only sources without objects follow.
  bool done() const { return at_ == sources_.size(); }
  /// Where it is, for a list of these versions.
  MultiContinue position(std::string versions) const;

 private:
  /// What next() has gathered.
  struct Gathered {
    std::vector<CachedObject::Ptr> objects;
    size_t bytes = 0, looked_at = 0;
    bool full(const Limits& limits) const;
  };
  Result<void> take(const CachedObject::Ptr& object, Gathered& into);
  Result<bool> matches(const CachedObject& object, Gathered& into);
  void next_source();

  SearchCache::Sources sources_;
  CachedQuery query_;
  std::string name_;  // of all that is asked for; empty: any
  Compressor compressor_;
  size_t at_ = 0;      // in sources_
  std::string after_;  // position in that cluster, as in MultiContinue
};

/// Those of `sources` that hold objects of the namespace.
SearchCache::Sources sources_for(const SearchCache::Sources& sources, const std::string& ns);

/// What is not among the objects, or may be old, one sentence for each cluster.
Warnings missing_in(const SearchCache::Sources& sources);

/// The version over clusters of what is cached now.
MultiVersion version_of(const SearchCache::Sources& sources);

/// The page, with resourceVersion and continue. With a limit it has at most kMostPageObjects, and ends early where many
/// bytes are to be read. `stop` returns true: the client has gone. Errors: kTooLarge, it has no limit and is larger
/// than what is answered as a whole; kCorrupt.
Result<CachedList> list_cached(const Kind& kind, const SearchCache::Sources& sources, const CachedQuery& query,
                               const std::function<bool()>& stop);
inline constexpr size_t kMostPageObjects = 5'000;
/// The whole list, whose objects are read while it is sent.
CachedList list_in_parts(const Kind& kind, const SearchCache::Sources& sources, const CachedQuery& query);

}  // namespace shiplog::api
