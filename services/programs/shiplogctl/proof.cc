#include "services/programs/shiplogctl/proof.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "events/base/json.h"
#include "events/proof/checkpoint.h"
#include "events/proof/tree.h"
#include "services/http/private_file.h"
#include "services/programs/shiplogctl/document.h"
#include "services/programs/verification/verification.h"

namespace shiplog::ctl {
namespace {

using Steady = std::chrono::steady_clock;

Result<void> write_file(const std::string& path, const std::string& text) {
  std::ofstream file{path, std::ios::binary | std::ios::trunc};
  file << text << std::flush;
  if (file) return ok();
  return Error{ErrorCode::kIo, "cannot write " + path};
}

/// The key itself, or a file with it.
Result<proof::VerifierKey> key_of(const std::string& given) {
  if (given.empty()) {
    return Error{ErrorCode::kBadRequest,
                 "--key is missing: the verifier key, as `audit checkpoint --print-key` printed it when it was kept. A "
                 "key that is taken from the server now proves nothing about the past"};
  }
  if (auto key = proof::parse_verifier_key(given)) return key;
  std::error_code none;
  if (!std::filesystem::exists(given, none)) {
    return Error{ErrorCode::kBadRequest,
                 "--key: \"" + given + "\" is neither a verifier key (NAME+HASH+KEY) nor a file"};
  }
  SHIPLOG_TRY(const std::string text, read_file(given));
  auto key = proof::parse_verifier_key(text);
  if (!key) return key.error().context(given);
  return key;
}

Result<proof::TreeHead> checkpoint_in(const std::string& path, const proof::VerifierKey& key) {
  SHIPLOG_TRY(const std::string note, read_file(path));
  auto head = proof::open_checkpoint(note, key);
  if (!head) return head.error().context(path);
  return head;
}

/// The path of a server's answer. Error: kInvalid.
Result<std::vector<proof::Digest>> path_in(const Value& answer) {
  std::vector<proof::Digest> path;
  for (const Value& hash : answer["path"].items()) {
    const auto digest = proof::digest_from_base64(hash.as_string());
    if (!digest) return Error{ErrorCode::kInvalid, "the server's proof has a line that is no SHA-256"};
    path.push_back(*digest);
  }
  return path;
}

/// What the server signed, with the key that it claims to have.
Result<proof::TreeHead> head_in(const Value& answer) {
  SHIPLOG_TRY(const auto key, proof::parse_verifier_key(answer["verifierKey"].as_string()));
  return proof::open_checkpoint(answer["checkpoint"].as_string(), key);
}

Result<Value> continued(ServerConnection& plane, const CheckpointOptions& options) {
  SHIPLOG_TRY(const auto key, key_of(options.key));
  SHIPLOG_TRY(const proof::TreeHead before, checkpoint_in(options.since, key));
  SHIPLOG_TRY(const Value newest, plane.get("/shiplog/v1/proof/checkpoint"));
  SHIPLOG_TRY(const proof::TreeHead now, proof::open_checkpoint(newest["checkpoint"].as_string(), key));
  const std::string sizes = std::to_string(before.size) + " and now " + std::to_string(now.size) + " records";
  if (now.origin != before.origin) {
    return Error{ErrorCode::kCorrupt, "the checkpoints are of different trees, " + before.origin + " and now " +
                                          now.origin + ": the tree was begun anew"};
  }
  if (now.size < before.size) {
    return Error{ErrorCode::kCorrupt, "the record was cut or rolled back: it had " + sizes};
  }
  SHIPLOG_TRY(const Value answer, plane.get("/shiplog/v1/proof/consistency",
                                            {{"from", std::to_string(before.size)}, {"to", std::to_string(now.size)}}));
  SHIPLOG_TRY(const auto path, path_in(answer));
  if (proof::verify_consistency(before.size, now.size, path, before.root, now.root)) return newest;
  return Error{ErrorCode::kCorrupt, "the record was altered: it had " + sizes +
                                        ", but the first ones are not those of the checkpoint in " + options.since};
}

std::string rate_text(uint64_t count, double seconds) {
  return std::to_string(static_cast<uint64_t>(static_cast<double>(count) / std::max(seconds, 1e-3)));
}

/// A folder of its own, removed in the end.
class WorkFolder {
 public:
  static Result<WorkFolder> make(const std::string& parent) {
    std::error_code failed;
    const std::filesystem::path in =
        parent.empty() ? std::filesystem::temp_directory_path(failed) : std::filesystem::path{parent};
    std::string path = (in / "shiplog-verify-XXXXXX").string();
    if (failed || ::mkdtemp(path.data()) == nullptr) {
      return Error{ErrorCode::kIo, "no folder can be made in " + in.string() + ": name another one with --work-dir"};
    }
    return WorkFolder{std::move(path)};
  }
  WorkFolder(WorkFolder&& other) noexcept : path_{std::exchange(other.path_, "")} {}
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit WorkFolder(std::string path) : path_{std::move(path)} {}
  std::string path_;
};

Value to_value(const FoundDifference& finding) {
  Value value = Value::object({{"where", finding.where}, {"what", finding.what}});
  if (finding.offset) value.set("offset", finding.offset->value);
  return value;
}

struct Checked {
  VerificationReport report;
  double seconds = 0;
  Value findings = Value::array(), notes = Value::array();
};

void print_report(const Checked& checked, const VerifyOptions& options, size_t checkpoints, std::ostream& out) {
  const VerificationReport& report = checked.report;
  const std::string rate = rate_text(report.records, checked.seconds);
  if (options.output == "json") {
    out << to_pretty_json(Value::object({{"journal", options.journal},
                                         {"records", report.records},
                                         {"bytes", report.bytes},
                                         {"treeSize", report.size},
                                         {"root", proof::to_base64(report.root)},
                                         {"coveredByCheckpoint", report.covered},
                                         {"proofs", report.proven},
                                         {"files", report.files},
                                         {"rows", report.rows},
                                         {"seconds", checked.seconds},
                                         {"recordsPerSecond", rate},
                                         {"differences", report.findings},
                                         {"findings", checked.findings},
                                         {"notes", checked.notes}}))
        << std::endl;
    return;
  }
  out << "records      " << report.records << " read, " << rate << " /s\n"
      << "tree         " << report.size << " records, root " << proof::to_base64(report.root) << "\n";
  if (checkpoints > 0) {
    out << "checkpoint   " << report.covered << " records are those that it vouches for; "
        << report.size - std::min(report.size, report.covered) << " came later\n";
  } else {
    out << "checkpoint   none was given: nothing vouches for these records\n";
  }
  if (!options.proofs.empty()) out << "proofs       " << report.proven << " of " << options.proofs.size() << " hold\n";
  if (!options.files.empty()) {
    out << "files        " << report.files << " of " << options.files.size() << " are as the journal makes them, "
        << report.rows << " rows\n";
  }
  out << "differences  " << report.findings << std::endl;
}

}  // namespace

Result<void> checkpoint(ServerConnection& plane, const CheckpointOptions& options, const Output& to) {
  if (options.print_key) {
    SHIPLOG_TRY(const Value answer, plane.get("/shiplog/v1/proof/key"));
    SHIPLOG_TRY(const auto key, proof::parse_verifier_key(answer["verifierKey"].as_string()));
    if (!options.save.empty()) return write_file(options.save, proof::to_text(key) + "\n");
    if (!print_document(answer, options.output, to.out)) to.out << proof::to_text(key) << std::endl;
    return ok();
  }
  Result<Value> answer = options.since.empty() ? plane.get("/shiplog/v1/proof/checkpoint") : continued(plane, options);
  SHIPLOG_TRY(const Value found, std::move(answer));
  SHIPLOG_TRY(const proof::TreeHead head, head_in(found));
  if (!options.since.empty()) {
    to.err << "the record has only grown since the checkpoint in " << options.since << ": it has " << head.size
           << " records" << std::endl;
  }
  if (!options.save.empty()) return write_file(options.save, found["checkpoint"].str());
  if (!print_document(found, options.output, to.out)) to.out << found["checkpoint"].str() << std::flush;
  return ok();
}

Result<void> prove(ServerConnection& plane, const ProveOptions& options, const Output& to) {
  HttpRequest::Query query;
  if (options.revision) query.emplace_back("revision", std::to_string(*options.revision));
  if (options.offset) query.emplace_back("offset", std::to_string(*options.offset));
  SHIPLOG_TRY(const Value answer, plane.get("/shiplog/v1/proof/inclusion", query));
  SHIPLOG_TRY(const proof::TreeHead head, head_in(answer));
  proof::InclusionProof proven{static_cast<uint64_t>(answer["ordinal"].as_int()), {}, answer["checkpoint"].str()};
  SHIPLOG_TRY(proven.path, path_in(answer));
  const auto leaf = proof::digest_from_base64(answer["leafHash"].as_string());
  if (!leaf || !proof::verify_inclusion(*leaf, proven.index, head.size, proven.path, head.root)) {
    return Error{ErrorCode::kCorrupt, "the server's proof does not hold: its projection is damaged"};
  }
  if (!options.save.empty()) return write_file(options.save, proof::to_text(proven));
  if (!print_document(answer, options.output, to.out)) to.out << proof::to_text(proven) << std::flush;
  return ok();
}

Result<bool> verify(const Backing& backing, const VerifyOptions& options, const Output& to) {
  VerificationOptions checking;
  if (!options.checkpoints.empty() || !options.proofs.empty()) {
    SHIPLOG_TRY(const auto key, key_of(options.key));
    for (const std::string& path : options.checkpoints) {
      SHIPLOG_TRY(checking.checkpoints.emplace_back(), checkpoint_in(path, key));
    }
    for (const std::string& path : options.proofs) {
      SHIPLOG_TRY(const std::string text, read_file(path));
      auto proven = proof::parse_inclusion_proof(text);
      if (!proven) return proven.error().context(path);
      auto head = proof::open_checkpoint(proven.value().checkpoint, key);
      if (!head) return head.error().context(path);
      if (proven.value().index >= head.value().size) {
        return Error{ErrorCode::kInvalid, path + ": its record is not among those of its checkpoint"};
      }
      checking.proofs.emplace_back(std::move(proven).value(), std::move(head).value());
    }
  }
  SHIPLOG_TRY(const auto journal, backing.open_journal(options.journal, options.kafka));
  SHIPLOG_TRY(const WorkFolder work, WorkFolder::make(options.work_folder));
  const bool json = options.output == "json";
  Checked checked;
  checking.journal = journal.get();
  checking.files = options.files;
  checking.work_folder = work.path();
  checking.found = [&](const FoundDifference& finding) {
    checked.findings.push_back(to_value(finding));
    if (json) return;
    to.out << "DIFFERENT " << finding.where;
    if (finding.offset) to.out << ", offset " << finding.offset->value;
    to.out << ": " << finding.what << std::endl;
  };
  checking.note = [&](const std::string& text) {
    checked.notes.push_back(text);
    to.err << "notice: " << text << std::endl;
  };
  const auto start = Steady::now();
  auto report_at = start + std::chrono::seconds{1};
  const auto seconds = [&] { return std::chrono::duration<double>(Steady::now() - start).count(); };
  checking.progress = [&](const VerificationProgress& so_far) {
    if (Steady::now() < report_at) return;
    report_at = Steady::now() + std::chrono::seconds{1};
    to.err << "verified " << so_far.records << " records, at offset " << so_far.at.value << " of " << so_far.end.value
           << ", " << rate_text(so_far.records, seconds()) << " /s" << std::endl;
  };
  SHIPLOG_TRY(checked.report, verify_journal(checking));
  checked.seconds = seconds();
  print_report(checked, options, options.checkpoints.size() + options.proofs.size(), to.out);
  if (checked.report.findings == 0) return true;
  to.err << "error: " << checked.report.findings
         << " differences: the journal or a file is not what it was; each is listed above" << std::endl;
  return false;
}

}  // namespace shiplog::ctl
