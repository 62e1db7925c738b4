#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "events/base/result.h"

namespace shiplog::sqlite {

/// A value of a statement: NULL, integer, real, text or bytes. Texts and bytes belong to who passes them.
struct Bytes {
  std::string_view data;
};
using Cell = std::variant<std::monostate, int64_t, double, std::string_view, Bytes>;
/// The same, kept.
using OwnedCell = std::variant<std::monostate, int64_t, double, std::string>;

/// Runs statements that a user has written over the views of one file, and over nothing else. Built for one statement:
/// its views hide behind names that are made anew for every reader. Threads: one at a time.
///
/// SQLite's authorizer is asked for each table, column and function of a statement, with the name of the view that
/// reads it. That name alone proves nothing: a common table expression may have any name. So every view that users see
/// reads from a second one with a name that cannot be guessed, and only that one may read tables.
class UntrustedReader {
 public:
  /// A function of SQL. `inside` : only views may call it.
  struct Function {
    std::string name;
    int arguments = 1;
    bool inside = false;
    std::function<Result<OwnedCell>(std::span<const Cell> arguments)> call;
  };
  struct View {
    std::string name;
    std::string select;  ///< over the tables of the file
  };
  struct Settings {
    std::vector<View> views;
    std::vector<Function> functions;
    std::string secret;  ///< letters and digits that no user can guess
  };
  /// What a statement may take. `value_bytes`: of one text, and of one row of a table.
  struct Limits {
    std::chrono::steady_clock::time_point deadline;
    std::function<bool()> cancelled = [] { return false; };
    int64_t memory_bytes = int64_t{256} << 20U;
  };
  using Parameters = std::vector<std::pair<std::string, OwnedCell>>;
  struct Rows {
    virtual ~Rows() = default;
    virtual void columns(std::vector<std::string> names) = 0;
    /// False: no more are wanted.
    virtual bool row(std::span<const Cell> cells) = 0;
  };

  /// The file must exist. Errors: kIo, kCorrupt, kUnavailable.
  static Result<std::unique_ptr<UntrustedReader>> open(const std::string& path, const Settings& settings);
  UntrustedReader(const UntrustedReader&) = delete;
  UntrustedReader& operator=(const UntrustedReader&) = delete;
  ~UntrustedReader();

  /// The first row of a statement of ours; empty: it has none. Only before run(). The first one begins the read
  /// transaction in which everything later reads.
  Result<std::vector<OwnedCell>> trusted_row(std::string_view sql);

  /// Runs one SELECT. Errors: kBadRequest, the statement cannot be run, with the reason for its author; kTimeout, the
  /// deadline has passed; kUnavailable, it was cancelled; kTooLarge, it takes too much memory; kCorrupt, a row that it
  /// reads is damaged.
  Result<void> run(std::string_view sql, const Parameters& parameters, const Limits& limits, Rows& rows);

 private:
  struct Impl;
  explicit UntrustedReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog::sqlite
