#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "events/base/result.h"
#include "events/base/value.h"
#include "events/compression/compression.h"
#include "services/api/search/cache_budget.h"
#include "services/api/search/search_plan.h"

namespace shiplog::api {

/// The message of the error where there is no room.
inline constexpr const char* kSearchCacheFull = "the search cache is full";

/// A resourceVersion of a member that has more bytes is refused.
inline constexpr size_t kLongestVersion = 128;

inline constexpr const char* kCachedFromCluster = "resource.karmada.io/cached-from-cluster";

/// An object of a member, as compressed JSON in one block of memory: with the annotation kCachedFromCluster and without
/// metadata.managedFields. Immutable. Threads: any.
class CachedObject {
 public:
  using Ptr = std::shared_ptr<const CachedObject>;
  using Position = std::pair<std::string_view, std::string_view>;  ///< namespace and name

  /// Of an object that the member has sent for the scope. Errors: kInvalid, it is none of the scope: it has no name or
  /// version, is in another namespace, or these are longer than Kubernetes allows; kTooLarge, there is no room in the
  /// budget.
  static Result<Ptr> make(const CachedScope& scope, Value object, Compressor& compressor,
                          const std::shared_ptr<CacheBudget>& budget, CacheBudget::Use use = CacheBudget::Use::kChange);
  ~CachedObject();
  CachedObject(const CachedObject&) = delete;
  CachedObject& operator=(const CachedObject&) = delete;

  std::string_view ns() const { return text(0, ns_); }
  std::string_view name() const { return text(ns_, name_); }
  std::string_view version() const { return text(size_t{ns_} + name_, version_); }
  Position position() const { return {ns(), name()}; }
  /// The JSON. Error: kCorrupt, which does not happen.
  Result<std::string> json(Compressor& compressor) const;
  Result<Value> value(Compressor& compressor) const;
  /// Of the JSON.
  size_t json_bytes() const { return size_; }
  /// What it takes of the budget. Text that is small only because it is compressed costs readers time and memory.
  size_t bytes() const { return std::max(block_.size(), size_ / kMostCompression) + kOverhead; }

  /// Of this class, its counter, and its node in a set.
  static constexpr size_t kOverhead = 160;
  static constexpr size_t kMostCompression = 8;

 private:
  CachedObject() = default;
  std::string_view text(size_t begin, size_t size) const { return std::string_view{block_}.substr(begin, size); }

  std::string block_;  // namespace, name, version, and the JSON
  std::shared_ptr<CacheBudget> budget_;
  uint32_t size_ = 0;  // of the JSON before it was compressed
  uint16_t name_ = 0;
  uint8_t ns_ = 0, version_ = 0;
  bool compressed_ = false;
};

/// By namespace and name.
struct CachedObjectOrder {
  using is_transparent = void;
  bool operator()(const CachedObject::Ptr& a, const CachedObject::Ptr& b) const {
    return a->position() < b->position();
  }
  bool operator()(const CachedObject::Ptr& a, const CachedObject::Position& b) const { return a->position() < b; }
  bool operator()(const CachedObject::Position& a, const CachedObject::Ptr& b) const { return a < b->position(); }
};
using CachedObjects = std::set<CachedObject::Ptr, CachedObjectOrder>;

}  // namespace shiplog::api
