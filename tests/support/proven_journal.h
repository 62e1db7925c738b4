#pragma once

#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/codec/codec.h"
#include "events/journal/embedded/sqlite_journal.h"
#include "events/proof/tree.h"
#include "projections/store/snapshot.h"
#include "services/programs/verification/verification.h"
#include "tests/support/projected_fleet.h"

namespace shiplog {

/// The records of a journal, and what can be made of them: journal files, projections and tree heads.
class ProvenJournal {
 public:
  /// A history with objects of all operations, refusals, denials, decisions and state hashes: about 5 records an
  /// object.
  explicit ProvenJournal(size_t objects) {
    for (const char* ns : {"default", "other"}) create({type::kNamespace, "", ns});
    for (size_t number = 0; number < objects; ++number) {
      const std::string name = "object-" + std::to_string(number);
      const ObjectKey map = config_map(number % 3 == 0 ? "other" : "default", name);
      create(map, "first " + name);
      add({ObjectUpdated{map, object_value(map, "second " + name)}}, "bob");
      if (number % 2 == 0) add({DeletionRequested{map}}, "carol");
      if (number % 4 == 1) add({ObjectCreated{map, object_value(map, "refused")}}, "bob");
      if (number % 5 == 2) add({RequestDenied{map, 403, "Forbidden", "not you"}}, "mallory");
      if (number % 3 == 1) decide(ObjectKey{type::kResourceBinding, "default", "binding-" + std::to_string(number)});
      const ObjectKey web{"deployments.apps", "default", "web"};
      add({number == 0 ? Event{ObjectCreated{web, deployment(number)}} : Event{ObjectUpdated{web, deployment(number)}}},
          "alice");
      if (number % 6 == 5) add({StateHashed{state_.revision(), state_.hash()}}, "control");
    }
  }

  const std::vector<std::string>& records() const { return records_; }
  size_t size() const { return records_.size(); }

  static proof::Frontier tree_of(const std::vector<std::string>& records) {
    proof::Frontier tree;
    for (const std::string& record : records) tree.add(proof::leaf_hash(record));
    return tree;
  }
  /// Of the first `size` records; 0: of all.
  proof::TreeHead head(size_t size = 0) const {
    const size_t many = size == 0 ? records_.size() : size;
    const proof::Frontier tree = tree_of({records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(many)});
    return {"shiplog/test", many, tree.root()};
  }
  proof::InclusionProof proof_of(size_t index) const {
    const proof::Nodes nodes = [&](proof::NodeId node) -> Result<proof::Digest> {
      proof::Frontier part;
      for (uint64_t leaf = node.index << node.level; leaf < (node.index + 1) << node.level; ++leaf) {
        part.add(proof::leaf_hash(records_[leaf]));
      }
      return part.root();
    };
    return {index, must(proof::inclusion_path(index, size(), nodes)), ""};
  }

  /// A journal file with these records, at the offsets from `first` on.
  static void store(const std::string& path, const std::vector<std::string>& records, int64_t first = 0) {
    const auto journal = must(open_sqlite_journal(path, {.first_offset = Offset{first}}));
    std::vector<std::promise<Result<Offset>>> stored(records.size());
    for (size_t index = 0; index < records.size(); ++index) {
      journal->append(records[index],
                      [&, index](Result<Offset> offset) { stored[index].set_value(std::move(offset)); });
    }
    for (size_t index = 0; index < records.size(); ++index) {
      EXPECT_EQ(must(stored[index].get_future().get()).value, first + static_cast<int64_t>(index));
    }
  }

  /// A projection of the first `count` records, as a process makes it.
  static void project(const std::string& path, const std::vector<std::string>& records, size_t count) {
    const auto projections = std::move(must(Projections::open(path)).projections);
    State state;
    for (size_t begin = 0; begin < count; begin += kBatch) {
      std::vector<Entry> entries;
      std::vector<Folded> folded;
      std::vector<FoldedEntry> batch;
      entries.reserve(kBatch);
      folded.reserve(kBatch);
      for (size_t index = begin; index < std::min(begin + kBatch, count); ++index) {
        entries.push_back(must(decode(records[index])));
        folded.push_back(fold(state, entries.back()));
        batch.push_back(
            {Offset{static_cast<int64_t>(index)}, entries.back(), folded.back(), proof::leaf_hash(records[index])});
      }
      must(projections->apply(batch, state.meta()));
    }
  }
  /// The same as one file without a write-ahead log, as snapshots are.
  static void snapshot(const std::string& path, const std::vector<std::string>& records, size_t count) {
    const std::string live = path + ".live";
    project(live, records, count);
    must(must(Projections::open(live)).projections->snapshot(path));
    must(store::remove_database(live));
  }

