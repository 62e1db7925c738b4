#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/simulation/timeline.h"

namespace shiplog::simulation {

/// The end of a journal's file, byte by byte: frames of a length, a checksum and the record. What is synced stays; of
/// what is not, a failure leaves a beginning, and maybe some of its newest bytes wrong.
class SimDisk {
 public:
  void write(std::string_view record);
  /// The records written since the last sync, which are safe from now on.
  std::vector<std::string> sync();
  /// Cuts the file somewhere in what was not synced.
  void tear(Chance& chance);
  /// What a journal finds when it opens the file again: the whole records; what is torn, and after it, is cut off.
  std::vector<std::string> recover() { return sync(); }

 private:
  std::string unsynced_;
};

}  // namespace shiplog::simulation
