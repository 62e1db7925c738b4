#include "services/api/search/search_list.h"

#include <algorithm>
#include <utility>

namespace shiplog::api {
namespace {

constexpr size_t kAtOnce = 64;
/// What an object is counted with whose JSON is not looked at.
constexpr size_t kLookedAtName = 64;
/// Of a page: a page of the largest objects still can be answered in every form.
constexpr CachedWalk::Limits kPage{kMostPageObjects, size_t{16} << 20U, size_t{64} << 20U};
/// Of what is answered as a whole. It is gathered in steps, so that it ends when the client has gone.
constexpr size_t kMostWhole = size_t{64} << 20U;
constexpr size_t kMostLookedAt = size_t{1} << 30U;
constexpr CachedWalk::Limits kStep{0, kMostWhole, size_t{4} << 20U};

/// Of before anything is read: a watch from there on repeats what changes meanwhile.
MultiVersion version_for(const SearchCache::Sources& sources, const CachedQuery& query) {
  return query.from.cluster.empty() ? version_of(sources) : parse_multi_version(query.from.versions);
}

/// All but the objects.
CachedList begin_list(const Kind& kind, const SearchCache::Sources& sources, const MultiVersion& version) {
  CachedList list;
  list.api_version = kind.api_version();
  list.kind = kind.list_kind;
  list.metadata = Value::object({{"resourceVersion", to_text(version)}});
  list.warnings = missing_in(sources);
  return list;
}

Result<std::vector<CachedObject::Ptr>> all_of(CachedWalk& walk, const std::function<bool()>& stop) {
  std::vector<CachedObject::Ptr> all;
  size_t bytes = 0;
  size_t steps = 0;
  while (!walk.done() && !stop()) {
    SHIPLOG_TRY(auto some, walk.next(kStep));
    for (auto& object : some) {
      bytes += object->json_bytes();
      all.push_back(std::move(object));
    }
    if (bytes > kMostWhole || ++steps > kMostLookedAt / kStep.looked_at) {
      return Error{ErrorCode::kTooLarge,
                   "the list is too large for one answer in this form: set limit, or accept application/json"};
    }
  }
  return all;
}

}  // namespace

CachedWalk::CachedWalk(SearchCache::Sources sources, CachedQuery query)
    : sources_{std::move(sources)},
      query_{std::move(query)},
      name_{query_.name.empty() ? query_.fields.name().value_or("") : query_.name} {
  const std::string& cluster = query_.from.cluster;
  while (!done() && sources_[at_]->scope().cluster < cluster) ++at_;
  if (!done() && sources_[at_]->scope().cluster == cluster) after_ = query_.from.position;
}

bool CachedWalk::Gathered::full(const Limits& limits) const {
  return (limits.objects > 0 && objects.size() >= limits.objects) || bytes >= limits.bytes ||
         looked_at >= limits.looked_at;
}

/// Namespaces of one cluster are in one order: what is behind the position in it counts for all of them.
void CachedWalk::next_source() {
  const std::string& cluster = sources_[at_]->scope().cluster;
  ++at_;
  if (done() || sources_[at_]->scope().cluster != cluster) after_.clear();
}

Result<std::vector<CachedObject::Ptr>> CachedWalk::next(const Limits& limits) {
  Gathered gathered;
  while (!done() && !gathered.full(limits)) {
    const CachedCollection& collection = sources_[at_]->collection();
    if (!name_.empty() && (!query_.ns.empty() || !collection.scope().namespaced)) {
      const auto object = after_.empty() ? collection.find(query_.ns, name_) : nullptr;
      if (object != nullptr) {
        SHIPLOG_TRY(take(object, gathered));
      }
      next_source();
      continue;
    }
    const auto some = collection.objects(query_.ns, after_, kAtOnce);
    for (const auto& object : some) {
      if (gathered.full(limits)) return std::move(gathered.objects);
      SHIPLOG_TRY(take(object, gathered));
      after_ = CachedCollection::position_text(*object);
    }
    if (some.size() < kAtOnce) next_source();
  }
  return std::move(gathered.objects);
}

Result<void> CachedWalk::take(const CachedObject::Ptr& object, Gathered& into) {
  SHIPLOG_TRY(const bool wanted, matches(*object, into));
  if (!wanted) return ok();
  into.bytes += object->json_bytes();
  into.objects.push_back(object);
  return ok();
}

Result<bool> CachedWalk::matches(const CachedObject& object, Gathered& into) {
  into.looked_at += kLookedAtName;
  if (!name_.empty() && object.name() != name_) return false;
  if (query_.labels.empty() && query_.fields.empty()) return true;
  into.looked_at += object.json_bytes();
  SHIPLOG_TRY(const Value value, object.value(compressor_));
  return query_.labels.matches(value["metadata"]["labels"]) && query_.fields.matches(value);
}

MultiContinue CachedWalk::position(std::string versions) const {
  if (done()) return {};
  return {std::move(versions), sources_[at_]->scope().cluster, after_};
}

SearchCache::Sources sources_for(const SearchCache::Sources& sources, const std::string& ns) {
  if (ns.empty()) return sources;
  SearchCache::Sources found;
  for (const auto& source : sources) {
    if (source->scope().ns.empty() || source->scope().ns == ns) found.push_back(source);
  }
  return found;
}

Warnings missing_in(const SearchCache::Sources& sources) {
  Warnings warnings;
  for (const auto& source : sources) {
    const std::string problem = source->problem();
    const bool listed = source->collection().listed();
    if (listed && problem.empty()) continue;
    const std::string what = source->scope().plural + " of cluster " + source->scope().cluster +
                             (listed ? " may be out of date: " : " are missing: ");
    warnings.push_back(what + (problem.empty() ? "they have not been listed yet" : problem));
  }
  return warnings;
}

MultiVersion version_of(const SearchCache::Sources& sources) {
  MultiVersion version;
  for (const auto& source : sources) {
    std::string own = source->collection().version();
    if (!own.empty()) version.of.emplace(source->scope().version_key(), std::move(own));
  }
  return version;
}

Result<CachedList> list_cached(const Kind& kind, const SearchCache::Sources& sources, const CachedQuery& query,
                               const std::function<bool()>& stop) {
  const MultiVersion version = version_for(sources, query);
  CachedList list = begin_list(kind, sources, version);
  CachedWalk walk{sources, query};
  if (query.limit == 0) {
    SHIPLOG_TRY(list.objects, all_of(walk, stop));
    return list;
  }
  CachedWalk::Limits limits = kPage;
  limits.objects = std::min(query.limit, limits.objects);
  SHIPLOG_TRY(list.objects, walk.next(limits));
  if (const std::string token = to_text(walk.position(to_text(version))); !token.empty()) {
    list.metadata.set("continue", token);
  }
  return list;
}

CachedList list_in_parts(const Kind& kind, const SearchCache::Sources& sources, const CachedQuery& query) {
  CachedList list = begin_list(kind, sources, version_for(sources, query));
  list.rest = std::make_shared<CachedWalk>(sources, query);
  return list;
}

}  // namespace shiplog::api
