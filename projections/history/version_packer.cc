#include "projections/history/version_packer.h"

#include <utility>

#include "projections/store/checked_table.h"

namespace shiplog {
namespace {

/// Bases in memory: of some thousand objects, those that change.
constexpr size_t kMostBytes = size_t{4} << 20;
// Smaller ones are not worth a base.
constexpr size_t kSmallDifference = 64;

/// A difference of more than half of what its base takes. The second one in a row begins the next base: by then both
/// have taken what a base takes. One alone does not, as an object that is new changes much, and then rests.
bool is_large(size_t difference, size_t base) { return difference > kSmallDifference && difference * 2 > base; }
/// The difference takes nearly as much as the base.
bool has_little_in_common(size_t difference, size_t base) { return difference * 8 > base * 7; }

Result<void> insert_base(store::CheckedInsert& insert, int64_t id, int64_t object, const sqlite::PackedText& json) {
  return insert.begin().add(id).add(object).add(json).run();
}

}  // namespace

Result<VersionPacker> VersionPacker::create(sqlite::Connection& connection) {
  const store::CheckedTable& table = store::version_base_table();
  // A base that is damaged is none: the next version begins another one.
  SHIPLOG_TRY(auto newest, connection.prepare(
                               "SELECT b.id, length(b.json), unpacked(b.json), v.size FROM (SELECT base, length(json) "
                               "AS size FROM version WHERE object = ? ORDER BY revision DESC LIMIT 1) v CROSS JOIN "
                               "version_base b ON b.id = v.base WHERE b.crc = " +
                               table.checksum("b")));
  SHIPLOG_TRY(auto insert, store::CheckedInsert::create(connection, table));
  return VersionPacker{std::move(newest), std::move(insert)};
}

Result<PackedVersion> VersionPacker::pack(int64_t revision, int64_t object,
                                          const std::shared_ptr<const std::string>& json, const PreparedText* alone) {
  // An object has the number of its first version, before which it has no base.
  auto base = bases_.end();
  if (object != revision) {
    SHIPLOG_TRY(base, base_of(object));
  }
  if (base != bases_.end()) {
    const sqlite::PackedText difference = packer_.pack_against(*json, *base->json);
    const size_t size = difference.bytes.size();
    const bool large = is_large(size, base->stored);
    if (!large || (!base->newest_is_large && !has_little_in_common(size, base->stored))) {
      base->newest_is_large = large;
      return PackedVersion{base->id, difference};
    }
  }
  const sqlite::PackedText packed = alone == nullptr ? packer_.pack(*json) : alone->view();
  SHIPLOG_TRY(insert_base(insert_, revision, object, packed));
  keep({object, revision, packed.bytes.size(), false, json});
  return PackedVersion{revision, packer_.pack_against(*json, *json)};
}

Result<VersionPacker::Bases::iterator> VersionPacker::base_of(int64_t object) {
  if (const auto known = by_object_.find(object); known != by_object_.end()) {
    bases_.splice(bases_.begin(), bases_, known->second);
    return known->second;
  }
  newest_.bind(1, object);
  SHIPLOG_TRY(const bool found, newest_.next());
  if (!found) return bases_.end();
  const auto stored = static_cast<size_t>(newest_.integer(1));
  const bool newest_is_large = is_large(static_cast<size_t>(newest_.integer(3)), stored);
  Base base{object, newest_.integer(0), stored, newest_is_large, std::make_shared<const std::string>(newest_.text(2))};
  newest_.reset();
  return keep(std::move(base));
}

VersionPacker::Bases::iterator VersionPacker::keep(Base base) {
  if (const auto old = by_object_.find(base.object); old != by_object_.end()) {
    bytes_ -= old->second->json->size();
    bases_.erase(old->second);
  }
  bytes_ += base.json->size();
  bases_.push_front(std::move(base));
  by_object_[bases_.front().object] = bases_.begin();
  while (bytes_ > kMostBytes && bases_.size() > 1) {
    bytes_ -= bases_.back().json->size();
    by_object_.erase(bases_.back().object);
    bases_.pop_back();
  }
  return bases_.begin();
}

void VersionPacker::forget() {
  bases_.clear();
  by_object_.clear();
  bytes_ = 0;
}

Result<PackedVersion> pack_again(sqlite::Connection& connection, sqlite::TextPacker& packer, int64_t revision,
                                 int64_t object, std::string_view json) {
  // The base that this version began, or that of the version before, or, if that is deleted, of the one behind.
  SHIPLOG_TRY(auto row, connection.prepare(
                            "SELECT b.id, unpacked(b.json) FROM version_base b WHERE b.id = coalesce((SELECT id "
                            "FROM version_base WHERE id = ?1), (SELECT v.base FROM version v WHERE v.object = ?2 "
                            "AND v.revision < ?1 ORDER BY v.revision DESC LIMIT 1), (SELECT v.base FROM version v "
                            "WHERE v.object = ?2 AND v.revision > ?1 AND v.base < ?1 ORDER BY v.revision LIMIT 1)) "
                            "AND b.object = ?2 AND b.crc = " +
                            store::version_base_table().checksum("b")));
  row.bind_all(revision, object);
  SHIPLOG_TRY(const bool found, row.next());
  if (!found) return PackedVersion{0, {json, false}};
  return PackedVersion{row.integer(0), packer.pack_against(json, row.text(1))};
}

Result<bool> replace_base(sqlite::Connection& connection, int64_t id, int64_t object, std::string_view json) {
  SHIPLOG_TRY(auto remove, connection.prepare("DELETE FROM version_base WHERE id = ?"));
  SHIPLOG_TRY(remove.run(id));
  if (connection.changed() == 0) return false;
  SHIPLOG_TRY(auto insert, store::CheckedInsert::create(connection, store::version_base_table()));
  sqlite::TextPacker packer;
  SHIPLOG_TRY(insert_base(insert, id, object, packer.pack(json)));
  return true;
}

}  // namespace shiplog
