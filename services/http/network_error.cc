#include "services/http/network_error.h"

#include <boost/asio/error.hpp>

#include "events/base/ascii.h"

namespace shiplog::net {

Error closed_by_peer() { return {ErrorCode::kUnavailable, "the connection was closed by the other side"}; }

Error network_error(const boost::system::error_code& code) {
  if (code == boost::asio::error::eof) return closed_by_peer();
  if (code == boost::asio::error::operation_aborted) return {ErrorCode::kUnavailable, "the connection was closed"};
  std::string message = code.message();
  if (!message.empty()) message[0] = lower_case(message[0]);
  return {ErrorCode::kUnavailable, message};
}

Error network_error(int number) {
  return network_error(boost::system::error_code{number, boost::system::system_category()});
}

}  // namespace shiplog::net
