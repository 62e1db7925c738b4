// The journal's contract on a real broker.
#include <fstream>

#include "events/journal/kafka/kafka_journal.h"
#include "tests/journal_contract/journal_contract.h"
#include "tests/kafka/cluster.h"

namespace shiplog::kafka_test {
namespace {

class KafkaPlace final : public JournalPlace {
 public:
  KafkaPlace() { options_.brokers = shared_cluster().bootstrap(); }

  Result<std::shared_ptr<Journal>> open() override {
    SHIPLOG_TRY(auto journal, open_kafka_journal(options_));
    return std::shared_ptr<Journal>{std::move(journal)};
  }

  // Alters the last byte of the batch that begins at the offset: each batch begins with its first offset and its
  // length.
  bool damage(Offset offset) override {
    std::fstream file{shared_cluster().segment(options_.topic), std::ios::in | std::ios::out | std::ios::binary};
    const auto number = [&](int bytes) {
      uint64_t value = 0;
      for (int position = 0; position < bytes; ++position) value = value << 8U | static_cast<uint8_t>(file.get());
      return static_cast<int64_t>(value);
    };
    for (int64_t position = 0; file;) {
      file.seekg(position);
      const int64_t first = number(8);
      const int64_t end = position + 12 + number(4);
      if (first == offset.value) {
        file.seekg(end - 1);
        const int last = file.get();
        file.seekp(end - 1);
        file.put(static_cast<char>(last ^ 0x55));
        return true;
      }
      position = end;
    }
    ADD_FAILURE() << "no batch begins at offset " << offset.value;
    return false;
  }

 private:
  KafkaJournalOptions options_ = [] {
    KafkaJournalOptions options;
    options.topic = new_fleet() + ".journal";
    return options;
  }();
};

}  // namespace
}  // namespace shiplog::kafka_test

namespace shiplog {

INSTANTIATE_TEST_SUITE_P(Kafka, JournalContract,
                         testing::Values(JournalBackend{
                             "kafka", [] { return std::make_unique<kafka_test::KafkaPlace>(); }, true}),
                         backend_name);

}  // namespace shiplog
