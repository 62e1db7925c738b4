#include "services/http/same_target.h"

namespace shiplog {

bool same_target(const ClientTarget& a, const ClientTarget& b) {
  return a.url == b.url && a.ca_pem == b.ca_pem && a.certificate_pem == b.certificate_pem && a.key_pem == b.key_pem &&
         a.bearer_token == b.bearer_token && a.insecure == b.insecure && a.server_name == b.server_name &&
         a.proxy_url == b.proxy_url;
}

}  // namespace shiplog
