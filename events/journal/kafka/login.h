#pragma once

#include "events/base/result.h"
#include "events/journal/kafka/kafka_journal.h"

// librdkafka's header is included only in .cc files.
struct rd_kafka_s;
struct rd_kafka_conf_s;

namespace shiplog::kafka {

/// Logins with OAUTHBEARER: "sasl.oauthbearer.config" is "file=PATH", a file with a JSON Web Token, which is read at
/// each login and again before the token expires, so that another program may renew it. The library's own makers of
/// tokens are not used: Debian's build has no OIDC, and its unsecured one ends the process when a token expires.
/// Error: kInvalid, the settings of such a login.
Result<void> prepare_logins(rd_kafka_conf_s* conf, const KafkaSettings& users);
/// For each handle that was made of this configuration. Tokens are read on the library's own thread.
Result<void> start_logins(rd_kafka_s* handle, const KafkaSettings& users);

}  // namespace shiplog::kafka
