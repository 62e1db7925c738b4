#include "events/sqlite/untrusted_reader.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include <sqlite3.h>

#include "events/base/check.h"
#include "events/base/utf8.h"
#include "events/sqlite/linear_functions.h"
#include "events/sqlite/memory.h"
#include "events/sqlite/permitted_functions.h"
#include "events/sqlite/row_checksum.h"
#include "events/sqlite/unpacked.h"

namespace shiplog::sqlite {
namespace {

constexpr int kOperationsBetweenChecks = 100;
constexpr int kMostStatementBytes = 64 << 10;
/// SQLite may put the value of "column = value" in the place of the column in other conditions. What intact() is
/// given would then no longer be what the row holds, and whole rows seem damaged.
constexpr int kPropagationOfConstants = 0x8000;

std::string lower(std::string_view text) {
  std::string out{text};
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

Cell cell_of(sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      return int64_t{sqlite3_value_int64(value)};
    case SQLITE_FLOAT:
      return sqlite3_value_double(value);
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
      return std::string_view{text == nullptr ? "" : text, static_cast<size_t>(sqlite3_value_bytes(value))};
    }
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const char*>(sqlite3_value_blob(value));
      return Bytes{{bytes == nullptr ? "" : bytes, static_cast<size_t>(sqlite3_value_bytes(value))}};
    }
    default:
      return std::monostate{};
  }
}

Cell cell_of(sqlite3_stmt* row, int column) {
  switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
      return int64_t{sqlite3_column_int64(row, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(row, column);
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
      return std::string_view{text == nullptr ? "" : text, static_cast<size_t>(sqlite3_column_bytes(row, column))};
    }
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const char*>(sqlite3_column_blob(row, column));
      return Bytes{{bytes == nullptr ? "" : bytes, static_cast<size_t>(sqlite3_column_bytes(row, column))}};
    }
    default:
      return std::monostate{};
  }
}

OwnedCell owned(const Cell& cell) {
  if (const auto* number = std::get_if<int64_t>(&cell)) return *number;
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  if (const auto* text = std::get_if<std::string_view>(&cell)) return std::string{*text};
  if (const auto* bytes = std::get_if<Bytes>(&cell)) return std::string{bytes->data};
  return std::monostate{};
}

void call_function(sqlite3_context* context, int count, sqlite3_value** values) {
  const auto& function = *static_cast<const UntrustedReader::Function*>(sqlite3_user_data(context));
  std::vector<Cell> arguments;
  for (int index = 0; index < count; ++index) arguments.push_back(cell_of(values[index]));
  const auto result = function.call(arguments);
  if (!result) {
    const std::string& message = result.error().message;
    return sqlite3_result_error(context, message.data(), static_cast<int>(message.size()));
  }
  if (const auto* number = std::get_if<int64_t>(&result.value())) {
    sqlite3_result_int64(context, *number);
  } else if (const auto* real = std::get_if<double>(&result.value())) {
    sqlite3_result_double(context, *real);
  } else if (const auto* text = std::get_if<std::string>(&result.value())) {
    sqlite3_result_text64(context, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  } else {
    sqlite3_result_null(context);
  }
}

void bind(sqlite3_stmt* statement, int index, const OwnedCell& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    sqlite3_bind_int64(statement, index, *number);
  } else if (const auto* real = std::get_if<double>(&value)) {
    sqlite3_bind_double(statement, index, *real);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
  }
}

Error bad(std::string message) { return {ErrorCode::kBadRequest, std::move(message)}; }

struct Finalizer {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using StatementPtr = std::unique_ptr<sqlite3_stmt, Finalizer>;

}  // namespace

struct UntrustedReader::Impl {
  std::string path;
  Settings settings;
  sqlite3* database = nullptr;
  std::set<std::string, std::less<>> views, hidden, known;  // known: tables of the file and virtual ones
  std::set<std::string, std::less<>> functions;
  std::string refusal;  // the first reason of the authorizer

  const Limits* limits = nullptr;
  int64_t memory_before = 0;
  enum class Stopped { kNo, kDeadline, kCancelled, kMemory } stopped = Stopped::kNo;

