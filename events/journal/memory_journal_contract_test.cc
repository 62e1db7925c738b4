#include "events/journal/memory_journal.h"
#include "tests/journal_contract/journal_contract.h"

namespace shiplog {
namespace {

class MemoryPlace final : public JournalPlace {
 public:
  Result<std::shared_ptr<Journal>> open() override { return journal_; }

 private:
  std::shared_ptr<Journal> journal_ = make_memory_journal();
};

INSTANTIATE_TEST_SUITE_P(Memory, JournalContract,
                         testing::Values(JournalBackend{"memory", [] { return std::make_unique<MemoryPlace>(); }}),
                         backend_name);

}  // namespace
}  // namespace shiplog
