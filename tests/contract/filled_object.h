#pragma once

#include <functional>
#include <set>
#include <string>

#include "events/kinds/schema.h"

namespace shiplog::e2e {

/// The message with which a server refuses an object, or "" if it accepts it.
using Refusal = std::function<std::string(const Value&)>;

/// `object` with a value in each further field of the schema that the server accepts together with the others. Fields
/// that exclude each other (sources of a volume, kinds of a metric) are tried in alphabetical order. Lists get one
/// item. metadata, status and the fields named in `except` ("spec.extra") are not changed. Sends at most `tries`
/// requests.
Value filled(const Schema& schema, const Value& object, const std::set<std::string>& except, const Refusal& refusal,
             int tries);

}  // namespace shiplog::e2e
