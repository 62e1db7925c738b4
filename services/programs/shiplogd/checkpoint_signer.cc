#include "services/programs/shiplogd/checkpoint_signer.h"

#include <utility>

#include "events/proof/note.h"
#include "services/adapters/vault/fleet_key.h"
#include "services/runtime/log.h"

namespace shiplog {

Result<std::shared_ptr<const proof::NoteSigner>> checkpoint_signer(const std::string& keys) {
  SHIPLOG_TRY(const vault::Key fleet, vault::load_fleet_key(keys + "/fleet.key"));
  SHIPLOG_TRY(auto signer, proof::NoteSigner::make(vault::checkpoint_key_name(fleet), vault::checkpoint_seed(fleet)));
  log::info("proof.key", {log::kv("verifier", proof::to_text(signer.verifier()))});
  return std::make_shared<const proof::NoteSigner>(std::move(signer));
}

}  // namespace shiplog