  ~Impl() { sqlite3_close(database); }

  Error error() {
    const int code = sqlite3_extended_errcode(database);
    const std::string reason = sqlite3_errmsg(database);
    switch (code & 0xFF) {
      case SQLITE_CORRUPT:
      case SQLITE_NOTADB:
        return {ErrorCode::kCorrupt, "projection " + path + ": " + reason +
                                         ": the scrub writes damaged rows again from the journal; if this remains, "
                                         "stop the process, delete the file and start again, and it is rebuilt"};
      case SQLITE_BUSY:
      case SQLITE_LOCKED:
        return {ErrorCode::kUnavailable, "projection " + path + " is locked by another process; try again"};
      case SQLITE_NOMEM:
        return {ErrorCode::kUnavailable, "there is not enough memory"};
      case SQLITE_IOERR:
      case SQLITE_CANTOPEN:
      case SQLITE_FULL:
        return {ErrorCode::kIo, "projection " + path + ": " + reason};
      case SQLITE_TOOBIG:
        return bad("a text would be longer than " +
                   std::to_string(sqlite3_limit(database, SQLITE_LIMIT_LENGTH, -1) >> 20U) + " MiB");
      default:
        return bad(reason);
    }
  }

  Result<void> execute(const std::string& sql) {
    if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return error();
    return ok();
  }

  int refuse(std::string why) {
    if (refusal.empty()) refusal = std::move(why);
    return SQLITE_DENY;
  }

  int refuse_table(const std::string& table) {
    std::string list;
    for (const View& view : settings.views) list += (list.empty() ? "" : ", ") + view.name;
    return refuse(quoted(table) + " is not a view: there are " + list);
  }

  int authorize_read(const std::string& table, std::string_view column, bool inside) {
    if (inside || views.contains(table) || hidden.contains(table) || table == "json_each" || table == "json_tree") {
      return SQLITE_OK;
    }
    // A table of which no column is read: also a common table expression, which is of no database.
    const bool named_by_the_user =
        column.empty() && !known.contains(table) && !table.starts_with("sqlite_") && !table.starts_with("pragma_");
    return named_by_the_user ? SQLITE_OK : refuse_table(table);
  }

  static int authorize(void* user, int operation, const char* first, const char* second, const char*,
                       const char* reader) {
    auto& self = *static_cast<Impl*>(user);
    const bool inside = reader != nullptr && self.hidden.contains(lower(reader));
    switch (operation) {
      case SQLITE_SELECT:
      case SQLITE_RECURSIVE:
        return SQLITE_OK;
      case SQLITE_READ:
        return self.authorize_read(lower(first == nullptr ? "" : first), second == nullptr ? "" : second, inside);
      case SQLITE_FUNCTION: {
        const std::string name = lower(second == nullptr ? "" : second);
        if (inside || is_permitted_function(name) || self.functions.contains(name)) return SQLITE_OK;
        return self.refuse("the function " + printable(name) + "() is not available");
      }
      default:
        return self.refuse("only SELECT is permitted");
    }
  }

  static int check_progress(void* user) {
    auto& self = *static_cast<Impl*>(user);
    if (self.limits->cancelled()) {
      self.stopped = Stopped::kCancelled;
    } else if (std::chrono::steady_clock::now() >= self.limits->deadline) {
      self.stopped = Stopped::kDeadline;
    } else if (memory_of_this_thread() - self.memory_before > self.limits->memory_bytes) {
      self.stopped = Stopped::kMemory;
    }
    return self.stopped == Stopped::kNo ? 0 : 1;
  }

  Error why_stopped() {
    switch (stopped) {
      case Stopped::kDeadline:
        return {ErrorCode::kTimeout,
                "the statement took longer than its time limit: restrict it with time_ms >= moment('1h') or an "
                "offset, or raise the limit"};
      case Stopped::kCancelled:
        return {ErrorCode::kUnavailable, "the statement was cancelled"};
      case Stopped::kMemory:
        return {ErrorCode::kTooLarge, "the statement needs more than " + std::to_string(limits->memory_bytes >> 20U) +
                                          " MiB of memory: sort or group fewer rows"};
      case Stopped::kNo:
        break;
    }
    return error();
  }

