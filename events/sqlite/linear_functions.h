#pragma once

struct sqlite3;

namespace shiplog::sqlite {

/// Replaces instr() and replace() by functions with the same results whose time is linear in their texts. Those of
/// SQLite compare at every position, which takes hours for two long texts that nearly match, and no progress handler
/// is called meanwhile.
void add_linear_functions(sqlite3* database);

}  // namespace shiplog::sqlite
