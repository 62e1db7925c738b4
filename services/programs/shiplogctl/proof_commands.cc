#include <CLI/CLI.hpp>

#include "services/programs/shiplogctl/program.h"

namespace shiplog::ctl {

void Program::add_proof(CLI::App& audit) {
  auto* taken = add(audit, "checkpoint", "Print the signed checkpoint of the record, to be kept elsewhere",
                    [this]() -> Result<int> {
                      SHIPLOG_TRY(auto plane, access_.connect());
                      SHIPLOG_TRY(checkpoint(plane, checkpoint_, to_));
                      return 0;
                    });
  taken->add_option("--save", checkpoint_.save, "Write the checkpoint to this file")->type_name("FILE");
  auto* since = taken
                    ->add_option("--since", checkpoint_.since,
                                 "A checkpoint that was kept: verify that the record has only grown since")
                    ->type_name("FILE");
  taken->add_option("--key", checkpoint_.key, "The verifier key that was kept, or a file with it; with --since")
      ->needs(since)
      ->type_name("KEY|FILE");
  taken->add_flag("--print-key", checkpoint_.print_key, "Print the verifier key instead, to be kept elsewhere")
      ->excludes(since);
  add_output(*taken, checkpoint_.output, {"json", "yaml"});

  auto* proven =
      add(audit, "prove", "Prove that the record of an entry is in the newest checkpoint", [this]() -> Result<int> {
        usage_ = !prove_.revision == !prove_.offset;
        if (usage_) {
          return Error{ErrorCode::kBadRequest,
                       "name an entry: a revision that it made, or --offset, its place in the journal"};
        }
        SHIPLOG_TRY(auto plane, access_.connect());
        SHIPLOG_TRY(prove(plane, prove_, to_));
        return 0;
      });
  proven->add_option("REVISION", prove_.revision, "A revision that the entry made");
  proven->add_option("--offset", prove_.offset, "The offset of the entry in the journal")->type_name("OFFSET");
  proven->add_option("--save", prove_.save, "Write the proof to this file (c2sp.org/tlog-proof)")->type_name("FILE");
  add_output(*proven, prove_.output, {"json", "yaml"});

  auto* verified =
      add(audit, "verify", "Verify without a server that nothing in a journal was altered", [this]() -> Result<int> {
        SHIPLOG_TRY(const bool intact, verify(backing_, verify_, to_));
        return intact ? 0 : 1;
      });
  verified->add_option("--journal", verify_.journal, "The journal, or a copy of it (it may be in use)")
      ->required()
      ->type_name("sqlite:FILE|kafka:BROKER,.../FLEET");
  verified->add_option("--kafka-option", verify_.kafka, "A setting of librdkafka; can be repeated")
      ->type_name("KEY=VALUE");
  verified
      ->add_option("--checkpoint", verify_.checkpoints,
                   "A checkpoint that was kept elsewhere; can be repeated. Without one only damage is found that "
                   "checksums, hashes of the state and --snapshot show")
      ->type_name("FILE");
  verified->add_option("--key", verify_.key, "The verifier key that was kept elsewhere, or a file with it")
      ->type_name("KEY|FILE");
  verified
      ->add_option("--snapshot", verify_.files,
                   "A snapshot or projection of this journal: compare each of its rows with what the journal makes; "
                   "can be repeated. A trimmed journal needs one that covers what was trimmed")
      ->type_name("FILE");
  verified->add_option("--proof", verify_.proofs, "A proof that `audit prove` has written; can be repeated")
      ->type_name("FILE");
  verified
      ->add_option("--work-dir", verify_.work_folder,
                   "Where the projection is made again with --snapshot [that of temporary files]")
      ->type_name("FOLDER");
  add_output(*verified, verify_.output, {"json"});
}

}  // namespace shiplog::ctl
