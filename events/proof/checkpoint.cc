#include "events/proof/checkpoint.h"

#include <charconv>
#include <optional>

namespace shiplog::proof {
namespace {

constexpr std::string_view kFrom = "/from/";
constexpr std::string_view kProofFormat = "c2sp.org/tlog-proof@v1";
constexpr size_t kMostHashes = 64;  // a tree has no more levels

Error no_checkpoint(const std::string& why) { return {ErrorCode::kInvalid, "this is no checkpoint: " + why}; }
Error no_proof(const std::string& why) {
  return {ErrorCode::kInvalid, "this is no inclusion proof (" + std::string{kProofFormat} + "): " + why};
}

/// The next line, without its line break, which it must have.
std::optional<std::string_view> take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

/// Decimal without leading zeros.
std::optional<uint64_t> number_of(std::string_view text) {
  uint64_t number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc{} || end != text.data() + text.size() || std::to_string(number) != text) return std::nullopt;
  return number;
}

}  // namespace

std::string to_text(const TreeHead& head) {
  return head.origin + "\n" + std::to_string(head.size) + "\n" + to_base64(head.root) + "\n";
}

Result<TreeHead> parse_tree_head(std::string_view text) {
  TreeHead head;
  const auto origin = take_line(text);
  const auto size = take_line(text);
  const auto root = take_line(text);
  if (!origin || !size || !root) return no_checkpoint("it has fewer than three lines");
  if (origin->empty()) return no_checkpoint("the line with its origin is empty");
  head.origin = std::string{*origin};
  const auto number = number_of(*size);
  if (!number) return no_checkpoint("its second line is not a number of records");
  head.size = *number;
  const auto digest = digest_from_base64(*root);
  if (!digest) return no_checkpoint("its third line is not the base64 of a SHA-256");
  head.root = *digest;
  while (!text.empty()) {
    const auto extension = take_line(text);
    if (!extension || extension->empty()) return no_checkpoint("an extension line is empty");
  }
  return head;
}

Result<TreeHead> open_checkpoint(std::string_view note, const VerifierKey& key) {
  SHIPLOG_TRY(const std::string text, open_note(note, key));
  SHIPLOG_TRY(TreeHead head, parse_tree_head(text));
  if (head.origin == key.name || head.origin.starts_with(key.name + std::string{kFrom})) return head;
  return Error{ErrorCode::kForbidden, "the checkpoint is of the log " + head.origin + ", the key is of " + key.name};
}

std::string origin_of(const std::string& key_name, const Digest* first_leaf) {
  if (first_leaf == nullptr) return key_name;
  constexpr size_t kDigits = 16;
  static constexpr char kHex[] = "0123456789abcdef";
  std::string origin = key_name + std::string{kFrom};
  for (size_t index = 0; index < kDigits / 2; ++index) {
    origin += kHex[(*first_leaf)[index] >> 4U];
    origin += kHex[(*first_leaf)[index] & 15U];
  }
  return origin;
}

std::string to_text(const InclusionProof& proof) {
  std::string text = std::string{kProofFormat} + "\nindex " + std::to_string(proof.index) + "\n";
  for (const Digest& hash : proof.path) text += to_base64(hash) + "\n";
  return text + "\n" + proof.checkpoint;
}

Result<InclusionProof> parse_inclusion_proof(std::string_view text) {
  InclusionProof proof;
  const auto format = take_line(text);
  if (format != kProofFormat) return no_proof("its first line is another one");
  auto line = take_line(text);
  if (line && line->starts_with("extra ")) line = take_line(text);
  constexpr std::string_view kIndex = "index ";
  if (!line || !line->starts_with(kIndex)) return no_proof("it has no line with the index");
  const auto index = number_of(line->substr(kIndex.size()));
  if (!index) return no_proof("its index is not a number");
  proof.index = *index;
  while (true) {
    line = take_line(text);
    if (!line) return no_proof("the empty line before the checkpoint is missing");
    if (line->empty()) break;
    const auto hash = digest_from_base64(*line);
    if (!hash || proof.path.size() == kMostHashes) return no_proof("a line of its path is not a SHA-256 in base64");
    proof.path.push_back(*hash);
  }
  proof.checkpoint = std::string{text};
  return proof;
}

}  // namespace shiplog::proof
