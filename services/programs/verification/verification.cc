#include "services/programs/verification/verification.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "events/codec/codec.h"
#include "events/proof/tree.h"
#include "projections/history/history_query.h"
#include "services/programs/verification/checked_file.h"
#include "services/programs/verification/reference_leaves.h"
#include "services/programs/verification/remade_projection.h"

namespace shiplog {
namespace {

constexpr size_t kRecordsAtOnce = 512;
constexpr Millis kPatience{500};
constexpr int kMostWaits = 20;  // a topic is fetched over the network
constexpr size_t kMostSuspects = 100'000;
constexpr uint64_t kMostNamed = 1000;  // of one place; the rest is counted
constexpr const char* kJournal = "the journal";

std::string number(uint64_t count) { return std::to_string(count); }

/// One verification, and what it has found so far.
class Verification {
 public:
  explicit Verification(const VerificationOptions& options) : options_{options} {}

  Result<VerificationReport> run() {
    SHIPLOG_TRY(sort_checkpoints());
    open_files();
    SHIPLOG_TRY(find_ends());
    SHIPLOG_TRY(find_beginning());
    SHIPLOG_TRY(read_records());
    missing_at_the_end();
    convict(std::nullopt);
    prove_trimmed();
    for (const auto& file : files_) not_reached(*file);
    report_.size = tree_.size();
    report_.root = tree_.root();
    return report_;
  }

 private:
  // --- what is found

  void found(const std::string& where, std::optional<Offset> offset, const std::string& what) {
    ++report_.findings;
    const uint64_t named = ++named_[where];
    if (!options_.found || named > kMostNamed + 1) return;
    if (named <= kMostNamed) return options_.found({where, offset, what});
    options_.found({where, std::nullopt, "there is more, which is counted and not listed"});
  }
  void note(const std::string& text) const {
    if (options_.note) options_.note(text);
  }

  /// A record that is not the one that the reference has in its place: either of them was changed.
  struct Suspect {
    uint64_t ordinal = 0;  // of the tree when it was found
    Offset offset;
    std::string what;
  };
  void suspect(Offset offset, const std::string& what) {
    if (suspects_.size() < kMostSuspects) {
      suspects_.push_back({tree_.size(), offset, what});
    } else {
      found(kJournal, offset, what);
    }
  }
  /// Those before a size that a checkpoint vouches for are not the journal's: the comparison of the file names them.
  void acquit(uint64_t size) {
    for (; !suspects_.empty() && suspects_.front().ordinal < size; suspects_.pop_front()) {
      if (reference_.file() != base_) continue;
      found(base_->path(), suspects_.front().offset,
            "the hash that it has of the record is not that of the record, which a checkpoint vouches for");
    }
  }
  void convict(std::optional<uint64_t> size) {
    while (!suspects_.empty() && (!size || suspects_.front().ordinal < *size)) {
      found(kJournal, suspects_.front().offset, suspects_.front().what);
      suspects_.pop_front();
    }
  }

  // --- before the records are read

  Result<void> sort_checkpoints() {
    checkpoints_ = options_.checkpoints;
    for (const auto& [proof, head] : options_.proofs) checkpoints_.push_back(head);
    std::ranges::sort(checkpoints_, {}, &proof::TreeHead::size);
    for (const proof::TreeHead& head : checkpoints_) {
      if (head.origin == checkpoints_.front().origin) continue;
      return Error{ErrorCode::kInvalid, "the checkpoints are of different trees, " + checkpoints_.front().origin +
                                            " and " + head.origin + ": verify them one by one"};
    }
    return ok();
  }

  void open_files() {
    for (const std::string& path : options_.files) {
      auto file = CheckedFile::open(path);
      if (file) {
        files_.push_back(std::move(file).value());
      } else {
        found(path, std::nullopt, "it cannot be read: " + file.error().message);
      }
    }
    std::ranges::stable_sort(files_, {}, [](const auto& file) { return file->next(); });
    const auto largest = std::ranges::max_element(files_, {}, [](const auto& file) { return file->tree_size(); });
    if (largest != files_.end() && (*largest)->tree_size() > 0) reference_ = ReferenceLeaves{**largest};
  }

  // After the files: what they cover must be in the journal.
  Result<void> find_ends() {
    auto oldest = options_.journal->oldest();
    if (oldest) {
      oldest_ = oldest.value();
    } else if (oldest.error().code == ErrorCode::kCorrupt) {
      found(kJournal, std::nullopt, oldest.error().message);
    } else {
      return std::move(oldest).error();
    }
    auto head = options_.journal->head();
    if (head) {
      head_ = head.value();
    } else if (head.error().code == ErrorCode::kCorrupt) {
      found(kJournal, std::nullopt, head.error().message);
    } else {
      return std::move(head).error();
    }
    return ok();
  }