  Result<void> add_functions() {
    for (const Function& function : settings.functions) {
      const int code = sqlite3_create_function_v2(
          database, function.name.c_str(), function.arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
          const_cast<Function*>(&function), call_function, nullptr, nullptr, nullptr);
      if (code != SQLITE_OK) return error();
      if (!function.inside) functions.insert(function.name);
    }
    return ok();
  }

  Result<void> add_views() {
    for (const View& view : settings.views) {
      const std::string behind = lower(view.name + "_" + settings.secret);
      views.insert(view.name);
      hidden.insert(behind);
      SHIPLOG_TRY(execute("CREATE TEMP VIEW " + behind + " AS " + view.select));
      SHIPLOG_TRY(execute("CREATE TEMP VIEW " + view.name + " AS SELECT * FROM " + behind));
    }
    return ok();
  }

  Result<void> learn_tables() {
    const auto add = [](void* user, int, char** values, char**) {
      static_cast<Impl*>(user)->known.insert(lower(values[0] == nullptr ? "" : values[0]));
      return 0;
    };
    // The two table-valued functions that statements may use are made by their first use.
    SHIPLOG_TRY(execute("SELECT count(*) FROM json_each('[]'), json_tree('[]')"));
    if (sqlite3_exec(database, "SELECT name FROM main.sqlite_master UNION SELECT name FROM pragma_module_list", add,
                     this, nullptr) != SQLITE_OK) {
      return error();
    }
    return ok();
  }

