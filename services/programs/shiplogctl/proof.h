#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "services/programs/shiplogctl/connection.h"
#include "services/programs/shiplogctl/ctl.h"
#include "services/programs/shiplogctl/terminal.h"

// Checkpoints and proofs of the record: `shiplogctl audit checkpoint`, `prove` and `verify`.
namespace shiplog::ctl {

struct CheckpointOptions {
  std::string save;   ///< file; empty: it is printed
  std::string since;  ///< file with an earlier checkpoint, which the new one must continue; empty: none
  std::string key;    ///< the verifier key, or a file with it; with `since`
  bool print_key = false;
  std::string output;  ///< "", "json", "yaml"
};
/// The newest checkpoint, which it verifies. Errors: kForbidden, kCorrupt: the server's answer is not what its key
/// signs, or it does not continue the earlier checkpoint.
Result<void> checkpoint(ServerConnection& plane, const CheckpointOptions& options, const Output& to);

struct ProveOptions {
  std::optional<uint64_t> revision, offset;  ///< one of them
  std::string save;                          ///< file; empty: it is printed
  std::string output;                        ///< "", "json", "yaml"
};
/// That the record of an entry is in the newest checkpoint, as a file of c2sp.org/tlog-proof.
Result<void> prove(ServerConnection& plane, const ProveOptions& options, const Output& to);

struct VerifyOptions {
  std::string journal;             ///< "sqlite:FILE", "kafka:BROKERS/FLEET"
  std::vector<std::string> kafka;  ///< settings of the Kafka client, KEY=VALUE
  std::vector<std::string> checkpoints, proofs, files;
  std::string key;          ///< the verifier key, or a file with it
  std::string work_folder;  ///< empty: that of temporary files
  std::string output;       ///< "", "json"
};
/// Verifies a journal and its files without a server. True: nothing was altered. Errors: those of reading; kBadRequest.
Result<bool> verify(const Backing& backing, const VerifyOptions& options, const Output& to);

}  // namespace shiplog::ctl
