#include "tests/support/stored_text.h"

#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "events/journal/embedded/sqlite_journal.h"
#include "events/sqlite/connection.h"
#include "projections/store/checked_table.h"
#include "projections/store/open.h"
#include "tests/support/must.h"

namespace shiplog::e2e {
namespace {

std::string bytes_of(const std::string& file) {
  std::ifstream opened{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{opened}, {}};
}

/// Until `use` returns true.
template <class Use>
void each_record(const std::string& file, Use use) {
  const auto journal = must(open_sqlite_journal(file, {.create = false}));
  const Offset head = must(journal->head());
  Offset next = must(journal->oldest());
  const auto tail = must(journal->tail(next));
  while (next < head) {
    for (const JournalRecord& record : must(tail->next(1000, Millis{1000}))) {
      if (use(record)) return;
      next = Offset{record.offset.value + 1};
    }
  }
}

void add_rows(sqlite::Connection& connection, const std::string& query, std::string& text) {
  auto rows = must(connection.prepare(query));
  while (must(rows.next())) text += std::string{rows.text(0)} + "\n";
}

bool has_table(sqlite::Connection& connection, const std::string& name) {
  auto rows = must(connection.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '" + name + "'"));
  return must(rows.next());
}

}  // namespace

std::string stored_text(const std::string& file) {
  std::string text = bytes_of(file);
  if (!std::string_view{text}.starts_with("SQLite format 3")) return text;
  const auto connection = must(store::open_reader(file));
  if (has_table(*connection, "bounds")) {  // a journal
    each_record(file, [&](const JournalRecord& record) {
      text += record.bytes + "\n";
      return false;
    });
  }
  if (has_table(*connection, "version")) {
    add_rows(*connection, "SELECT " + store::version_json("v") + " FROM version v", text);
    add_rows(*connection, "SELECT unpacked(explanation) FROM decision", text);
  }
  return text;
}

bool damage_record(const std::string& journal, const std::string& text) {
  std::optional<Offset> offset;
  each_record(journal, [&](const JournalRecord& record) {
    if (record.bytes.find(text) == std::string::npos) return false;
    offset = record.offset;
    return true;
  });
  if (!offset) return false;
  std::string stored;
  {
    const auto connection = must(store::open_reader(journal));
    auto row = must(connection->prepare("SELECT bytes FROM entry WHERE offset = " + std::to_string(offset->value)));
    if (!must(row.next())) return false;
    stored = std::string{row.blob(0)};
  }
  // In its middle, which lies in one page; the beginning of a large record may lie in another one.
  const std::string part = stored.substr(stored.size() / 2, 16);
  std::fstream file{journal, std::ios::in | std::ios::out | std::ios::binary};
  const std::string all(std::istreambuf_iterator<char>(file), {});
  const size_t position = all.find(part);
  if (position == std::string::npos) return false;
  file.seekp(static_cast<std::streamoff>(position));
  file.put(static_cast<char>(all[position] ^ 1));
  return true;
}

}  // namespace shiplog::e2e