  Result<void> find_beginning() {
    const bool trimmed = oldest_ && oldest_->value > 1;
    CheckedFile* base = nullptr;
    if (trimmed) {
      for (const auto& file : files_) {
        if (base == nullptr && file->next() >= *oldest_ && (!head_ || file->next() <= *head_)) base = file.get();
      }
      if (base == nullptr) {
        return Error{ErrorCode::kGone, options_.journal->describe() + " begins at offset " + number_of(*oldest_) +
                                           ": what was before is trimmed. Name a snapshot or projection that covers "
                                           "it: it has the hashes that the tree continues from"};
      }
      if (auto begun = go_on_from(*base); !begun) {
        found(base->path(), std::nullopt, begun.error().message);
        return Error{ErrorCode::kCorrupt, base->path() +
                                              " is the only file that covers what was trimmed, and cannot "
                                              "be gone on from: " +
                                              begun.error().message};
      }
    } else if (const auto late = reference_.late_beginning()) {
      tree_begins_ = *late;
    }
    const std::string file = files_.empty() ? "" : options_.work_folder + "/verified-projection.db";
    auto made = RemadeProjection::make(file, base == nullptr ? "" : base->path());
    if (!made && base != nullptr) {
      found(base->path(), std::nullopt, made.error().message);
    } else {
      SHIPLOG_TRY(remade_, std::move(made));
    }
    return ok();
  }

  /// The tree is continued where the records begin.
  Result<void> go_on_from(CheckedFile& base) {
    const TreeQuery tree = base.tree();
    SHIPLOG_TRY(const auto first, tree.from(*oldest_));
    const uint64_t ordinal = first ? first->ordinal : base.tree_size();
    SHIPLOG_TRY(tree_, proof::frontier_at(ordinal, tree.nodes()));
    tree_begins_ = first ? std::max(first->offset, *oldest_) : base.next();
    reference_.go_to(ordinal);
    first_ordinal_ = ordinal;
    note("records before offset " + number_of(*oldest_) + " were trimmed; the tree continues from " + base.path() +
         ", whose history before offset " + number_of(base.next()) +
         " follows from no record any more: it is checked by its checksums alone");
    uint64_t damaged = 0;
    SHIPLOG_TRY(const ComparedProjection checked, check_projection(base.view(), [&](const RowFinding& row) {
                  ++damaged;
                  row_found(base.path(), row);
                }));
    report_.rows += checked.rows;
    if (damaged == 0) ++report_.files;
    base_ = &base;
    return ok();
  }

  // --- the records

  Result<void> read_records() {
    Offset at = oldest_.value_or(Offset{0});
    while (true) {
      SHIPLOG_TRY(const Stretch stretch, read_until_damage(at));
      if (!stretch.damage) return ok();
      // What is behind it is still read, to name all of it.
      SHIPLOG_TRY(take_damaged(at, *stretch.damage));
      at = Offset{at.value + 1};
      if (!head_ || at >= *head_) return ok();
    }
  }

  struct Stretch {
    std::optional<Error> damage;  // of the record at `at`; nullopt: the journal ended
  };
  Result<Stretch> read_until_damage(Offset& at) {
    auto opened = options_.journal->tail(at);
    if (!opened && opened.error().code == ErrorCode::kCorrupt) return Stretch{opened.error()};
    SHIPLOG_TRY(const auto tail, std::move(opened));
    int waits = 0;
    while (!head_ || at < *head_) {
      auto records = tail->next(kRecordsAtOnce, kPatience);
      if (!records && records.error().code == ErrorCode::kCorrupt) return Stretch{records.error()};
      SHIPLOG_TRY(auto some, std::move(records));
      if (some.empty() && (!head_ || ++waits == kMostWaits)) return Stretch{};
      for (JournalRecord& record : some) {
        if (head_ && record.offset >= *head_) return Stretch{};
        waits = 0;
        at = Offset{record.offset.value + 1};
        SHIPLOG_TRY(take(std::move(record)));
      }
      if (options_.progress) options_.progress({report_.records, at, head_.value_or(at)});
    }
    return Stretch{};
  }

