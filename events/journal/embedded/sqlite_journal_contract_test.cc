#include <fstream>

#include "events/journal/embedded/sqlite_journal.h"
#include "tests/journal_contract/journal_contract.h"
#include "tests/support/test_directory.h"

namespace shiplog {
namespace {

class SqlitePlace final : public JournalPlace {
 public:
  Result<std::shared_ptr<Journal>> open() override {
    SHIPLOG_TRY(auto journal, open_sqlite_journal(path_));
    return std::shared_ptr<Journal>(std::move(journal));
  }

  // Changes one letter of the record that contains "entry N of" (as the contract suite writes them).
  bool damage(Offset offset) override {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    const std::string all(std::istreambuf_iterator<char>(file), {});
    const size_t at = all.find("entry " + std::to_string(offset.value) + " of");
    EXPECT_NE(at, std::string::npos);
    file.seekp(static_cast<std::streamoff>(at));
    file.put('E');
    return true;
  }

 private:
  TestDirectory directory_{"journal"};
  std::string path_ = directory_.file("journal.db");
};

INSTANTIATE_TEST_SUITE_P(Sqlite, JournalContract,
                         testing::Values(JournalBackend{"sqlite", [] { return std::make_unique<SqlitePlace>(); },
                                                        true}),
                         backend_name);

}  // namespace
}  // namespace shiplog
