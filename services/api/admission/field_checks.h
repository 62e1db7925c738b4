#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "events/base/ip_range.h"
#include "events/base/names.h"
#include "events/base/value.h"
#include "services/api/admission/causes.h"

// Fields that several kinds have, checked in one way. `field` is where the value stands: "spec.ports[0].port".

namespace shiplog::api {

/// A LabelSelector.
void check_selector(const Value& selector, const std::string& field, Causes& causes);

/// "25%" or a number; nullopt: neither.
std::optional<int64_t> amount_of(const Value& value);
/// A number of pods, or a percentage of them; null is fine.
void check_amount(const Value& owner, const std::string& field, const char* name, Causes& causes);

/// Missing, or none of these words.
void check_one_of(const Value& value, const std::string& field, std::initializer_list<std::string_view> words,
                  Causes& causes);

/// The name of a CSI driver: a subdomain, in which capital letters are allowed.
void check_driver_name(const Value& name, const std::string& field, Causes& causes);

/// Nothing but white space.
bool is_blank(std::string_view text);
/// A quantity as written; a number is one too.
std::string quantity_text(const Value& quantity);

void check_filled(const Value& value, const std::string& field, Causes& causes, std::string_view detail = "");
void check_port(const Value& port, const std::string& field, Causes& causes);
void check_protocol(const Value& protocol, const std::string& field, Causes& causes);
/// A number from `least` to `most`; null is fine.
void check_range(const Value& number, const std::string& field, int64_t least, int64_t most, std::string_view detail,
                 Causes& causes);

/// None of these counts is below zero; those that are missing are fine.
void check_not_negative(const Value& owner, const std::string& field, std::initializer_list<const char*> names,
                        Causes& causes);

/// `kind` and `name` of the object that a field refers to.
void check_kind_and_name(const Value& reference, const std::string& field, Causes& causes);

inline constexpr const char* kNoAddress = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
inline constexpr const char* kNoNetwork = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
/// Addresses and networks in the older fields of Kubernetes: zeros before a number ("010.0.0.0") are allowed.
std::optional<IpRange> parse_legacy_ip(std::string_view text);
std::optional<IpRange> parse_legacy_cidr(std::string_view text);
/// `ip`, written as `text`, must not mean the machine itself or many at once: it leads nowhere from another node.
void check_reachable(const IpRange& ip, const Value& text, const std::string& field, Causes& causes);

/// An address, of either family.
void check_ip(const Value& address, const std::string& field, Causes& causes);

/// A port's name: at most 15 characters, as in the service names of IANA.
Problem port_name_problem(std::string_view text);

}  // namespace shiplog::api