  Result<void> take(JournalRecord record) {
    SHIPLOG_TRY(compare_reached(record.offset));
    ++report_.records;
    report_.bytes += record.bytes.size();
    const proof::Digest leaf = proof::leaf_hash(record.bytes);
    std::optional<proof::Digest> in_tree;
    if (begins_at(record.offset, leaf)) {
      in_tree = leaf;
      SHIPLOG_TRY(compare_with_reference(record.offset, leaf));
      add_leaf(leaf);
    }
    auto entry = decode(record.bytes);
    if (!entry) {
      found(kJournal, record.offset, "the record is no entry: " + entry.error().message);
      stop_folding(record.offset);
    } else if (remade_ && record.offset >= remade_->next()) {
      fold_entry(record.offset, std::move(entry).value(), in_tree);
    }
    return compare_reached(Offset{record.offset.value + 1});
  }

  void fold_entry(Offset offset, Entry entry, const std::optional<proof::Digest>& leaf) {
    const auto folded = remade_->take(offset, std::move(entry), leaf);
    if (folded) return;
    found(kJournal, offset, folded.error().message);
    stop_folding(offset);
  }
  void stop_folding(Offset offset) {
    if (remade_) folded_until_ = offset;
    remade_.reset();
  }

  /// A tree with a late beginning begins with the record that its origin names.
  bool begins_at(Offset offset, const proof::Digest& leaf) {
    if (tree_begins_) return offset >= *tree_begins_;
    const std::string origin = checkpoints_.empty() ? "" : checkpoints_.front().origin;
    const size_t from = origin.find("/from/");
    if (from != std::string::npos && proof::origin_of(origin.substr(0, from), &leaf) != origin) return false;
    tree_begins_ = offset;
    return true;
  }

  Result<void> take_damaged(Offset offset, const Error& error) {
    found(kJournal, offset, error.message);
    stop_folding(offset);
    if (tree_begins_ && offset < *tree_begins_) return ok();
    // Its hash may be known, so that what is behind it can be told from it.
    const auto leaf = reference_.next();
    if (leaf && leaf->offset == offset) {
      reference_.skip();
      add_leaf(leaf->hash);
    } else {
      tree_broken_ = true;
    }
    return ok();
  }

  void add_leaf(const proof::Digest& leaf) {
    for (const auto& [proof, head] : options_.proofs) {
      if (proof.index != tree_.size() || tree_broken_) continue;
      if (proof::verify_inclusion(leaf, proof.index, head.size, proof.path, head.root)) {
        ++report_.proven;
      } else {
        found(kJournal, std::nullopt, "record " + number(proof.index) + " is not the one that its proof is of");
      }
    }
    tree_.add(leaf);
    compare_roots();
  }

  void compare_roots() {
    for (; next_checkpoint_ < checkpoints_.size() && checkpoints_[next_checkpoint_].size <= tree_.size();
         ++next_checkpoint_) {
      const proof::TreeHead& head = checkpoints_[next_checkpoint_];
      if (tree_broken_) continue;
      if (head.size < tree_.size()) {
        compare_older(head);
      } else if (head.root == tree_.root()) {
        report_.covered = head.size;
        acquit(head.size);
      } else {
        convict(head.size);
        found(kJournal, std::nullopt,
              "its first " + number(head.size) +
                  " records are not those of the checkpoint: records among them were "
                  "altered, removed, inserted or exchanged");
      }
    }
  }

  /// A checkpoint of records that were trimmed: what the tree continues from must continue it.
  void compare_older(const proof::TreeHead& head) {
    if (head.size == 0 || base_ == nullptr) return;
    const auto root = proof::root_at(head.size, base_->tree().nodes());
    if (root && root.value() == head.root) {
      note("the checkpoint of " + number(head.size) +
           " records is of records that were trimmed: the tree continues it, but nothing vouches for those that are "
           "there; take a newer one");
    } else {
      found(base_->path(), std::nullopt,
            "the tree that it has is not the one of the checkpoint of " + number(head.size) + " records");
    }
  }

  /// Of records that were trimmed, their hashes are left.
  void prove_trimmed() {
    for (const auto& [proof, head] : options_.proofs) {
      if (base_ == nullptr || proof.index >= first_ordinal_) continue;
      const auto leaf = base_->tree().leaf(proof.index);
      if (leaf && leaf.value() &&
          proof::verify_inclusion(leaf.value()->hash, proof.index, head.size, proof.path, head.root)) {
        ++report_.proven;
        note("record " + number(proof.index) + " was trimmed; its proof holds for the hash that " + base_->path() +
             " has of it");
      } else {
        found(base_->path(), std::nullopt,
              "the hash that it has of record " + number(proof.index) + " is not the one that its proof is of");
      }
    }
  }

