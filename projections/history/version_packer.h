#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "events/base/result.h"
#include "events/sqlite/connection.h"
#include "events/sqlite/unpacked.h"
#include "projections/store/checked_insert.h"
#include "projections/store/prepared_rows.h"

namespace shiplog {

/// The JSON of a version as the table `version` contains it.
struct PackedVersion {
  int64_t base = 0;
  sqlite::PackedText json;  ///< valid until the next call
};

/// Makes of the versions of an object differences to one of them, its base, and writes bases. What is made follows from
/// what the file contains: the bases that are kept in memory only save reading them again. Threads: the writer's.
class VersionPacker {
 public:
  static Result<VersionPacker> create(sqlite::Connection& connection);

  /// Of the newest version of an object, in the transaction that writes it.
  /// `alone`: the JSON as a base has it, if that is known.
  Result<PackedVersion> pack(int64_t revision, int64_t object, const std::shared_ptr<const std::string>& json,
                             const PreparedText* alone = nullptr);
  /// After bases may have been deleted: by a rollback, or by trimming.
  void forget();

 private:
  struct Base {
    int64_t object = 0, id = 0;
    size_t stored = 0;             ///< its size in the file
    bool newest_is_large = false;  ///< the newest version's difference to it is large
    std::shared_ptr<const std::string> json;
  };
  using Bases = std::list<Base>;  ///< the one that was used last is the first

  VersionPacker(sqlite::Statement newest, store::CheckedInsert insert)
      : newest_{std::move(newest)}, insert_{std::move(insert)} {}
  /// end(): the newest version has none that can be read.
  Result<Bases::iterator> base_of(int64_t object);
  Bases::iterator keep(Base base);

  sqlite::Statement newest_;
  store::CheckedInsert insert_;
  sqlite::TextPacker packer_;
  Bases bases_;
  std::map<int64_t, Bases::iterator> by_object_;
  size_t bytes_ = 0;
};

/// Of a version that was written before and is damaged: the same as then. Without its base it is not compressed.
Result<PackedVersion> pack_again(sqlite::Connection& connection, sqlite::TextPacker& packer, int64_t revision,
                                 int64_t object, std::string_view json);
/// Writes the base with this number again that is there and damaged. False: it is not there.
Result<bool> replace_base(sqlite::Connection& connection, int64_t id, int64_t object, std::string_view json);

}  // namespace shiplog
