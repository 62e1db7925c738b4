#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/proof/note.h"
#include "events/proof/sha256.h"

namespace shiplog::proof {

/// What a fleet vouches for: its journal's first `size` records have this root (c2sp.org/tlog-checkpoint).
struct TreeHead {
  std::string origin;  ///< which tree: the name of the fleet's key, and where the tree begins if records were trimmed
  uint64_t size = 0;
  Digest root = {};
  bool operator==(const TreeHead&) const = default;
};

/// The text of a checkpoint, without signatures.
std::string to_text(const TreeHead& head);
/// Extension lines are ignored. Error: kInvalid.
Result<TreeHead> parse_tree_head(std::string_view text);

/// A checkpoint that the key has signed, and whose origin is one of this key: its name, or its name and what follows a
/// "/from/". Errors: those of open_note(); kInvalid, it is no checkpoint; kForbidden, its origin is another log's.
Result<TreeHead> open_checkpoint(std::string_view note, const VerifierKey& key);

/// The origin of a tree: the whole journal, or one that begins with the record that has this leaf hash.
std::string origin_of(const std::string& key_name, const Digest* first_leaf);

/// That one record is in a checkpoint, in the text form of c2sp.org/tlog-proof.
struct InclusionProof {
  uint64_t index = 0;
  std::vector<Digest> path;
  std::string checkpoint;  ///< the signed note
  bool operator==(const InclusionProof&) const = default;
};
std::string to_text(const InclusionProof& proof);
/// Error: kInvalid.
Result<InclusionProof> parse_inclusion_proof(std::string_view text);

}  // namespace shiplog::proof
