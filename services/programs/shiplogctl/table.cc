#include "services/programs/shiplogctl/table.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "services/programs/shiplogctl/printable_lines.h"

namespace shiplog::ctl {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// The number of characters; each is assumed to take one column.
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

constexpr size_t kBetween = 3;     // spaces between two columns
constexpr size_t kNarrowest = 10;  // no column is wrapped to less

/// Bytes of the first `count` characters.
size_t bytes_of(std::string_view text, size_t count) {
  size_t position = 0;
  for (size_t characters = 0; position < text.size(); ++position) {
    if (!continues(text[position]) && characters++ == count) break;
  }
  return position;
}

/// Lines of at most `width` characters; broken at spaces where there are some.
std::vector<std::string_view> wrapped(std::string_view cell, size_t width) {
  std::vector<std::string_view> lines;
  for (std::string_view line : lines_of(cell)) {
    while (width_of(line) > width) {
      const size_t most = bytes_of(line, width);
      const size_t space = line.substr(0, most + 1).rfind(' ');
      const bool at_space = space != std::string_view::npos && space > 0;
      lines.push_back(line.substr(0, at_space ? space : most));
      line.remove_prefix(at_space ? space + 1 : most);
    }
    lines.push_back(line);
  }
  return lines;
}

/// Narrows the widest columns until all fit into `columns`, or cannot be narrowed any more.
void fit(std::vector<size_t>& widths, size_t columns) {
  size_t total = kBetween * (widths.size() - 1);
  for (const size_t width : widths) total += width;
  while (total > columns) {
    const auto widest = std::ranges::max_element(widths);
    if (*widest <= kNarrowest) return;
    size_t next = kNarrowest;
    for (const size_t width : widths) {
      if (width < *widest) next = std::max(next, width);
    }
    const size_t less = std::min(total - columns, *widest - next);
    const size_t by = std::max<size_t>(less, 1);
    *widest -= by;
    total -= by;
  }
}

/// The escape sequence of a state's colour; empty: the cell is not a state.
std::string_view colour_of(std::string_view cell) {
  constexpr std::string_view kRed = "\033[31m";
  constexpr std::string_view kGreen = "\033[32m";
  constexpr std::string_view kYellow = "\033[33m";
  const auto is = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](std::string_view word) {
      return cell == word || (cell.starts_with(word) && (cell[word.size()] == ':' || cell[word.size()] == ' '));
    });
  };
  if (is({"True", "Healthy", "accepted", "Running", "Ready", "Active", "Completed", "Succeeded", "Bound"}))
    return kGreen;
  if (is({"False", "Unhealthy", "refused", "denied", "unscheduled", "unhealthy", "unreachable", "no-leader",
          "CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "Error", "Failed", "NotReady", "OOMKilled",
          "Evicted"}))
    return kRed;
  if (is({"Unknown", "pending", "unselected", "Pending", "ContainerCreating", "Terminating"})) return kYellow;
  return {};
}

void append_line(const std::vector<std::string_view>& cells, const std::vector<size_t>& widths,
                 const std::vector<std::string_view>& colours, std::string& out) {
  constexpr std::string_view kPlain = "\033[0m";
  size_t last = cells.size();
  while (last > 0 && cells[last - 1].empty()) --last;
  for (size_t i = 0; i < last; ++i) {
    const bool coloured = i < colours.size() && !colours[i].empty() && !cells[i].empty();
    if (coloured) out += colours[i];
    const size_t padding = i + 1 < last ? widths[i] - width_of(cells[i]) + kBetween : 0;
    std::string_view cell = cells[i];
    if (padding == 0) cell = cell.substr(0, cell.find_last_not_of(' ') + 1);
    out += cell;
    if (coloured) out += kPlain;
    out.append(padding, ' ');
  }
  out += '\n';
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  cells.resize(header_.size());
  for (std::string& cell : cells) cell = printable_lines(cell, std::string::npos);
  rows_.push_back(std::move(cells));
}

std::string Table::text(bool with_header, const Terminal& terminal) const {
  std::vector<size_t> widths(header_.size(), 0);
  const auto widen = [&](const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) {
      for (const std::string_view line : lines_of(cells[i])) widths[i] = std::max(widths[i], width_of(line));
    }
  };
  if (with_header) widen(header_);
  for (const auto& row : rows_) widen(row);
  if (terminal.columns > 0 && !widths.empty()) fit(widths, terminal.columns);

  std::string out;
  const auto append = [&](const std::vector<std::string>& row, bool is_header) {
    std::vector<std::vector<std::string_view>> cells;
    std::vector<std::string_view> colours;
    size_t height = 1;
    for (size_t i = 0; i < row.size(); ++i) {
      cells.push_back(wrapped(row[i], widths[i]));
      height = std::max(height, cells.back().size());
      if (terminal.colour) colours.push_back(is_header ? std::string_view{"\033[1m"} : colour_of(row[i]));
    }
    for (size_t line = 0; line < height; ++line) {
      std::vector<std::string_view> parts;
      for (const auto& cell : cells) parts.push_back(line < cell.size() ? cell[line] : std::string_view{});
      append_line(parts, widths, colours, out);
    }
  };
  if (with_header) append(header_, true);
  for (const auto& row : rows_) append(row, false);
  return out;
}

std::string cut(const std::string& text, size_t longest) {
  if (width_of(text) <= longest) return text;
  const size_t keep = longest < 3 ? 0 : longest - 3;
  size_t position = 0;
  for (size_t characters = 0; position < text.size(); ++position) {
    if (!continues(text[position]) && characters++ == keep) break;
  }
  return text.substr(0, position) + "...";
}

}  // namespace shiplog::ctl
