#pragma once

#include <boost/system/error_code.hpp>

#include "events/base/error.h"

/// Internal to services/http.
namespace shiplog::net {

/// What a socket operation failed with, as a kUnavailable error.
Error network_error(const boost::system::error_code& code);

/// The same of an errno.
Error network_error(int number);

/// The peer closed the connection where more was expected.
Error closed_by_peer();

}  // namespace shiplog::net
