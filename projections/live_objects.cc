#include "projections/live_objects.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "events/base/json_sharing.h"
#include "events/sqlite/connection.h"
#include "events/sqlite/unpacked.h"
#include "projections/store/open.h"

namespace shiplog {
namespace {

using LiveObjects = std::vector<std::pair<ObjectKey, Object>>;

/// An object whose version is to be read.
struct LiveObjectPlace {
  int64_t id = 0;
  uint32_t place = 0;  // in the result
};

Result<std::map<int64_t, std::string>> type_names(sqlite::Connection& connection) {
  std::map<int64_t, std::string> names;
  SHIPLOG_TRY(auto row, connection.prepare("SELECT id, name FROM type"));
  while (true) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) return names;
    names.emplace(row.integer(0), row.text(1));
  }
}

// A small file does not justify a thread.
constexpr size_t kManyObjects = 2048;

/// Their keys; `listed` gets their numbers. Calls `many` once, when there are so many that threads are worth it.
template <class Many>
Result<LiveObjects> list(sqlite::Connection& connection, std::vector<LiveObjectPlace>& listed, Many many) {
  SHIPLOG_TRY(const auto types, type_names(connection));
  LiveObjects objects;
  SHIPLOG_TRY(auto row, connection.prepare("SELECT type, ns, name, id FROM object WHERE live"));
  while (true) {
    SHIPLOG_TRY(const bool found, row.next());
    if (!found) return objects;
    const auto type = types.find(row.integer(0));
    // It would be omitted, which the state hash detects.
    if (type == types.end()) continue;
    listed.push_back({row.integer(3), static_cast<uint32_t>(objects.size())});
    objects.emplace_back(ObjectKey{type->second, std::string{row.text(1)}, std::string{row.text(2)}}, Object{});
    if (objects.size() == kManyObjects) many();
  }
}

/// Reads the newest versions of objects.
class VersionReader {
 public:
  static Result<VersionReader> create(sqlite::Connection& connection) {
    // One run for many objects: each run takes memory, for which SQLite has one lock for all threads.
    // The base's checksum is not computed: what is read is hashed, and the hashes of all objects must add up.
    SHIPLOG_TRY(auto row, connection.prepare(
                              "SELECT i.key, typeof(v.json) = 'text', v.json, typeof(b.json) = 'text', b.json FROM "
                              "json_each(?1) i CROSS JOIN version v ON v.revision = (SELECT max(revision) FROM version "
                              "INDEXED BY version_by_object WHERE object = i.value) LEFT JOIN version_base b "
                              "ON b.id = v.base"));
    return VersionReader{std::move(row)};
  }

  /// Those without a version stay without a value.
  Result<void> read(std::span<const LiveObjectPlace> part, LiveObjects& objects) {
    std::string ids = "[";
    for (const LiveObjectPlace& object : part) {
      if (ids.size() > 1) ids += ',';
      ids += std::to_string(object.id);
    }
    ids += ']';
    row_.bind(1, ids);
    while (true) {
      SHIPLOG_TRY(const bool found, row_.next());
      if (!found) return ok();
      auto& [key, object] = objects[part[static_cast<size_t>(row_.integer(0))].place];
      const sqlite::PackedText version{row_.blob(2), row_.integer(1) == 0};
      std::optional<sqlite::PackedText> base;
      if (!row_.is_null(4)) base = {row_.blob(4), row_.integer(3) == 0};
      SHIPLOG_TRY(const std::string_view json, unpacker_.unpack(version, base));
      SHIPLOG_TRY(object, object_from(key, json));
    }
  }

 private:
  explicit VersionReader(sqlite::Statement row) : row_{std::move(row)} {}

  sqlite::Statement row_;
  sqlite::TextUnpacker unpacker_;
};

/// Takes part after part until all are read, or one cannot be.
class ReadingInParts {
 public:
  ReadingInParts(const std::vector<LiveObjectPlace>& listed, LiveObjects& objects)
      : listed_{listed}, objects_{objects} {}

  Result<void> run(sqlite::Connection& connection) {
    // Objects of a fleet are alike.
    const JsonSharing sharing;
    auto done = read(connection);
    if (!done) next_ = listed_.size();
    return done;
  }

 private:
  Result<void> read(sqlite::Connection& connection) {
    SHIPLOG_TRY(auto reader, VersionReader::create(connection));
    while (true) {
      constexpr size_t kPart = 512;
      const size_t first = next_.fetch_add(kPart);
      if (first >= listed_.size()) return ok();
      const size_t size = std::min(kPart, listed_.size() - first);
      SHIPLOG_TRY(reader.read(std::span{listed_}.subspan(first, size), objects_));
    }
  }

  const std::vector<LiveObjectPlace>& listed_;
  LiveObjects& objects_;
  std::atomic<size_t> next_{0};
};

}  // namespace

Result<LiveObjects> read_live_objects(sqlite::Connection& connection,
                                      const std::function<Result<void>(sqlite::Connection&)>& also) {
  // One transaction for all: to begin one for each object would take as long as to find it.
  SHIPLOG_TRY([[maybe_unused]] const auto as_of_now, sqlite::Transaction::begin_reading(connection));
  using Work = std::function<Result<void>(sqlite::Connection&)>;
  const auto begin = [&connection](Work work) {
    return std::async(std::launch::async, [work = std::move(work), path = connection.path()]() -> Result<void> {
      SHIPLOG_TRY(auto own, store::open_reader(path));
      SHIPLOG_TRY([[maybe_unused]] const auto reading, sqlite::Transaction::begin_reading(*own));
      return work(*own);
    });
  };
  std::future<Result<void>> also_read;
  std::vector<LiveObjectPlace> listed;
  SHIPLOG_TRY(auto objects, list(connection, listed, [&] { also_read = begin(also); }));
  // In the order in which they were first written, so that a page is read once.
  std::ranges::sort(listed, {}, &LiveObjectPlace::id);
  ReadingInParts parts{listed, objects};
  std::vector<std::future<Result<void>>> others;
  if (also_read.valid()) {
    for (unsigned thread = 1; thread < std::max(2U, std::thread::hardware_concurrency()); ++thread) {
      others.push_back(begin([&parts](sqlite::Connection& own) { return parts.run(own); }));
    }
    others.push_back(std::move(also_read));
  }
  auto done = parts.run(connection);
  if (others.empty() && done) done = also(connection);
  for (auto& other : others) {
    auto result = other.get();
    if (done) done = std::move(result);
  }
  if (!done) return std::move(done).error();
  // A live object without a version would be omitted, which the state hash detects.
  std::erase_if(objects, [](const auto& object) { return object.second.value.is_null(); });
  return objects;
}

}  // namespace shiplog
