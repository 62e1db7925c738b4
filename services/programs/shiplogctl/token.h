#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "events/base/random.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "services/programs/shiplogctl/connection.h"

// Bootstrap tokens, with which clusters register (1.6). Secrets as upstream's, so that either tool can read the
// other's.
namespace shiplog::ctl {

struct BootstrapToken {
  std::string id, secret;
  std::string text() const { return id + "." + secret; }
};

/// Error: kInvalid in upstream's words, `text` is not of the form ID.SECRET.
Result<BootstrapToken> parse_token(const std::string& text);
BootstrapToken random_token(Random& random);

struct TokenCreateOptions {
  Millis ttl{24LL * 3600 * 1000};  ///< 0: it never expires
  std::vector<std::string> usages = {"signing", "authentication"};
  std::vector<std::string> groups = {"system:bootstrappers:karmada:default-cluster-token"};
  std::string description = {};
  bool print_register_command = false;
};

/// Reads --ttl. Error: kInvalid, it is above 0, which is for ever, but below the second in which a token expires.
Result<Millis> parse_token_ttl(const std::string& text);
/// Error: kInvalid, a usage or a group that tokens do not have.
Result<void> check_token_options(const TokenCreateOptions& options);
Value token_secret(const BootstrapToken& token, const TokenCreateOptions& options, UtcMillis now);
/// The row of `token list`; nullopt: the Secret holds no token.
std::optional<std::vector<std::string>> token_row(const Value& secret, UtcMillis now);

/// Prints the token, or the command that registers a cluster with it.
Result<void> token_create(ServerConnection& plane, const BootstrapToken& token, const TokenCreateOptions& options,
                          UtcMillis now, std::ostream& out);
Result<void> token_list(ServerConnection& plane, UtcMillis now, std::ostream& out);
/// `values`: ids or whole tokens.
Result<void> token_delete(ServerConnection& plane, const std::vector<std::string>& values, std::ostream& out);

}  // namespace shiplog::ctl
