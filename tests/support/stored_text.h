#pragma once

#include <string>

namespace shiplog::e2e {

/// All that a file holds: its bytes, and of a journal or projection also what is compressed in them. Processes may have
/// it open.
std::string stored_text(const std::string& file);

/// Changes one byte, in the file, of the journal's first record that contains the text. Its last writer must have moved
/// the write-ahead log into the file. False: there is none.
bool damage_record(const std::string& journal, const std::string& text);

}  // namespace shiplog::e2e
