#include "services/http/spdy/dictionary.h"

#include <array>

namespace shiplog::spdy {
namespace {

// Each with its length in front.
constexpr std::array<std::string_view, 65> kWords = {"options",
                                                     "head",
                                                     "post",
                                                     "put",
                                                     "delete",
                                                     "trace",
                                                     "accept",
                                                     "accept-charset",
                                                     "accept-encoding",
                                                     "accept-language",
                                                     "accept-ranges",
                                                     "age",
                                                     "allow",
                                                     "authorization",
                                                     "cache-control",
                                                     "connection",
                                                     "content-base",
                                                     "content-encoding",
                                                     "content-language",
                                                     "content-length",
                                                     "content-location",
                                                     "content-md5",
                                                     "content-range",
                                                     "content-type",
                                                     "date",
                                                     "etag",
                                                     "expect",
                                                     "expires",
                                                     "from",
                                                     "host",
                                                     "if-match",
                                                     "if-modified-since",
                                                     "if-none-match",
                                                     "if-range",
                                                     "if-unmodified-since",
                                                     "last-modified",
                                                     "location",
                                                     "max-forwards",
                                                     "pragma",
                                                     "proxy-authenticate",
                                                     "proxy-authorization",
                                                     "range",
                                                     "referer",
                                                     "retry-after",
                                                     "server",
                                                     "te",
                                                     "trailer",
                                                     "transfer-encoding",
                                                     "upgrade",
                                                     "user-agent",
                                                     "vary",
                                                     "via",
                                                     "warning",
                                                     "www-authenticate",
                                                     "method",
                                                     "get",
                                                     "status",
                                                     "200 OK",
                                                     "version",
                                                     "HTTP/1.1",
                                                     "url",
                                                     "public",
                                                     "set-cookie",
                                                     "keep-alive",
                                                     "origin"};

constexpr std::string_view kTail =
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Au"
    "thoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidd"
    "en404 Not Found500 Internal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr Ma"
    "y Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,imag"
    "e/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,publicpri"
    "vatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

std::string build() {
  std::string text;
  for (const std::string_view word : kWords) {
    text.append(3, '\0');
    text += static_cast<char>(word.size());
    text += word;
  }
  return text.append(kTail);
}

}  // namespace

const std::string& header_dictionary() {
  static const std::string kDictionary = build();
  return kDictionary;
}

}  // namespace shiplog::spdy
