#include "services/api/auth/token_request.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/base/utf8.h"
#include "services/api/auth/text_list.h"
#include "services/api/auth/token_signer.h"
#include "services/api/status.h"

namespace shiplog::api {
namespace {

constexpr int64_t kShortest = 600;
constexpr int64_t kLongest = int64_t{1} << 32;

/// The object a token is to end with. Errors: kBadRequest, kConflict.
Result<std::optional<TokenObject>> bound_object(const StoredObjects& objects, const std::string& ns,
                                                const std::string& account, const Value& reference) {
  if (!reference.is_object()) return std::optional<TokenObject>{};
  const std::string kind = reference["kind"].str();
  const bool known = (kind == "Pod" || kind == "Secret" || kind == "Node") &&
                     (reference["apiVersion"].is_empty() || reference["apiVersion"].as_string() == "v1");
  if (!known) {
    return Error{ErrorCode::kBadRequest, "cannot bind token for serviceaccount \"" + account +
                                             "\" to object of kind \"" + kind +
                                             "\": Pod, Secret and Node may be named"};
  }
  const std::string plural = kind == "Pod" ? "pods" : kind == "Secret" ? "secrets" : "nodes";
  const ObjectKey key{plural, kind == "Node" ? "" : ns, reference["name"].str()};
  const auto found = objects.find(key);
  if (!found && found.error().code == ErrorCode::kNotFound) return not_found({"", kind, plural, key.name.str()});
  if (!found) return found.error();
  const Value& object = found.value();
  if (kind == "Pod" && object["spec"]["serviceAccountName"].as_string("default") != account) {
    return Error{ErrorCode::kBadRequest, "cannot bind token for serviceaccount \"" + account +
                                             "\" to pod running with different serviceaccount name."};
  }
  const std::string uid{uid_of(object)};
  if (!reference["uid"].is_empty() && reference["uid"].as_string() != uid) {
    return conflict({"", kind, plural, key.name.str()},
                    "the UID in the bound object reference (" + reference["uid"].str() +
                        ") does not match the UID in record. The object might have been "
                        "deleted and then recreated");
  }
  return std::optional{TokenObject{kind, key, uid}};
}

}  // namespace

Result<Value> issue_token(const TokenSources& sources, Random& random, const ObjectKey& key, const Value& account,
                          Value request) {
  const std::string wanted = request["metadata"]["uid"].str();
  const std::string uid{uid_of(account)};
  if (!wanted.empty() && wanted != uid) {
    return conflict({kTokenRequestGroup, "TokenRequest", "TokenRequest", key.name.str()},
                    "the UID in the token request (" + printable(wanted) +
                        ") does not match the UID of the service account (" + uid + ")");
  }
  Value spec = request["spec"].is_object() ? request["spec"] : Value::object();
  TokenTerms terms;
  terms.account = {"ServiceAccount", key, std::string{uid_of(account)}};
  terms.seconds = spec["expirationSeconds"].as_int(terms.seconds);
  const auto too = [&](const char* why) {
    return invalid({kTokenRequestGroup, "TokenRequest", "", ""},
                   {{"spec.expirationSeconds", "FieldValueInvalid",
                     "Invalid value: " + std::to_string(terms.seconds) + ": " + why}});
  };
  if (terms.seconds < kShortest) return too("may not specify a duration less than 10 minutes");
  if (terms.seconds > kLongest) return too("may not specify a duration larger than 2^32 seconds");
  terms.audiences = texts_of(spec["audiences"]);
  if (terms.audiences.empty()) terms.audiences = {kTokenIssuer};
  SHIPLOG_TRY(terms.bound, bound_object(*sources.objects, key.ns.str(), key.name.str(), spec["boundObjectRef"]));
  terms.issued = sources.clock->now();
  terms.id = uid_from(new_entry_id(random), 0);
  SHIPLOG_TRY(const auto token, sources.tokens->sign(claims_of(terms)));

  request.set(
      "metadata",
      Value::object(
          {{"name", key.name}, {"namespace", key.ns}, {"uid", uid}, {"creationTimestamp", rfc3339(terms.issued)}}));
  spec.set("audiences", list_of(terms.audiences));
  spec.set("expirationSeconds", terms.seconds);
  if (!spec.contains("boundObjectRef")) spec.set("boundObjectRef", Value{});
  request.set("spec", std::move(spec));
  request.set("status", Value::object({{"token", token},
                                       {"expirationTimestamp", rfc3339(terms.issued + Millis{terms.seconds * 1000})}}));
  return request;
}

}  // namespace shiplog::api
