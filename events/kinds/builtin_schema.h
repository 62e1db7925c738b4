#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "events/kinds/schema.h"

namespace shiplog {

/// Schemas by message name ("core.Pod"), as defined in schemas/kinds/builtin/messages.txt.
using MessageSchemas = std::map<std::string, std::shared_ptr<const Schema>, std::less<>>;

/// Reads the table, whose format is described at its top. The table is compiled in, so an error in it ends the process.
MessageSchemas read_message_table(std::string_view table);

/// The compiled-in table, read once.
const MessageSchemas& message_schemas();

}  // namespace shiplog
