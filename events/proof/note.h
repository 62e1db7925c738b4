#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/proof/sha256.h"

// Signed notes, as in c2sp.org/signed-note, with Ed25519 keys. Pure: the same text and key give the same signature.
namespace shiplog::proof {

/// A public key: what a note is verified with.
struct VerifierKey {
  std::string name;
  std::array<unsigned char, 32> key = {};
  bool operator==(const VerifierKey&) const = default;
};

/// "NAME+HHHHHHHH+BASE64", the form in which keys of notes are published.
std::string to_text(const VerifierKey& key);
/// Error: kInvalid, it is none, its hash is not that of the key, or it is of another kind than Ed25519.
Result<VerifierKey> parse_verifier_key(std::string_view text);

/// A key that signs. The name must not be empty, nor contain spaces or "+".
class NoteSigner {
 public:
  /// `seed`: the 32 secret bytes of RFC 8032. Error: kInvalid, the name.
  static Result<NoteSigner> make(std::string name, const std::array<unsigned char, 32>& seed);

  const VerifierKey& verifier() const { return verifier_; }
  /// The note: the text, which ends with a line break, and the signature.
  std::string sign(std::string_view text) const;

 private:
  NoteSigner(VerifierKey verifier, const std::array<unsigned char, 32>& seed)
      : verifier_{std::move(verifier)}, seed_{seed} {}

  VerifierKey verifier_;
  std::array<unsigned char, 32> seed_;
};

/// The text of a note that has a valid signature of the key; signatures of other keys do not matter. Errors: kInvalid,
/// it is no note; kForbidden, it has no signature of this key, or one that is not of this text.
Result<std::string> open_note(std::string_view note, const VerifierKey& key);

}  // namespace shiplog::proof
