#include "services/api/proof/proof.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "events/base/json.h"
#include "events/proof/checkpoint.h"
#include "events/proof/tree.h"
#include "projections/history/history_query.h"
#include "projections/proof/tree_query.h"
#include "services/api/status.h"

namespace shiplog::api {
namespace {

constexpr std::string_view kPrefix = "/shiplog/v1/proof/";

/// One question about the tree as of one view.
class ProofRequest {
 public:
  ProofRequest(const View& view, const proof::NoteSigner& signer, const HttpRequest& request)
      : view_{view}, tree_{view}, signer_{signer}, request_{request} {}

  Result<Value> checkpoint() const {
    SHIPLOG_TRY(const uint64_t size, size_in("size"));
    SHIPLOG_TRY(const proof::TreeHead head, head_of(size));
    return with_checkpoint(Value::object({{"kind", "Checkpoint"}}), head);
  }

  Result<Value> inclusion() const {
    SHIPLOG_TRY(const TreeLeaf leaf, leaf_in_question());
    SHIPLOG_TRY(const uint64_t size, size_in("size"));
    if (leaf.ordinal >= size) {
      return Error{ErrorCode::kBadRequest, "size: a checkpoint of " + std::to_string(size) +
                                               " records does not contain record " + std::to_string(leaf.ordinal) +
                                               "; records count from 0"};
    }
    SHIPLOG_TRY(const auto path, proof::inclusion_path(leaf.ordinal, size, tree_.nodes()));
    SHIPLOG_TRY(const proof::TreeHead head, head_of(size));
    return with_checkpoint(Value::object({{"kind", "InclusionProof"},
                                          {"ordinal", leaf.ordinal},
                                          {"offset", leaf.offset.value},
                                          {"leafHash", proof::to_base64(leaf.hash)},
                                          {"path", to_value(path)}}),
                           head);
  }

  Result<Value> consistency() const {
    SHIPLOG_TRY(const auto from, number("from"));
    if (!from) return Error{ErrorCode::kBadRequest, "from: the size of the earlier checkpoint is missing"};
    SHIPLOG_TRY(const uint64_t to, size_in("to"));
    if (*from > to) {
      return Error{ErrorCode::kBadRequest, "from: " + std::to_string(*from) + " records are more than the " +
                                               std::to_string(to) + " of the later checkpoint"};
    }
    SHIPLOG_TRY(const auto path, proof::consistency_path(*from, to, tree_.nodes()));
    SHIPLOG_TRY(const proof::TreeHead head, head_of(to));
    return with_checkpoint(
        Value::object({{"kind", "ConsistencyProof"}, {"from", *from}, {"to", to}, {"path", to_value(path)}}), head);
  }

 private:
  static Value to_value(const std::vector<proof::Digest>& path) {
    Value hashes = Value::array();
    for (const proof::Digest& hash : path) hashes.push_back(proof::to_base64(hash));
    return hashes;
  }

  /// nullopt: not given.
  Result<std::optional<uint64_t>> number(std::string_view key) const {
    const std::string* given = request_.query_value(key);
    if (given == nullptr || given->empty()) return std::nullopt;
    uint64_t value = 0;
    const auto [end, wrong] = std::from_chars(given->data(), given->data() + given->size(), value);
    if (wrong != std::errc{} || end != given->data() + given->size() || value > INT64_MAX) {
      return Error{ErrorCode::kBadRequest, std::string{key} + ": \"" + *given + "\" is not a whole number from 0 up"};
    }
    return std::optional{value};
  }

  /// So many records; not given: all.
  Result<uint64_t> size_in(std::string_view key) const {
    SHIPLOG_TRY(const uint64_t all, tree_.size());
    SHIPLOG_TRY(const auto given, number(key));
    if (!given) return all;
    if (*given <= all) return *given;
    return Error{ErrorCode::kBadRequest, std::string{key} + ": the tree has " + std::to_string(all) +
                                             " records, fewer than " + std::to_string(*given)};
  }

