#include "services/roles/signer/decide.h"

#include <algorithm>
#include <vector>

namespace shiplog::signer {
namespace {

constexpr int64_t kHour = 3'600'000;
constexpr int64_t kPendingLife = 24 * kHour;
constexpr int64_t kDoneLife = kHour;

constexpr std::string_view kClient = "kubernetes.io/kube-apiserver-client";
constexpr std::string_view kNodeClient = "kubernetes.io/kube-apiserver-client-kubelet";
constexpr std::string_view kNodeServer = "kubernetes.io/kubelet-serving";
constexpr std::string_view kLegacy = "kubernetes.io/legacy-unknown";

const Value* condition(const Value& request, std::string_view type) {
  for (const Value& each : request["status"]["conditions"].items()) {
    if (each["type"].as_string() == type) return &each;
  }
  return nullptr;
}

/// When a condition became true; a request without the time is as old as itself.
UtcMillis since(const Value& request, const Value& condition) {
  for (const Value* text :
       {&condition["lastUpdateTime"], &condition["lastTransitionTime"], &request["metadata"]["creationTimestamp"]}) {
    if (const auto time = parse_rfc3339(text->as_string())) return time.value();
  }
  return {};
}

Decided removed(const ObjectKey& key, const Object& request) {
  return decide_one(DeletionRequested{key, 0, "Background"}, {key, request.revision});
}

bool only(const Value& usages, std::initializer_list<std::string_view> allowed) {
  return std::ranges::all_of(usages.items(), [&](const Value& usage) {
    return std::ranges::find(allowed, usage.as_string()) != allowed.end();
  });
}

bool has(const Value& usages, std::string_view wanted) {
  return std::ranges::any_of(usages.items(), [&](const Value& usage) { return usage.as_string() == wanted; });
}

std::optional<std::string> node_problem(const CertificateRequest& request) {
  constexpr std::string_view kNode = "system:node:";
  if (request.organizations != std::vector<std::string>{"system:nodes"}) {
    return "subject organization is not system:nodes";
  }
  if (!request.common_name.starts_with(kNode) || request.common_name.size() == kNode.size()) {
    return "subject common name does not begin with system:node: ";
  }
  if (!request.emails.empty()) return "email subjectAltNames are not allowed";
  if (!request.uris.empty()) return "URI subjectAltNames are not allowed";
  return std::nullopt;
}

}  // namespace

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now, const CertificateAuthority& authority) {
  const Object* object = state.find(key);
  if (object == nullptr) return Nothing{};
  const Value& request = object->value;
  const auto expires = authority.expiry(request);
  if (expires && *expires <= now) return removed(key, *object);
  const auto removed_at = [&](UtcMillis deadline) -> Decided {
    if (deadline > now) return LookAgain{deadline};
    return removed(key, *object);
  };
  const auto removed_after = [&](const Value& from) { return removed_at({since(request, from).value + kDoneLife}); };
  if (const Value* denied = condition(request, "Denied")) return removed_after(*denied);
  if (const Value* failed = condition(request, "Failed")) return removed_after(*failed);
  const Value* approved = condition(request, "Approved");
  if (approved == nullptr) return removed_at({since(request, Value{}).value + kPendingLife});
  const std::string_view signer = request["spec"]["signerName"].as_string();
  const bool served = signer == kClient || signer == kNodeClient || signer == kNodeServer || signer == kLegacy;
  if (!served || !request["status"]["certificate"].is_empty()) return removed_after(*approved);
  SHIPLOG_TRY(Value answered, authority.sign(request, now));
  return decide_one(StatusUpdated{key, std::move(answered)}, {key, object->revision});
}

std::optional<std::string> signer_problem(const Value& spec, const CertificateRequest& request) {
  const std::string_view signer = spec["signerName"].as_string();
  const Value& usages = spec["usages"];
  if (signer == kClient) {
    if (!has(usages, "client auth")) return "usages did not include client auth";
    if (!only(usages, {"client auth", "digital signature", "key encipherment"})) {
      return "usages may be client auth, digital signature and key encipherment only";
    }
    if (std::ranges::find(request.organizations, "system:masters") != request.organizations.end()) {
      return "certificates for the group system:masters are not signed";
    }
    return std::nullopt;
  }
  if (signer == kNodeClient) {
    if (auto problem = node_problem(request)) return problem;
    if (!request.dns_names.empty()) return "DNS subjectAltNames are not allowed";
    if (!request.ip_addresses.empty()) return "IP subjectAltNames are not allowed";
    if (!has(usages, "client auth") || !has(usages, "digital signature") ||
        !only(usages, {"client auth", "digital signature", "key encipherment"})) {
      return "usages must be client auth and digital signature, and may be key encipherment";
    }
    return std::nullopt;
  }
  if (signer == kNodeServer) {
    if (auto problem = node_problem(request)) return problem;
    if (request.dns_names.empty() && request.ip_addresses.empty()) {
      return "at least one DNS or IP subjectAltName is required";
    }
    if (!has(usages, "server auth") || !has(usages, "digital signature") ||
        !only(usages, {"server auth", "digital signature", "key encipherment"})) {
      return "usages must be server auth and digital signature, and may be key encipherment";
    }
  }
  return std::nullopt;
}

}  // namespace shiplog::signer
