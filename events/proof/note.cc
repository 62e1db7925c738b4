#include "events/proof/note.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <openssl/evp.h>

#include "events/base/base64.h"
#include "events/base/check.h"
#include "events/base/freed.h"
#include "events/base/hex.h"
#include "events/base/utf8.h"

namespace shiplog::proof {
namespace {

using Pkey = std::unique_ptr<EVP_PKEY, Freed<&::EVP_PKEY_free>>;
using Context = std::unique_ptr<EVP_MD_CTX, Freed<&::EVP_MD_CTX_free>>;

constexpr std::string_view kEd25519{"\1", 1};
constexpr std::string_view kDash = "\xE2\x80\x94 ";
constexpr size_t kKeyIdBytes = 4;
constexpr size_t kSignatureBytes = 64;
constexpr size_t kMostSignatures = 64;
constexpr size_t kMostBytes = size_t{1} << 20U;

template <size_t N>
std::string_view view_of(const std::array<unsigned char, N>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

const unsigned char* unsigned_of(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

/// Stricter than the format: printable ASCII, so that no other space can be in it.
bool is_key_name(std::string_view name) {
  constexpr size_t kLongest = 255;
  return !name.empty() && name.size() <= kLongest &&
         std::ranges::all_of(name, [](char c) { return c > ' ' && c < '\x7f' && c != '+'; });
}

std::string key_id(const VerifierKey& key) {
  const Digest hash = sha256({key.name, "\n", kEd25519, view_of(key.key)});
  return std::string{bytes_of(hash).substr(0, kKeyIdBytes)};
}

Error no_key(const std::string& why) {
  return {ErrorCode::kInvalid, "this is no verifier key of a signed note (NAME+HASH+KEY): " + why};
}

Error no_note(const std::string& why) { return {ErrorCode::kInvalid, "this is no signed note: " + why}; }

bool verifies(const VerifierKey& key, std::string_view text, std::string_view signature) {
  const Pkey pkey{::EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.key.data(), key.key.size())};
  const Context context{::EVP_MD_CTX_new()};
  return pkey && context && ::EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, pkey.get()) == 1 &&
         ::EVP_DigestVerify(context.get(), unsigned_of(signature), signature.size(), unsigned_of(text), text.size()) ==
             1;
}

}  // namespace

std::string to_text(const VerifierKey& key) {
  return key.name + "+" + hex(key_id(key)) + "+" + base64_encode(std::string{kEd25519} + std::string{view_of(key.key)});
}

Result<VerifierKey> parse_verifier_key(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const size_t first = text.find('+');
  const size_t second = first == std::string_view::npos ? first : text.find('+', first + 1);
  if (second == std::string_view::npos) return no_key("it has no two \"+\"");
  VerifierKey key{.name = std::string{text.substr(0, first)}};
  if (!is_key_name(key.name)) return no_key("its name must be printable ASCII without spaces");
  const auto bytes = base64_decode(text.substr(second + 1));
  if (!bytes) return no_key("its key is not base64");
  if (bytes->size() != 1 + key.key.size() || !bytes->starts_with(kEd25519)) return no_key("its key is not Ed25519");
  std::copy(bytes->begin() + 1, bytes->end(), key.key.begin());
  if (hex(key_id(key)) != text.substr(first + 1, second - first - 1)) {
    return no_key("its hash is not that of its name and key");
  }
  return key;
}

Result<NoteSigner> NoteSigner::make(std::string name, const std::array<unsigned char, 32>& seed) {
  if (!is_key_name(name)) {
    return Error{ErrorCode::kInvalid,
                 "the name of a signing key, \"" + name + "\", must be printable ASCII without spaces and \"+\""};
  }
  const Pkey pkey{::EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size())};
  VerifierKey verifier{.name = std::move(name)};
  size_t size = verifier.key.size();
  SHIPLOG_CHECK(pkey && ::EVP_PKEY_get_raw_public_key(pkey.get(), verifier.key.data(), &size) == 1,
                "the cryptographic library has Ed25519");
  return NoteSigner{std::move(verifier), seed};
}

std::string NoteSigner::sign(std::string_view text) const {
  SHIPLOG_CHECK(text.ends_with('\n'), "the text of a note ends with a line break");
  const Pkey pkey{::EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed_.data(), seed_.size())};
  const Context context{::EVP_MD_CTX_new()};
  std::array<unsigned char, kSignatureBytes> signature{};
  size_t size = signature.size();
  SHIPLOG_CHECK(pkey && context && ::EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, pkey.get()) == 1 &&
                    ::EVP_DigestSign(context.get(), signature.data(), &size, unsigned_of(text), text.size()) == 1,
                "the cryptographic library signs with Ed25519");
  return std::string{text} + "\n" + std::string{kDash} + verifier_.name + " " +
         base64_encode(key_id(verifier_) + std::string{view_of(signature)}) + "\n";
}

Result<std::string> open_note(std::string_view note, const VerifierKey& key) {
  if (note.size() > kMostBytes) return no_note("it is longer than 1 MiB");
  if (!is_utf8(note)) return no_note("it is not UTF-8");
  if (std::ranges::any_of(note, [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\n'; })) {
    return no_note("it has control characters");
  }
  const size_t blank = note.rfind("\n\n");
  if (blank == std::string_view::npos || !note.ends_with('\n')) {
    return no_note("a text, an empty line and signature lines are expected, each with a line break");
  }
  const std::string_view text = note.substr(0, blank + 1);
  std::string_view lines = note.substr(blank + 2);
  const std::string wanted = key_id(key);
  size_t signatures = 0;
  bool found = false;
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end + 1);
    if (!line.starts_with(kDash) || ++signatures > kMostSignatures) return no_note("a signature line is malformed");
    line.remove_prefix(kDash.size());
    const size_t space = line.find(' ');
    if (space == std::string_view::npos || space == 0) return no_note("a signature line is malformed");
    const auto signature = base64_decode(line.substr(space + 1));
    // One spelling only: a flipped bit that base64 ignores is noticed too.
    if (!signature || signature->size() <= kKeyIdBytes || base64_encode(*signature) != line.substr(space + 1)) {
      return no_note("a signature is not base64 of enough bytes");
    }
    if (line.substr(0, space) != key.name || !signature->starts_with(wanted)) continue;
    if (!verifies(key, text, std::string_view{*signature}.substr(kKeyIdBytes))) {
      return Error{ErrorCode::kForbidden, "the signature of " + key.name +
                                              " is not of this text: it was changed, or another key has signed it"};
    }
    found = true;
  }
  if (signatures == 0) return no_note("it has no signature");
  if (found) return std::string{text};
  return Error{ErrorCode::kForbidden, "the note has no signature of the key " + to_text(key) +
                                          ": it is of another fleet, or signed with another key"};
}

}  // namespace shiplog::proof
