#pragma once

#include <memory>

#include "events/proof/note.h"
#include "services/api/store.h"
#include "services/http/server.h"

namespace shiplog::api {

/// Answers GETs below /shiplog/v1/proof/, in JSON: what proves that the record was not changed.
///   key          the key that checkpoints are signed with, to be kept elsewhere
///   checkpoint   how many records there are and the root of their tree, signed; `size`: as of so many records
///   inclusion    that the record of an entry is in a checkpoint: of the entry at `offset`, the one that made
///   `revision`,
///                or the one with this `ordinal`; `size`: in the checkpoint of so many records
///   consistency  that the first `from` records of a checkpoint of `to` records (the newest, if it is left out) are
///   those
///                of the checkpoint of `from` records
/// The answers contain hashes, and nothing of the records. `signer` may be nullptr: this server has no tree.
/// False: the path is not below /shiplog/v1/proof/, and nothing was answered. Errors are answered as metav1.Status.
/// Blocks on the projection. Threads: any.
bool serve_proof(Store& store, const proof::NoteSigner* signer, const HttpRequest& request, ResponseWriter& writer);

}  // namespace shiplog::api
