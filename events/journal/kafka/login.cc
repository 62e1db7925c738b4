#include "events/journal/kafka/login.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include <librdkafka/rdkafka.h>

#include "events/base/base64.h"
#include "events/base/json.h"

namespace shiplog::kafka {
namespace {

constexpr std::string_view kFile = "file=";

bool uses_tokens(const KafkaSettings& users) {
  for (const char* name : {"sasl.mechanism", "sasl.mechanisms"}) {
    if (const auto found = users.find(name); found != users.end() && found->second == "OAUTHBEARER") return true;
  }
  return false;
}

struct JsonWebToken {
  std::string text, principal;
  int64_t expires_ms = 0;
};

/// The signature is the brokers' business. Messages contain nothing of the token.
Result<JsonWebToken> read_token(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  JsonWebToken token;
  token.text.assign(std::istreambuf_iterator<char>{file}, {});
  while (token.text.ends_with('\n') || token.text.ends_with('\r')) token.text.pop_back();
  const auto wrong = [&](const char* what) {
    return Error{ErrorCode::kInvalid, "the token file " + path + " " + what + ": check sasl.oauthbearer.config"};
  };
  if (!file.good() && token.text.empty()) return wrong("cannot be read, or is empty");
  const size_t first = token.text.find('.');
  const size_t second = first == std::string::npos ? first : token.text.find('.', first + 1);
  if (second == std::string::npos) return wrong("does not hold a JSON Web Token");
  const auto decoded = base64url_decode(std::string_view{token.text}.substr(first + 1, second - first - 1));
  if (!decoded) return wrong("does not hold a JSON Web Token");
  const auto claims = parse_json(*decoded);
  if (!claims) return wrong("does not hold a JSON Web Token");
  token.principal = claims.value()["sub"].str();
  token.expires_ms = claims.value()["exp"].as_int() * 1000;
  if (token.expires_ms <= 0) return wrong("holds a token without the claim \"exp\"");
  return token;
}

void refresh(rd_kafka_t* handle, const char* config, void*) {
  const std::string_view setting = config == nullptr ? "" : config;
  const auto token = read_token(std::string{setting.substr(std::min(kFile.size(), setting.size()))});
  if (!token) {
    // The library logs it, and asks again after ten seconds.
    rd_kafka_oauthbearer_set_token_failure(handle, token.error().message.c_str());
    return;
  }
  std::array<char, 512> why{};
  if (rd_kafka_oauthbearer_set_token(handle, token.value().text.c_str(), token.value().expires_ms,
                                     token.value().principal.c_str(), nullptr, 0, why.data(),
                                     why.size()) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_oauthbearer_set_token_failure(handle, why.data());
  }
}

}  // namespace

Result<void> prepare_logins(rd_kafka_conf_t* conf, const KafkaSettings& users) {
  if (!uses_tokens(users)) return ok();
  const auto config = users.find("sasl.oauthbearer.config");
  if (config == users.end() || !config->second.starts_with(kFile) ||
      users.contains("enable.sasl.oauthbearer.unsecure.jwt") || users.contains("sasl.oauthbearer.method")) {
    return Error{ErrorCode::kInvalid,
                 "kafka: with sasl.mechanism=OAUTHBEARER the token comes from a file: set "
                 "sasl.oauthbearer.config=file=PATH, and neither sasl.oauthbearer.method nor "
                 "enable.sasl.oauthbearer.unsecure.jwt"};
  }
  if (const auto token = read_token(config->second.substr(kFile.size())); !token) {
    return token.error().context("kafka");
  }
  rd_kafka_conf_set_oauthbearer_token_refresh_cb(conf, refresh);
  rd_kafka_conf_enable_sasl_queue(conf, 1);
  return ok();
}

Result<void> start_logins(rd_kafka_t* handle, const KafkaSettings& users) {
  if (!uses_tokens(users)) return ok();
  const std::unique_ptr<rd_kafka_error_t, void (*)(rd_kafka_error_t*)> failed{
      rd_kafka_sasl_background_callbacks_enable(handle), rd_kafka_error_destroy};
  if (!failed) return ok();
  return Error{ErrorCode::kInvalid,
               "kafka: librdkafka cannot log in: " + std::string{rd_kafka_error_string(failed.get())}};
}

}  // namespace shiplog::kafka
