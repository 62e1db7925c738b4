#include "services/ctl/table.h"

#include <algorithm>
#include <string_view>

namespace shiplog::ctl {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// Characters, as far as a terminal gives each one column.
size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::vector<std::string_view> lines_of(std::string_view cell) {
  std::vector<std::string_view> lines;
  while (true) {
    const size_t end = cell.find('\n');
    lines.push_back(cell.substr(0, end));
    if (end == std::string_view::npos) return lines;
    cell.remove_prefix(end + 1);
  }
}

void append_line(const std::vector<std::string_view>& cells, const std::vector<size_t>& widths, std::string& out) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    line += cells[i];
    if (i + 1 < cells.size()) line.append(widths[i] - width_of(cells[i]) + 3, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line;
  out += '\n';
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  cells.resize(header_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text(bool with_header) const {
  std::vector<size_t> widths(header_.size(), 0);
  const auto widen = [&](const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) {
      for (const std::string_view line : lines_of(cells[i])) widths[i] = std::max(widths[i], width_of(line));
    }
  };
  if (with_header) widen(header_);
  for (const auto& row : rows_) widen(row);

  std::string out;
  if (with_header) append_line({header_.begin(), header_.end()}, widths, out);
  for (const auto& row : rows_) {
    std::vector<std::vector<std::string_view>> cells;
    size_t height = 1;
    for (const std::string& cell : row) {
      cells.push_back(lines_of(cell));
      height = std::max(height, cells.back().size());
    }
    for (size_t line = 0; line < height; ++line) {
      std::vector<std::string_view> parts;
      for (const auto& cell : cells) parts.push_back(line < cell.size() ? cell[line] : std::string_view{});
      append_line(parts, widths, out);
    }
  }
  return out;
}

std::string cut(const std::string& text, size_t longest) {
  if (width_of(text) <= longest) return text;
  const size_t keep = longest < 3 ? 0 : longest - 3;
  size_t at = 0;
  for (size_t characters = 0; at < text.size(); ++at) {
    if (!continues(text[at]) && characters++ == keep) break;
  }
  return text.substr(0, at) + "...";
}

}  // namespace shiplog::ctl