  Result<proof::TreeHead> head_of(uint64_t size) const {
    SHIPLOG_TRY(const auto late, tree_.late_beginning());
    SHIPLOG_TRY(const proof::Digest root, proof::root_at(size, tree_.nodes()));
    return proof::TreeHead{proof::origin_of(signer_.verifier().name, late ? &late->hash : nullptr), size, root};
  }

  Result<Value> with_checkpoint(Value answer, const proof::TreeHead& head) const {
    answer.set("origin", head.origin);
    answer.set("size", head.size);
    answer.set("root", proof::to_base64(head.root));
    answer.set("checkpoint", signer_.sign(proof::to_text(head)));
    answer.set("verifierKey", proof::to_text(signer_.verifier()));
    return answer;
  }

  Result<TreeLeaf> leaf_in_question() const {
    SHIPLOG_TRY(const auto ordinal, number("ordinal"));
    SHIPLOG_TRY(auto offset, number("offset"));
    SHIPLOG_TRY(const auto revision, number("revision"));
    if (int{ordinal.has_value()} + int{offset.has_value()} + int{revision.has_value()} != 1) {
      return Error{ErrorCode::kBadRequest,
                   "the entry is not named: one of revision, offset and ordinal is needed, and only one"};
    }
    if (ordinal) {
      SHIPLOG_TRY(const auto leaf, tree_.leaf(*ordinal));
      if (leaf) return *leaf;
      return Error{ErrorCode::kNotFound, "the tree has no record " + std::to_string(*ordinal) + "; they count from 0"};
    }
    if (revision) {
      SHIPLOG_TRY(const auto version, HistoryQuery{view_}.version(Revision{*revision}));
      if (!version) {
        return Error{ErrorCode::kNotFound, "no entry that is kept made revision " + std::to_string(*revision) +
                                               ", or retention has deleted that version: name the entry by its offset"};
      }
      offset = static_cast<uint64_t>(version->entry.offset.value);
    }
    SHIPLOG_TRY(const auto leaf, tree_.from(Offset{static_cast<int64_t>(*offset)}));
    if (leaf && leaf->offset.value == static_cast<int64_t>(*offset)) return *leaf;
    return Error{ErrorCode::kNotFound, "the tree has no record at offset " + std::to_string(*offset)};
  }

  const View& view_;
  const TreeQuery tree_;
  const proof::NoteSigner& signer_;
  const HttpRequest& request_;
};

Result<Value> answer_to(Store& store, const proof::NoteSigner* signer, const HttpRequest& request,
                        std::string_view what) {
  if (request.method != "GET" && request.method != "HEAD") {
    return Error{ErrorCode::kMethodNotAllowed, request.path + " is for reading: use GET, not " + request.method};
  }
  if (signer == nullptr) {
    return Error{ErrorCode::kNotFound, request.path + ": this server keeps no tree of its records"};
  }
  if (what == "key") {
    return Value::object({{"kind", "VerifierKey"},
                          {"name", signer->verifier().name},
                          {"verifierKey", proof::to_text(signer->verifier())}});
  }
  return store.read([&](const View& view) -> Result<Value> {
    const ProofRequest question{view, *signer, request};
    if (what == "checkpoint") return question.checkpoint();
    if (what == "inclusion") return question.inclusion();
    if (what == "consistency") return question.consistency();
    return Error{ErrorCode::kNotFound,
                 "there is nothing at " + request.path + ": key, checkpoint, inclusion and consistency are here"};
  });
}

}  // namespace

bool serve_proof(Store& store, const proof::NoteSigner* signer, const HttpRequest& request, ResponseWriter& writer) {
  if (!request.path.starts_with(kPrefix)) return false;
  const auto answer = answer_to(store, signer, request, std::string_view{request.path}.substr(kPrefix.size()));
  writer.send({answer ? 200 : http_status(answer.error().code),
               {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}},
               to_json(answer ? answer.value() : failure_status(answer.error())) + "\n"});
  return true;
}

}  // namespace shiplog::api
