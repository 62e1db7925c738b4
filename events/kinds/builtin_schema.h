#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "events/kinds/schema.h"

namespace shiplog {

/// Schemas by message name ("core.Pod"), as schemas/kinds/builtin/messages.txt describes them.
using MessageSchemas = std::map<std::string, std::shared_ptr<const Schema>, std::less<>>;

/// Reads the table; its format stands at its head. The table is compiled in, so a mistake in it ends the process.
MessageSchemas read_message_table(std::string_view table);

/// The compiled-in table, read once.
const MessageSchemas& message_schemas();

}  // namespace shiplog
