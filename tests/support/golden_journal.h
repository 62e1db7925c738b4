#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "events/codec/codec.h"
#include "events/journal/memory_journal.h"
#include "services/debugger/session.h"

// For tests: journals of a small fleet, in memory.
namespace shiplog::debugger {

/// The records of tests/replay/journals/fold-N.journal, each behind its length (four bytes, the lowest first).
inline std::vector<std::string> golden_records(uint32_t fold_version) {
  std::ifstream file{JOURNALS_FOLDER "/fold-" + std::to_string(fold_version) + ".journal", std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
  std::vector<std::string> records;
  for (size_t at = 0; at + 4 <= bytes.size();) {
    size_t size = 0;
    for (size_t byte = 0; byte < 4; ++byte) {
      size |= static_cast<size_t>(static_cast<uint8_t>(bytes[at + byte])) << (8 * byte);
    }
    records.push_back(bytes.substr(at + 4, size));
    at += 4 + size;
  }
  return records;
}

inline void append(Journal& journal, std::string bytes) {
  journal.append(std::move(bytes), [](const auto&) {});
}

inline std::shared_ptr<Journal> journal_with(const std::vector<std::string>& records) {
  auto journal = make_memory_journal({.acknowledge_inside_append = true});
  for (const std::string& record : records) append(*journal, record);
  return journal;
}

inline JournalTimeline timeline_of(std::shared_ptr<Journal> journal, TimelineOptions options = {}) {
  return JournalTimeline{JournalReader::open(std::move(journal), Offset{}).value(), State{}, options};
}

/// The same records with one entry changed.
inline std::string changed(const std::string& record, const std::function<void(Entry&)>& change) {
  Entry entry = decode(record).value();
  change(entry);
  return encode(entry);
}

}  // namespace shiplog::debugger
