#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/journal/journal.h"

namespace shiplog {

/// The storage of one journal for one test: empty at first, removed by the destructor.
class JournalPlace {
 public:
  virtual ~JournalPlace() = default;
  /// Opens another Journal on this storage, with everything that was stored before.
  virtual Result<std::shared_ptr<Journal>> open() = 0;
  /// Damages the stored bytes of one record while the journal is closed. Returns false if the test cannot reach the
  /// stored bytes of this backend.
  virtual bool damage(Offset) { return false; }
};

/// A backend under test by the contract suite. To test another backend, link journal_contract*.cc and write
/// `INSTANTIATE_TEST_SUITE_P(Name, JournalContract, testing::Values(backend), backend_name);`.
struct JournalBackend {
  std::string name;
  std::function<std::unique_ptr<JournalPlace>()> make_place;
  bool durable = false;  ///< survives kill -9, and processes may share it
  bool trims = true;     ///< false: for a mock broker that cannot
};

inline std::string backend_name(const testing::TestParamInfo<JournalBackend>& info) { return info.param.name; }
inline void PrintTo(const JournalBackend& backend, std::ostream* out) { *out << backend.name; }

class JournalContract : public testing::TestWithParam<JournalBackend> {
 protected:
  /// Fails the test when the place cannot be opened.
  std::shared_ptr<Journal> open();

  std::unique_ptr<JournalPlace> place_ = GetParam().make_place();
};

/// Long enough for the slowest machine: a test that waits this long has failed.
inline constexpr Millis kPatience{60'000};

std::future<Result<Offset>> append(Journal& journal, std::string bytes);
/// Appends and waits. Fails the test and returns -1 if the entry was not stored.
Offset append_now(Journal& journal, std::string bytes);
/// Reads `count` records, or fewer when kPatience ends or on an error (which fails the test).
std::vector<JournalRecord> read(Journal::Tail& tail, size_t count);
/// All that is stored at or after `from`.
std::vector<JournalRecord> read_all(Journal& journal, Offset from = {});
std::vector<std::string> bytes_of(const std::vector<JournalRecord>& records);

}  // namespace shiplog
