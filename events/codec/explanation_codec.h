#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "events/explanation.h"

namespace shiplog::codec {

/// Appends the bytes of a message ExplanationFacts (schemas/events/v1/facts.proto): all of the explanation but the
/// digest of its inputs. Nothing for one that has nothing else.
/// Written without the generated classes: a message for each cluster of a large fleet, and for each weight, would cost
/// more than the decision. Members of facts are mapped by their order, see FactInfo; tests/replay compares with
/// protoc's descriptors.
void write_facts(const Explanation& why, std::string& out);

/// Reads them, and adds to `why`. A fact that only a newer build knows becomes a Text with its number. The answer is
/// what is wrong with the bytes; nullopt: nothing.
std::optional<std::string> read_facts(std::string_view bytes, Explanation& why);

}  // namespace shiplog::codec
