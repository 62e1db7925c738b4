#include "services/roles/collector/member_slices.h"

#include <utility>

#include "events/state/object.h"

namespace shiplog::collector {
namespace {

constexpr size_t kMostKept = 4096;
constexpr size_t kMostKeptBytes = size_t{32} << 20U;

size_t bytes_of(const CheckedSlice& slice) { return slice.bytes + slice.problem.size(); }

}  // namespace

void MemberSlices::drop(const Name& slice) {
  const auto known = services_.find(slice);
  if (known == services_.end()) return;
  const auto of_service = slices_.find(known->second);
  const auto found = of_service->second.find(slice.second);
  bytes_ -= bytes_of(found->second);
  of_service->second.erase(found);
  if (of_service->second.empty()) slices_.erase(of_service);
  changed_.insert(known->second);
  services_.erase(known);
}

void MemberSlices::keep_only(const std::set<Name>& exported) {
  std::erase_if(exported_, [&](const Name& service) {
    if (exported.contains(service)) return false;
    while (const CheckedSlices* slices = of(service)) drop({service.first, slices->begin()->first});
    changed_.erase(service);
    return true;
  });
}

void MemberSlices::take_in(const Value& slice, bool gone) {
  const Name name{slice["metadata"]["namespace"].str(), slice["metadata"]["name"].str()};
  drop(name);
  const Name service{name.first, std::string{label_of(slice, label::kServiceName)}};
  if (gone || brought_by_control_plane(slice) || !exported_.contains(service)) return;
  CheckedSlice checked = checked_slice(slice, service.first, service.second);
  ++checks_;
  const size_t bytes = bytes_of(checked);
  if (services_.size() >= kMostKept || bytes_ + bytes > kMostKeptBytes) {
    if (problem_.empty()) all_changed();  // it is a part of what is reported of each
    problem_ = "not all EndpointSlices are read: of a cluster at most " + std::to_string(kMostKept) + " are, with " +
               std::to_string(kMostKeptBytes) + " bytes";
    return;
  }
  bytes_ += bytes;
  changed_.insert(service);
  slices_[service].insert_or_assign(name.second, std::move(checked));
  services_.emplace(name, service);
}

const CheckedSlices* MemberSlices::of(const Name& service) const {
  const auto found = slices_.find(service);
  return found == slices_.end() ? nullptr : &found->second;
}

}  // namespace shiplog::collector
