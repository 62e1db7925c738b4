// What a start reads of a projection or snapshot with many objects, on several threads.
#include <fstream>

#include <gtest/gtest.h>

#include "projections/store/database_checksum.h"
#include "projections/store/snapshot.h"
#include "tests/support/projected_fleet.h"

namespace shiplog {
namespace {

constexpr size_t kObjects = 3000;

ObjectKey key_of(size_t number) {
  return config_map(number % 3 == 0 ? "other" : "default", "c" + std::to_string(number));
}

/// Enough for several threads, with updates, removals, and objects that were there before.
void populate(TestFleet& fleet) {
  constexpr size_t kOfAnEntry = 250;
  std::vector<Event> events;
  const auto add = [&](Event event) {
    events.push_back(std::move(event));
    if (events.size() < kOfAnEntry) return;
    EXPECT_FALSE(fleet.write(std::move(events)).refusal);
    events.clear();
  };
  const auto text = [&] {
    return std::string(random_below(fleet.random(), 400), 'x') + std::to_string(fleet.journal().size());
  };
  for (size_t i = 0; i < kObjects; ++i) add(ObjectCreated{key_of(i), object_value(key_of(i), text())});
  for (size_t i = 0; i < kObjects; i += 2) add(ObjectUpdated{key_of(i), object_value(key_of(i), text())});
  for (size_t i = 0; i < kObjects; i += 12) add(DeletionRequested{key_of(i)});
  EXPECT_FALSE(fleet.write(std::move(events)).refusal);
  for (size_t i = 0; i < kObjects; i += 48) fleet.create(key_of(i), "again");
}

TEST(LiveObjects, AreThoseOfTheState) {
  TestFleet fleet;
  populate(fleet);
  const Restored restored = fleet.reopen();
  EXPECT_EQ(restored.objects.size(), fleet.state().object_count());
  State state;
  ASSERT_TRUE(State::restore(restored.meta, restored.objects, restored.seen, state));
  EXPECT_EQ(state.hash(), fleet.state().hash());
  for (const auto& [key, object] : restored.objects) {
    const Object* live = fleet.state().find(key);
    ASSERT_NE(live, nullptr) << to_string(key);
    EXPECT_EQ(object.value, live->value);
    EXPECT_EQ(object.revision, live->revision);
    EXPECT_EQ(object.hash, live->hash);
  }
}

/// One bit of a file.
void flip(const std::string& path, std::streamoff byte, unsigned bit) {
  std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
  file.seekg(byte);
  const int there = file.get();
  file.seekp(byte);
  file.put(static_cast<char>(static_cast<unsigned>(there) ^ 1U << bit));
}

TEST(LiveObjects, AFlippedBitNeverMakesAnotherState) {
  TestFleet fleet;
  populate(fleet);
  const std::string snapshot = fleet.folder.file("snapshot.db");
  must(fleet.projections().snapshot(snapshot));
  const auto size = std::filesystem::file_size(snapshot);
  size_t refused = 0;
  size_t other_hash = 0;
  for (int round = 0; round < 40; ++round) {
    const std::string damaged = fleet.folder.file("damaged.db");
    must(store::remove_database(damaged));
    std::filesystem::copy_file(snapshot, damaged);
    const auto byte = static_cast<std::streamoff>(random_below(fleet.random(), size));
    const auto bit = static_cast<unsigned>(random_below(fleet.random(), 8));
    flip(damaged, byte, bit);
    const std::string path = fleet.folder.file("restored.db");
    must(store::remove_database(path));
    if (!Projections::restore_snapshot(damaged, path)) {
      ++refused;
      continue;
    }
    auto opened = Projections::open(path);
    if (!opened || !opened.value().restored.rebuilt.empty()) {
      ++refused;
      continue;
    }
    Restored& restored = opened.value().restored;
    State state;
    if (!State::restore(restored.meta, std::move(restored.objects), std::move(restored.seen), state)) {
      ++other_hash;
      continue;
    }
    // It is in what no object is read from: history, an index, free space.
    ASSERT_EQ(state.meta(), fleet.state().meta()) << "bit " << bit << " of byte " << byte;
    ASSERT_EQ(state.hash(), fleet.state().hash());
    for (const auto& name : fleet.state().types()) {
      ASSERT_EQ(state.objects(name).size(), fleet.state().objects(name).size());
      for (const auto& [key, object] : fleet.state().objects(name)) {
        ASSERT_EQ(state.value_of({name, key.ns, key.name}), object.value) << "bit " << bit << " of byte " << byte;
      }
    }
  }
  EXPECT_GT(refused, 0U);
  EXPECT_GT(other_hash, 0U);
}

std::string bytes_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(DatabaseChecksum, IsThatOfEachByteHoweverManyPartsTheFileHas) {
  TestFleet fleet;
  for (const size_t size : {100U, 131'072U, 131'073U, 3'000'000U}) {
    const std::string path = fleet.folder.file("a" + std::to_string(size));
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random_below(fleet.random(), 256));
    std::ofstream{path, std::ios::binary} << bytes;
    EXPECT_FALSE(must(store::checksum_of(path)).as_written());
    must(store::record_checksum(path));
    EXPECT_TRUE(must(store::checksum_of(path)).as_written());
    const std::string copy = path + ".copy";
    EXPECT_TRUE(must(store::copy_with_checksum(path, copy)).as_written());
    EXPECT_EQ(bytes_of(copy), bytes_of(path));
    EXPECT_FALSE(store::copy_with_checksum(path, copy)) << "it exists";
    for (int round = 0; round < 8; ++round) {
      const auto byte = static_cast<std::streamoff>(random_below(fleet.random(), size));
      flip(copy, byte, 3);
      EXPECT_FALSE(must(store::checksum_of(copy)).as_written()) << byte << " of " << size;
      flip(copy, byte, 3);
      EXPECT_TRUE(must(store::checksum_of(copy)).as_written());
    }
  }
  EXPECT_FALSE(store::checksum_of(fleet.folder.file("none")));
}

}  // namespace
}  // namespace shiplog
