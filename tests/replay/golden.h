#pragma once

#include <string>

namespace shiplog::golden {

/// True when the program was started with --update-golden: what is missing in the golden folder is added, and the tests
/// then see it as they would see what was committed.
bool updating();

/// A file's bytes; the test fails when it cannot be read.
std::string read_file(const std::string& path);
/// Writes a file; the test fails when it cannot.
void write_file(const std::string& path, const std::string& bytes);

}  // namespace shiplog::golden