  Result<void> compare_with_reference(Offset offset, const proof::Digest& leaf) {
    if (report_.records == 1 && reference_.has_other_offsets(offset, leaf)) {
      return Error{ErrorCode::kInvalid, reference_.file()->path() +
                                            " is of a journal with other offsets, of which this one is a copy: name "
                                            "the files of this one"};
    }
    for (const auto& [where, what] : reference_.compare(offset, leaf)) suspect(where, what);
    return ok();
  }

  void missing_at_the_end() {
    for (const auto& [where, what] : reference_.rest()) suspect(where, what);
    for (; next_checkpoint_ < checkpoints_.size(); ++next_checkpoint_) {
      const uint64_t size = checkpoints_[next_checkpoint_].size;
      if (size == 0) continue;
      if (tree_broken_) {
        found(kJournal, std::nullopt,
              "the root of the checkpoint of " + number(size) + " records cannot be compared, as records are damaged");
        continue;
      }
      convict(std::nullopt);
      found(kJournal, std::nullopt,
            "it has " + number(tree_.size()) + " records, the checkpoint has " + number(size) +
                ": records were removed, or this is an older state of the journal");
    }
  }

  // --- the files

  Result<void> compare_reached(Offset next) {
    while (next_file_ < files_.size() && files_[next_file_]->next() <= next) {
      CheckedFile& file = *files_[next_file_];
      if (&file == base_ || (base_ != nullptr && file.next() < base_->next())) {
        ++next_file_;
        continue;
      }
      if (!remade_ || remade_->next() > file.next()) break;
      ++next_file_;
      SHIPLOG_TRY(compare(file));
      compared_files_.push_back(&file);
    }
    return ok();
  }

  void row_found(const std::string& path, const RowFinding& row) {
    found(path, std::nullopt,
          row.table.empty()
              ? row.what
              : (row.key.empty() ? "the table " + row.table : "row " + row.key + " of the table " + row.table) + " " +
                    row.what);
  }

  Result<void> compare(CheckedFile& file) {
    const auto oldest = HistoryQuery{file.view()}.oldest();
    SHIPLOG_TRY(Reader made, remade_->read(oldest ? oldest.value() : Revision{0}));
    SHIPLOG_TRY(const View view, made.view());
    SHIPLOG_TRY(const ComparedProjection compared,
                compare_projections(file.view(), view, [&](const RowFinding& row) { row_found(file.path(), row); }));
    report_.rows += compared.rows;
    if (compared.findings == 0) ++report_.files;
    if (oldest && oldest.value() > Revision{0}) {
      note(file.path() + " keeps its history from revision " + number(oldest.value().value) + " on");
    }
    if (compared.missing > 0) {
      note(file.path() + " lacks the oldest " + number(compared.missing) +
           " rows of the audit trail and the decisions, as retention leaves it");
    }
    return ok();
  }

  void not_reached(const CheckedFile& file) {
    if (&file == base_ || std::ranges::find(compared_files_, &file) != compared_files_.end()) return;
    if (folded_until_) {
      return found(file.path(), std::nullopt,
                   "it was not compared, as the journal cannot be folded beyond offset " + number_of(*folded_until_));
    }
    if (base_ != nullptr && file.next() < base_->next()) {
      return note(file.path() + " was not compared: it is older than what the journal still has");
    }
    found(file.path(), std::nullopt,
          "it covers records up to offset " + number_of(file.next()) + ", which the journal does not have");
  }

  static std::string number_of(Offset offset) { return std::to_string(offset.value); }

  const VerificationOptions& options_;
  VerificationReport report_;
  std::map<std::string, uint64_t> named_;
  std::deque<Suspect> suspects_;

  std::vector<proof::TreeHead> checkpoints_;
  size_t next_checkpoint_ = 0;
  std::vector<std::unique_ptr<CheckedFile>> files_;  // by how far they reach
  std::vector<const CheckedFile*> compared_files_;
  size_t next_file_ = 0;
  ReferenceLeaves reference_;
  CheckedFile* base_ = nullptr;          // that the tree and the state go on from
  std::optional<Offset> oldest_, head_;  // nullopt: not known, as the journal is damaged

  std::optional<Offset> tree_begins_;
  uint64_t first_ordinal_ = 0;  // of the records that are there
  proof::Frontier tree_;
  bool tree_broken_ = false;  // a record is unreadable, and its hash is not known
  std::unique_ptr<RemadeProjection> remade_;
  std::optional<Offset> folded_until_;
};

}  // namespace

Result<VerificationReport> verify_journal(const VerificationOptions& options) { return Verification{options}.run(); }

}  // namespace shiplog
