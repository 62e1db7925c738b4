#include "services/programs/shiplogctl/token.h"

#include <algorithm>
#include <ostream>
#include <string_view>
#include <utility>

#include "events/base/base64.h"
#include "services/adapters/pki/new_request.h"
#include "services/programs/shiplogctl/table.h"

namespace shiplog::ctl {
namespace {

constexpr const char* kSecrets = "/api/v1/namespaces/kube-system/secrets";
constexpr std::string_view kNamePrefix = "bootstrap-token-";
constexpr const char* kType = "bootstrap.kubernetes.io/token";
constexpr std::string_view kUsagePrefix = "usage-bootstrap-";
constexpr std::string_view kGroupPrefix = "system:bootstrappers:";
constexpr size_t kIdSize = 6;
constexpr size_t kSecretSize = 16;

bool has_form(std::string_view text, size_t size) {
  return text.size() == size &&
         std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

std::string random_text(Random& random, size_t size) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  // So that every letter is equally likely.
  constexpr uint64_t kLimit = UINT64_MAX - UINT64_MAX % kLetters.size();
  std::string text;
  while (text.size() < size) {
    if (const uint64_t number = random.next(); number < kLimit) text += kLetters[number % kLetters.size()];
  }
  return text;
}

std::string name_of(const std::string& id) { return std::string{kNamePrefix} + id; }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

std::string field_of(const Value& secret, const std::string& name) {
  return base64_decode(secret["data"][name].as_string()).value_or("");
}

std::string or_none(std::string text) { return text.empty() ? "<none>" : std::move(text); }

std::string usages_of(const Value& secret) {
  std::vector<std::string> usages;
  for (const auto& member : secret["data"].members()) {
    const std::string_view name = member.key();
    if (name.starts_with(kUsagePrefix) && field_of(secret, std::string{name}) == "true") {
      usages.emplace_back(name.substr(kUsagePrefix.size()));
    }
  }
  return joined(usages);
}

/// "127.0.0.1:7443" of "https://127.0.0.1:7443/".
std::string endpoint_of(std::string url) {
  if (const size_t scheme = url.find("://"); scheme != std::string::npos) url.erase(0, scheme + 3);
  if (const size_t slash = url.find('/'); slash != std::string::npos) url.erase(slash);
  return url;
}

}  // namespace

Result<BootstrapToken> parse_token(const std::string& text) {
  const size_t dot = text.find('.');
  const std::string id = text.substr(0, dot);
  const std::string secret = dot == std::string::npos ? "" : text.substr(dot + 1);
  if (has_form(id, kIdSize) && has_form(secret, kSecretSize)) return BootstrapToken{id, secret};
  return Error{ErrorCode::kInvalid,
               "given token didn't match pattern [a-z0-9]{6}.[a-z0-9]{16}: `token create` makes one"};
}

BootstrapToken random_token(Random& random) { return {random_text(random, kIdSize), random_text(random, kSecretSize)}; }

Result<Millis> parse_token_ttl(const std::string& text) {
  auto ttl = parse_duration(text);
  if (!ttl) return ttl.error().context("--ttl");
  // Less than a millisecond is read as 0.
  const bool some = text.find_first_of("123456789") != std::string::npos;
  constexpr Millis kLeast{1000};
  if (some && ttl.value().value >= 0 && ttl.value() < kLeast) {
    return Error{ErrorCode::kInvalid, "--ttl " + text + " is less than a second; 0 is for ever"};
  }
  return ttl;
}

Result<void> check_token_options(const TokenCreateOptions& options) {
  for (const std::string& usage : options.usages) {
    if (usage != "signing" && usage != "authentication") {
      return Error{ErrorCode::kInvalid, "--usages " + usage + " is none of signing and authentication"};
    }
  }
  for (const std::string& group : options.groups) {
    if (!group.starts_with(kGroupPrefix) || group.size() == kGroupPrefix.size()) {
      return Error{ErrorCode::kInvalid, "--groups " + group + " does not begin with " + std::string{kGroupPrefix}};
    }
  }
  if (options.ttl.value < 0) return Error{ErrorCode::kInvalid, "--ttl must not be negative; 0 is for ever"};
  return ok();
}

Value token_secret(const BootstrapToken& token, const TokenCreateOptions& options, UtcMillis now) {
  Value data = Value::object();
  const auto set = [&](const std::string& name, const std::string& text) { data.set(name, base64_encode(text)); };
  set("token-id", token.id);
  set("token-secret", token.secret);
  if (options.ttl.value > 0) set("expiration", rfc3339({now.value + options.ttl.value}));
  for (const std::string& usage : options.usages) set(std::string{kUsagePrefix} + usage, "true");
  if (!options.groups.empty()) set("auth-extra-groups", joined(options.groups));
  if (!options.description.empty()) set("description", options.description);
  return Value::object({{"apiVersion", "v1"},
                        {"kind", "Secret"},
                        {"type", kType},
                        {"metadata", Value::object({{"name", name_of(token.id)}, {"namespace", "kube-system"}})},
                        {"data", std::move(data)}});
}

std::optional<std::vector<std::string>> token_row(const Value& secret, UtcMillis now) {
  const auto token = parse_token(field_of(secret, "token-id") + "." + field_of(secret, "token-secret"));
  if (secret["type"].as_string() != kType || !token) return std::nullopt;
  std::string left = "<forever>";
  std::string expires = "<never>";
  if (const std::string expiration = field_of(secret, "expiration"); !expiration.empty()) {
    const auto time = parse_rfc3339(expiration);
    left = !time || time.value() <= now ? "<invalid>" : human_duration(time.value() - now);
    expires = expiration;
  }
  return std::vector<std::string>{token.value().text(),
                                  left,
                                  expires,
                                  or_none(usages_of(secret)),
                                  or_none(field_of(secret, "description")),
                                  or_none(field_of(secret, "auth-extra-groups"))};
}

Result<void> token_create(ServerConnection& plane, const BootstrapToken& token, const TokenCreateOptions& options,
                          UtcMillis now, std::ostream& out) {
  SHIPLOG_TRY(check_token_options(options));
  std::string command;
  if (options.print_register_command) {
    auto pin = public_key_pin(plane.target().ca_pem);
    if (!pin) return pin.error().context("the kubeconfig names no authority that could be pinned");
    command = "shiplogctl register " + endpoint_of(plane.target().url) + " --token " + token.text() +
              " --discovery-token-ca-cert-hash " + pin.value();
  }
  const auto created = plane.create(kSecrets, token_secret(token, options, now));
  if (!created && created.error().code == ErrorCode::kAlreadyExists) {
    return Error{ErrorCode::kAlreadyExists, "a token with id \"" + token.id + "\" already exists"};
  }
  if (!created) return created.error().context("creating the bootstrap token");
  out << (command.empty() ? token.text() : command) << std::endl;
  return ok();
}

Result<void> token_list(ServerConnection& plane, UtcMillis now, std::ostream& out) {
  SHIPLOG_TRY(const Value secrets, plane.get(kSecrets, {{"fieldSelector", std::string{"type="} + kType}}));
  Table table{{"TOKEN", "TTL", "EXPIRES", "USAGES", "DESCRIPTION", "EXTRA GROUPS"}};
  for (const Value& secret : secrets["items"].items()) {
    if (auto row = token_row(secret, now)) table.add(std::move(*row));
  }
  out << table.text();
  return ok();
}

Result<void> token_delete(ServerConnection& plane, const std::vector<std::string>& values, std::ostream& out) {
  for (const std::string& value : values) {
    const auto whole = parse_token(value);
    if (!whole && !has_form(value, kIdSize)) {
      return Error{ErrorCode::kInvalid,
                   "given token didn't match pattern [a-z0-9]{6} of an id or "
                   "[a-z0-9]{6}.[a-z0-9]{16} of a whole token"};
    }
    const std::string id = whole ? whole.value().id : value;
    const auto removed = plane.remove(std::string{kSecrets} + "/" + name_of(id));
    if (!removed) {
      return removed.error().context("failed to delete secret \"" + name_of(id) + "\"");
    }
    out << "bootstrap token \"" << id << "\" deleted" << std::endl;
  }
  return ok();
}

}  // namespace shiplog::ctl
