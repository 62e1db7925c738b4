#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/journal/journal.h"

namespace shiplog {

/// Where one journal lives for one test: empty at first, removed by the destructor.
class JournalPlace {
 public:
  virtual ~JournalPlace() = default;
  /// Another holder of the journal that lives here, with all that was stored before.
  virtual Result<std::shared_ptr<Journal>> open() = 0;
  /// Spoils the stored bytes of one record while nobody has the journal open. False: this backend has no such bytes
  /// that a test could reach.
  virtual bool damage(Offset) { return false; }
};

/// A backend as the contract suite sees it. To put a further one to the test, link journal_contract*.cc and write
/// `INSTANTIATE_TEST_SUITE_P(Name, JournalContract, testing::Values(backend), backend_name);`.
struct JournalBackend {
  std::string name;
  std::function<std::unique_ptr<JournalPlace>()> make_place;
  bool durable = false;  ///< survives kill -9, and processes may share it
  bool trims = true;     ///< false: for a pretended broker that cannot
};

inline std::string backend_name(const testing::TestParamInfo<JournalBackend>& info) { return info.param.name; }
inline void PrintTo(const JournalBackend& backend, std::ostream* out) { *out << backend.name; }

class JournalContract : public testing::TestWithParam<JournalBackend> {
 protected:
  /// Fails the test when the place cannot be opened.
  std::shared_ptr<Journal> open();

  std::unique_ptr<JournalPlace> place_ = GetParam().make_place();
};

/// Long enough for the slowest machine: a test that waits so long has failed.
inline constexpr Millis kPatience{60'000};

std::future<Result<Offset>> append(Journal& journal, std::string bytes);
/// Appends and waits. Fails the test, and gives -1, unless stored.
Offset append_now(Journal& journal, std::string bytes);
/// Reads `count` records, or fewer when kPatience ends or on an error (which fails the test).
std::vector<JournalRecord> read(Journal::Tail& tail, size_t count);
/// All that is stored at or after `from`.
std::vector<JournalRecord> read_all(Journal& journal, Offset from = {});
std::vector<std::string> bytes_of(const std::vector<JournalRecord>& records);

}  // namespace shiplog
