// Measures the Merkle tree of records and its proofs, and the verification of a journal, beside plain SHA-256 of the
// same bytes on this machine.
//   proof_bench [--leaves=N] [--entries=N] [--directory=FOLDER] [--json=FILE]
#include <algorithm>
#include <filesystem>
#include <future>

#include "events/base/random.h"
#include "events/codec/codec.h"
#include "events/fold/fold.h"
#include "events/journal/embedded/sqlite_journal.h"
#include "events/proof/checkpoint.h"
#include "projections/proof/tree_projection.h"
#include "projections/proof/tree_query.h"
#include "projections/runner.h"
#include "projections/store/open.h"
#include "projections/store/snapshot.h"
#include "services/programs/verification/verification.h"
#include "tests/bench/figures.h"

namespace shiplog::bench {
namespace {

constexpr size_t kBatch = 1000;
constexpr size_t kRecordBytes = 1500;
constexpr size_t kProofs = 2000;

/// The tree in a projection of its own, which has nothing else.
void grow_tree(const std::string& path, size_t leaves, Figures& figures) {
  or_exit(Projections::open(path));
  const auto connection = or_exit(store::open_writer(path));
  auto tree = or_exit(TreeProjection::create(*connection));
  const auto empty = std::filesystem::file_size(path);
  std::string record(64, 'x');
  const Time start = Time::now();
  for (size_t begin = 0; begin < leaves; begin += kBatch) {
    auto transaction = or_exit(sqlite::Transaction::begin(*connection));
    for (size_t index = begin; index < std::min(begin + kBatch, leaves); ++index) {
      std::copy_n(reinterpret_cast<const char*>(&index), sizeof index, record.begin());
      or_exit(tree.append(Offset{static_cast<int64_t>(index)}, proof::leaf_hash(record)));
    }
    or_exit(transaction.commit());
  }
  figures.rate("proof", "tree in the projection, records of 64 bytes", leaves, Time::now().since(start));
  or_exit(connection->execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  figures.value("proof", "size of the tree in the projection",
                static_cast<double>(std::filesystem::file_size(path) - empty) / static_cast<double>(leaves),
                "bytes a record");
}

double percentile(std::vector<double> all, double part) {
  std::ranges::sort(all);
  return all[static_cast<size_t>(part * static_cast<double>(all.size() - 1))];
}

void measure_proofs(const std::string& path, size_t leaves, Figures& figures) {
  Reader reader = or_exit(Reader::open(path));
  const View view = or_exit(reader.view());
  const TreeQuery tree{view};
  const auto signer = or_exit(proof::NoteSigner::make("shiplog/bench", {}));
  SeededRandom random{3};
  std::vector<double> inclusion, consistency, verification;
  size_t bytes = 0;
  const proof::Digest root = or_exit(proof::root_at(leaves, tree.nodes()));
  const std::string note = signer.sign(proof::to_text(proof::TreeHead{"shiplog/bench", leaves, root}));
  for (size_t count = 0; count < kProofs; ++count) {
    const uint64_t index = random_below(random, leaves);
    Time start = Time::now();
    const TreeLeaf leaf = *or_exit(tree.from(Offset{static_cast<int64_t>(index)}));
    const auto path_of_leaf = or_exit(proof::inclusion_path(index, leaves, tree.nodes()));
    inclusion.push_back(Time::now().since(start).cpu * 1e3);
    start = Time::now();
    if (!proof::verify_inclusion(leaf.hash, index, leaves, path_of_leaf, root)) std::exit(1);
    verification.push_back(Time::now().since(start).cpu * 1e3);
    bytes = std::max(bytes, proof::to_text(proof::InclusionProof{index, path_of_leaf, note}).size());
    start = Time::now();
    or_exit(proof::consistency_path(index + 1, leaves, tree.nodes()));
    consistency.push_back(Time::now().since(start).cpu * 1e3);
  }
  for (const auto& [what, times] :
       {std::pair{"inclusion proof", &inclusion}, std::pair{"consistency proof", &consistency},
        std::pair{"verification of an inclusion proof", &verification}}) {
    figures.value("proof", std::string{what} + ", median of CPU time", percentile(*times, 0.5), "ms");
    figures.value("proof", std::string{what} + ", 99th percentile", percentile(*times, 0.99), "ms");
  }
  figures.value("proof", "largest inclusion proof, with its checkpoint", static_cast<double>(bytes), "bytes");
}

std::vector<std::string> make_records(size_t count) {
  SeededRandom random{1};
  std::vector<std::string> records;
  records.reserve(count);
  for (size_t index = 0; index < count; ++index) {
    Entry entry;
    entry.id = new_entry_id(random);
    entry.time = {1'700'000'000'000 + static_cast<int64_t>(index)};
    entry.actor = {"kubernetes-admin", {"system:masters"}, "api", "10.0.0.1", "kubectl"};
    entry.request = {"update", "/api/v1/namespaces/default/configmaps"};
    const size_t number = index == 0 ? 0 : index % 5000 + 1;
    const ObjectKey key = index == 0 ? ObjectKey{type::kNamespace, "", "default"}
                                     : ObjectKey{"configmaps", "default", "map-" + std::to_string(number)};
    Value metadata = Value::object({{"name", key.name}});
    if (index > 0) metadata.set("namespace", "default");
    const Value value = Value::object(
        {{"metadata", std::move(metadata)},
         {"data", Value::object({{"text", std::to_string(index) + std::string(kRecordBytes - 300, 'x')}})}});
    if (index <= 5000) {
      entry.events.emplace_back(ObjectCreated{key, value});
    } else {
      entry.events.emplace_back(ObjectUpdated{key, value});
    }
    records.push_back(encode(entry));
  }
  return records;
}

void store_records(const std::string& path, const std::vector<std::string>& records) {
  const auto journal = or_exit(open_sqlite_journal(path));
  std::atomic<size_t> stored{0};
  std::promise<void> all;
  for (const std::string& record : records) {
    journal->append(record, [&](Result<Offset> offset) {
      or_exit(std::move(offset));
      if (++stored == records.size()) all.set_value();
    });
  }
  all.get_future().wait();
}

void project_records(const std::string& path, const std::vector<std::string>& records) {
  const auto projections = std::move(or_exit(Projections::open(path)).projections);
  State state;
  for (size_t begin = 0; begin < records.size(); begin += kBatch) {
    std::vector<Entry> entries;
    std::vector<Folded> folded;
    std::vector<FoldedEntry> batch;
    entries.reserve(kBatch);
    folded.reserve(kBatch);
    for (size_t index = begin; index < std::min(begin + kBatch, records.size()); ++index) {
      entries.push_back(or_exit(decode(records[index])));
      folded.push_back(fold(state, entries.back()));
      batch.push_back(
          {Offset{static_cast<int64_t>(index)}, entries.back(), folded.back(), proof::leaf_hash(records[index])});
    }
    or_exit(projections->apply(batch, state.meta()));
  }
}

void measure_verification(const std::string& folder, size_t count, Figures& figures) {
  const std::vector<std::string> records = make_records(count);
  size_t bytes = 0;
  for (const std::string& record : records) bytes += record.size();
  figures.value("proof", "bytes of a record", static_cast<double>(bytes) / static_cast<double>(count), "bytes");
  Time start = Time::now();
  for (const std::string& record : records) proof::sha256({record});
  const Time plain = Time::now().since(start);
  figures.rate("machine", "plain SHA-256 of the records", count, plain);
  proof::Frontier tree;
  start = Time::now();
  for (const std::string& record : records) tree.add(proof::leaf_hash(record));
  const Time grown = Time::now().since(start);
  figures.rate("proof", "leaves and tree of the records, in memory", count, grown);
  store_records(folder + "/journal.db", records);
  project_records(folder + "/projection.db", records);
  for (const bool with_projection : {false, true}) {
    const auto journal = or_exit(open_sqlite_journal(folder + "/journal.db", {.create = false}));
    VerificationOptions options{.journal = journal.get(), .checkpoints = {{"shiplog/bench", count, tree.root()}}};
    options.work_folder = folder;
    if (with_projection) options.files = {folder + "/projection.db"};
    start = Time::now();
    const VerificationReport report = or_exit(verify_journal(options));
    const Time took = Time::now().since(start);
    if (report.findings != 0 || report.covered != count) std::exit(1);
    const std::string what = with_projection ? "verification with every row of the projection" : "verification";
    figures.rate("proof", what, count, took);
    figures.value("proof", what + ", times plain SHA-256 (CPU)", took.cpu / plain.cpu, "times");
  }
}

}  // namespace
}  // namespace shiplog::bench

int main(int argc, char** argv) {
  using namespace shiplog::bench;
  const size_t leaves = std::stoul(option(argc, argv, "leaves", "1000000"));
  const size_t entries = std::stoul(option(argc, argv, "entries", "100000"));
  const std::string folder =
      option(argc, argv, "directory", (std::filesystem::temp_directory_path() / "shiplog-proof-bench").string());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  Figures figures{option(argc, argv, "json")};
  Figures::heading("Proofs: a tree of " + std::to_string(leaves) + " records, a journal of " + std::to_string(entries));
  grow_tree(folder + "/tree.db", leaves, figures);
  measure_proofs(folder + "/tree.db", leaves, figures);
  measure_verification(folder, entries, figures);
  std::filesystem::remove_all(folder);
  return 0;
}
