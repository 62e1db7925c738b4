#pragma once

#include <string>

namespace shiplog {

/// "10.0.0.1", "fd00::1".
bool is_ip_address(const std::string& text);

/// The address under which others reach a server that listens at `host`: that one when it is an address, else the first
/// of this machine that is not the machine itself, 127.0.0.1 when there is none.
std::string address_to_advertise(const std::string& host);

}  // namespace shiplog