  void set_limits() const {
    constexpr std::array<std::pair<int, int>, 11> kLimits{{{SQLITE_LIMIT_LENGTH, 32 << 20},
                                                           {SQLITE_LIMIT_SQL_LENGTH, kMostStatementBytes},
                                                           {SQLITE_LIMIT_COLUMN, 200},
                                                           {SQLITE_LIMIT_EXPR_DEPTH, 100},
                                                           {SQLITE_LIMIT_COMPOUND_SELECT, 20},
                                                           {SQLITE_LIMIT_VDBE_OP, 100'000},
                                                           {SQLITE_LIMIT_FUNCTION_ARG, 100},
                                                           {SQLITE_LIMIT_ATTACHED, 0},
                                                           {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100},
                                                           {SQLITE_LIMIT_VARIABLE_NUMBER, 100},
                                                           {SQLITE_LIMIT_TRIGGER_DEPTH, 1}}};
    for (const auto& [limit, value] : kLimits) sqlite3_limit(database, limit, value);
  }

  Result<StatementPtr> prepare(std::string_view sql) {
    if (sql.size() > kMostStatementBytes) return bad("a statement is longer than 64 KiB");
    sqlite3_stmt* prepared = nullptr;
    const char* rest = nullptr;
    refusal.clear();
    const int code = sqlite3_prepare_v3(database, sql.data(), static_cast<int>(sql.size()), 0, &prepared, &rest);
    StatementPtr statement{prepared};
    if (code != SQLITE_OK) {
      if (!refusal.empty()) return bad(refusal);
      // So does SQLite report that a limit of its program is reached.
      if (code == SQLITE_NOMEM) return bad("the statement is too complex: use fewer subqueries and views");
      return error();
    }
    if (!statement) return bad("there is no statement: write a SELECT");
    const auto left = sql.substr(static_cast<size_t>(rest - sql.data()));
    sqlite3_stmt* next = nullptr;
    const int more = sqlite3_prepare_v3(database, left.data(), static_cast<int>(left.size()), 0, &next, nullptr);
    const StatementPtr second{next};
    if (more != SQLITE_OK || second) return bad("only one statement is permitted");
    // EXPLAIN would show the names behind the views.
    if (sqlite3_stmt_isexplain(statement.get()) != 0 || sqlite3_stmt_readonly(statement.get()) == 0 ||
        sqlite3_column_count(statement.get()) == 0) {
      return bad("only SELECT is permitted");
    }
    return statement;
  }

  Result<void> bind_all(sqlite3_stmt* statement, const Parameters& parameters) const {
    std::set<std::string> used;
    for (int index = 1; index <= sqlite3_bind_parameter_count(statement); ++index) {
      const char* name = sqlite3_bind_parameter_name(statement, index);
      if (name == nullptr) return bad("parameters have names: write :name instead of ?");
      const auto given = std::ranges::find(parameters, std::string_view{name + 1},
                                           [](const auto& each) { return std::string_view{each.first}; });
      if (given == parameters.end()) return bad("the parameter " + printable(name + 1) + " has no value");
      bind(statement, index, given->second);
      used.insert(given->first);
    }
    for (const auto& [name, value] : parameters) {
      if (!used.contains(name)) return bad("the statement has no parameter :" + printable(name));
    }
    return ok();
  }
};

UntrustedReader::UntrustedReader(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
UntrustedReader::~UntrustedReader() = default;

Result<std::unique_ptr<UntrustedReader>> UntrustedReader::open(const std::string& path, const Settings& settings) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->settings = settings;
  // A reader too writes the shared memory of the write-ahead log, as Connection does.
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (sqlite3_open_v2(path.c_str(), &impl->database, flags, nullptr) != SQLITE_OK) return impl->error();
  sqlite3* database = impl->database;
  sqlite3_busy_timeout(database, 2'000);
  sqlite3_wal_autocheckpoint(database, 0);
  sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_test_control(SQLITE_TESTCTRL_OPTIMIZATIONS, database, kPropagationOfConstants);
  add_row_functions(database);
  add_unpacked(database);
  add_linear_functions(database);
  SHIPLOG_TRY(impl->add_functions());
  SHIPLOG_TRY(impl->execute("PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY;"));
  SHIPLOG_TRY(impl->add_views());
  SHIPLOG_TRY(impl->learn_tables());
  SHIPLOG_TRY(impl->execute("PRAGMA query_only = ON; BEGIN"));
  return std::unique_ptr<UntrustedReader>{new UntrustedReader{std::move(impl)}};
}

Result<std::vector<OwnedCell>> UntrustedReader::trusted_row(std::string_view sql) {
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v3(impl_->database, sql.data(), static_cast<int>(sql.size()), 0, &prepared, nullptr) != SQLITE_OK)
    return impl_->error();
  const StatementPtr statement{prepared};
  const int code = sqlite3_step(prepared);
  if (code != SQLITE_ROW && code != SQLITE_DONE) return impl_->error();
  std::vector<OwnedCell> row;
  for (int column = 0; code == SQLITE_ROW && column < sqlite3_column_count(prepared); ++column) {
    row.push_back(owned(cell_of(prepared, column)));
  }
  return row;
}

Result<void> UntrustedReader::run(std::string_view sql, const Parameters& parameters, const Limits& limits,
                                  Rows& rows) {
  Impl& impl = *impl_;
  impl.limits = &limits;
  impl.memory_before = memory_of_this_thread();
  impl.set_limits();
  sqlite3_set_authorizer(impl.database, Impl::authorize, &impl);
  sqlite3_progress_handler(impl.database, kOperationsBetweenChecks, Impl::check_progress, &impl);
  SHIPLOG_TRY(const StatementPtr statement, impl.prepare(sql));
  SHIPLOG_TRY(impl.bind_all(statement.get(), parameters));
  const int width = sqlite3_column_count(statement.get());
  std::vector<std::string> names;
  for (int column = 0; column < width; ++column) {
    const char* name = sqlite3_column_name(statement.get(), column);
    names.emplace_back(name == nullptr ? "" : name);
  }
  rows.columns(std::move(names));
  std::vector<Cell> cells(static_cast<size_t>(width));
  while (true) {
    const int code = sqlite3_step(statement.get());
    if (code == SQLITE_DONE) return ok();
    if (code != SQLITE_ROW) {
      if (impl.stopped != Impl::Stopped::kNo) return impl.why_stopped();
      return impl.error();
    }
    for (int column = 0; column < width; ++column) {
      cells[static_cast<size_t>(column)] = cell_of(statement.get(), column);
    }
    if (!rows.row(cells)) return ok();
  }
}

}  // namespace shiplog::sqlite
