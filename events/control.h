#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/base/hash.h"
#include "events/base/ids.h"

namespace shiplog {

/// A replica takes a service over. Accepted only when `epoch` is the current one plus one.
struct LeaseTaken {
  std::string service;  ///< role
  std::string holder;   ///< host, process and a random part
  uint64_t epoch = 0;
  bool operator==(const LeaseTaken&) const = default;
};

/// From the next entry on, events have the meaning of this version of the fold.
struct FoldVersionActivated {
  uint32_t version = 1;
  bool operator==(const FoldVersionActivated&) const = default;
};

/// Which behaviour that is off by default is on in this fleet, from the next entry on: decisions read it from the
/// state.
struct FeatureGatesSet {
  std::vector<std::string> on;  ///< names, sorted; all others are off
  bool operator==(const FeatureGatesSet&) const = default;
};

/// The values of one option.
struct OptionSetting {
  std::string name;  ///< without the dashes in front: "skipped-propagating-apis"
  std::vector<std::string> values;
  bool operator==(const OptionSetting&) const = default;
};

/// The options of the control plane that decisions read, from the next entry on.
struct OptionsSet {
  std::vector<OptionSetting> settings;  ///< sorted by name; all others are as by default
  bool operator==(const OptionsSet&) const = default;
};

/// The state hash some replica had at a revision. One that folded to another hash stops.
struct StateHashed {
  Revision revision;
  Hash128 hash;
  bool operator==(const StateHashed&) const = default;
};

/// A snapshot covers everything up to this revision.
struct SnapshotTaken {
  Revision revision;
  Hash128 hash;
  std::string location;  ///< file name, relative to the snapshot folder
  bool operator==(const SnapshotTaken&) const = default;
};

}  // namespace shiplog