 private:
  static constexpr size_t kBatch = 7;

  static Value deployment(size_t number) {
    const std::string image = "v" + std::to_string(number);
    return Value::object({{"metadata", Value::object({{"name", "web"}, {"namespace", "default"}})},
                          {"spec", Value::object({{"template", Value::object({{"image", image}})}})}});
  }
  void create(const ObjectKey& key, const std::string& text = {}) {
    add({ObjectCreated{key, object_value(key, text)}}, "alice");
  }
  void decide(const ObjectKey& binding) {
    Entry entry;
    entry.actor = {"system:shiplog:binder", {"roles"}, "binder", "10.0.0.2", "shiplogd"};
    entry.request = {"decide", "/binder"};
    entry.as_of = state_.revision();
    entry.events = {BindingPut{binding, object_value(binding), {Text{"bound"}, "digest", {}, {}, {}}}};
    add(std::move(entry));
  }
  void add(std::vector<Event> events, const std::string& user) {
    Entry entry;
    entry.actor = {user, {"dev"}, user == "control" ? "control" : "api", "10.0.0.1", "kubectl"};
    entry.request = {"update", "/api/v1"};
    entry.events = std::move(events);
    add(std::move(entry));
  }
  void add(Entry entry) {
    entry.id = new_entry_id(random_);
    entry.time = {1'700'000'000'000 + static_cast<int64_t>(records_.size()) * 60'000};
    EXPECT_FALSE(fold(state_, entry).stop);
    records_.push_back(encode(entry));
  }

  SeededRandom random_{7};
  State state_;
  std::vector<std::string> records_;
};

/// What a verification said.
struct VerificationOutcome {
  VerificationReport report;
  std::vector<FoundDifference> findings;
  std::vector<std::string> notes;
  std::optional<Error> error;

  bool intact() const { return !error && report.findings == 0; }
  bool names(const std::string& where, std::optional<int64_t> offset, const std::string& what) const {
    return std::ranges::any_of(findings, [&](const FoundDifference& finding) {
      return finding.where == where && finding.what.find(what) != std::string::npos &&
             (!offset || (finding.offset && finding.offset->value == *offset));
    });
  }
  bool names(const std::string& where) const { return names(where, std::nullopt, ""); }
  std::string text() const {
    std::string text = error ? "error: " + error->message + "\n" : "";
    for (const FoundDifference& finding : findings) {
      text += finding.where + (finding.offset ? "@" + std::to_string(finding.offset->value) : "") + ": " +
              finding.what + "\n";
    }
    for (const std::string& note : notes) text += "note: " + note + "\n";
    return text;
  }
};

inline VerificationOutcome verify(Journal& journal, VerificationOptions options, const std::string& work_folder) {
  VerificationOutcome verified;
  options.journal = &journal;
  options.work_folder = work_folder;
  options.found = [&](const FoundDifference& finding) { verified.findings.push_back(finding); };
  options.note = [&](const std::string& note) { verified.notes.push_back(note); };
  const auto report = verify_journal(options);
  if (report) {
    verified.report = report.value();
    EXPECT_LE(verified.findings.size(), verified.report.findings);
  } else {
    verified.error = report.error();
  }
  return verified;
}

inline VerificationOutcome verify(const std::string& journal, VerificationOptions options,
                                  const std::string& work_folder) {
  const auto opened = open_sqlite_journal(journal, {.create = false});
  if (opened) return verify(*opened.value(), std::move(options), work_folder);
  VerificationOutcome verified;
  verified.error = opened.error();
  return verified;
}

}  // namespace shiplog
