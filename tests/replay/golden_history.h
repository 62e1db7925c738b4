#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shiplog::golden {

/// The records of a small fleet at a fold version: a simulated process with all roles, two members and what users do
/// within four minutes. What each version changed is part of it.
std::vector<std::string> history_at(uint32_t fold_version);

/// A file of records, each behind its length (four bytes, the lowest first).
std::string to_file(const std::vector<std::string>& records);
std::vector<std::string> from_file(const std::string& bytes);

}  // namespace shiplog::golden
