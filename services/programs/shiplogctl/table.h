#pragma once

#include <string>
#include <vector>

#include "services/programs/shiplogctl/terminal.h"

namespace shiplog::ctl {

/// A table as kubectl prints it: columns aligned, three spaces between, no lines. A cell may have several lines.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_{std::move(header)} {}
  /// Missing cells are empty; cells beyond the header are dropped. Control characters in them become ?, as users choose
  /// what is in names and messages.
  void add(std::vector<std::string> cells);
  size_t size() const { return rows_.size(); }
  /// Ends with a newline. `with_header` false: rows only. On a terminal the widest columns are wrapped until the table
  /// fits, without loss of text, and states (True, Unhealthy, refused) are coloured.
  std::string text(bool with_header = true, const Terminal& terminal = {}) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

/// At most `longest` characters (not bytes), "..." included when it was cut.
std::string cut(const std::string& text, size_t longest);

}  // namespace shiplog::ctl
