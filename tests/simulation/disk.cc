#include "tests/simulation/disk.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "events/base/hash.h"

namespace shiplog::simulation {
namespace {

struct Header {
  uint64_t size;
  uint64_t checksum;
};

}  // namespace

void SimDisk::write(std::string_view record) {
  const Header header{record.size(), siphash128(record).lo};
  char bytes[sizeof header];
  std::memcpy(bytes, &header, sizeof header);
  unsynced_.append(bytes, sizeof bytes);
  unsynced_.append(record);
}

std::vector<std::string> SimDisk::sync() {
  const std::string file = std::exchange(unsynced_, {});
  std::vector<std::string> records;
  std::string_view rest = file;
  Header header;
  while (rest.size() >= sizeof header) {
    std::memcpy(&header, rest.data(), sizeof header);
    rest.remove_prefix(sizeof header);
    if (rest.size() < header.size) break;
    const std::string_view record = rest.substr(0, header.size);
    if (siphash128(record).lo != header.checksum) break;
    records.emplace_back(record);
    rest.remove_prefix(header.size);
  }
  return records;
}

void SimDisk::tear(Chance& chance) {
  if (unsynced_.empty()) return;
  unsynced_.resize(chance.below(unsynced_.size() + 1));
  if (unsynced_.empty() || !chance.permille(300)) return;
  const size_t wrong = std::min<size_t>(unsynced_.size(), 1 + chance.below(64));
  std::fill(unsynced_.end() - static_cast<std::ptrdiff_t>(wrong), unsynced_.end(), '\0');
}

}  // namespace shiplog::simulation
