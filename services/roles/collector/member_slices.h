#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "events/base/value.h"
#include "services/roles/exported_slices.h"

namespace shiplog::collector {

/// The EndpointSlices of one member, as far as they are of Services that are exported, and of which Services there is
/// news. Each slice is checked once, when it arrives. What is kept is limited in number and in bytes.
class MemberSlices {
 public:
  using Name = std::pair<std::string, std::string>;  ///< namespace and name, of a Service or of a slice

  explicit MemberSlices(std::set<Name> exported) : exported_{std::move(exported)}, changed_{exported_} {}

  /// The Services whose slices are here.
  const std::set<Name>& exported() const { return exported_; }
  /// Drops those of other Services.
  void keep_only(const std::set<Name>& exported);

  void take_in(const Value& slice, bool gone);
  /// Of one Service; nullptr: it has none.
  const CheckedSlices* of(const Name& service) const;
  size_t size() const { return services_.size(); }
  /// Why not all are here; empty: they are.
  const std::string& problem() const { return problem_; }

  /// Something of the Service has changed since forget_change().
  bool changed(const Name& service) const { return changed_.contains(service); }
  void forget_change(const Name& service) { changed_.erase(service); }
  void all_changed() { changed_ = exported_; }

  /// How many slices were checked so far.
  size_t checks() const { return checks_; }

 private:
  void drop(const Name& slice);

  std::set<Name> exported_;
  std::set<Name> changed_;
  std::map<Name, CheckedSlices> slices_;  // by Service
  std::map<Name, Name> services_;         // by slice
  size_t bytes_ = 0, checks_ = 0;
  std::string problem_;
};

}  // namespace shiplog::collector
