#include "events/base/check.h"
#include "services/adapters/pki/certificate_request.h"
#include "services/http/tls.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {
namespace {

const KeyPair& authority() {
  static const KeyPair made = make_authority("authority", valid_for_days(UtcMillis{1'790'000'000'000}, 10)).value();
  return made;
}

}  // namespace

// A certificate or a request for one, PEM.
SHIPLOG_FUZZ_TARGET(certificates) {
  const std::string pem{input};
  const auto request = inspect_request(pem);
  const auto issued = sign_request(authority(), pem, {"client auth"}, valid_for_days(UtcMillis{1'790'000'000'000}, 1));
  if (!request) {
    SHIPLOG_CHECK(request.error().code == ErrorCode::kBadRequest && !request.error().message.empty(),
                  "what is no request is refused, with a cause");
    SHIPLOG_CHECK(!issued, "nothing is issued for what is no request");
    return;
  }
  if (issued) SHIPLOG_CHECK(issued.value().starts_with("-----BEGIN CERTIFICATE-----"), "a certificate is PEM");
}

}  // namespace shiplog
