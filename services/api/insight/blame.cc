#include "services/api/insight/blame.h"

#include <map>
#include <set>

#include "events/base/json.h"
#include "projections/history/history_query.h"
#include "services/api/insight/diff.h"
#include "services/api/insight/history.h"

namespace shiplog::api {
namespace {

/// Versions are read in such portions, the newest first: most fields of most objects were set lately.
constexpr size_t kVersionsRead = 64;

bool is_below(const std::string& path, const std::string& field) {
  if (field.empty()) return true;
  return path.starts_with(field) &&
         (path.size() == field.size() || path[field.size()] == '.' || path[field.size()] == '[');
}

Result<std::map<std::string, std::string>> leaves_of(const VersionRow& version) {
  SHIPLOG_TRY(const Value object, parse_stored_json(version.json));
  return leaves(object);
}

/// Goes back through the versions of one object.
class Walk {
 public:
  explicit Walk(std::map<std::string, std::string> values) : values_{std::move(values)} {
    for (const auto& [path, value] : values_) unknown_.insert(path);
  }

  /// The next older version. False: every value is attributed.
  Result<bool> step(const VersionRow& version) {
    SHIPLOG_TRY(const auto found, leaves_of(version));
    std::erase_if(unknown_, [&](const std::string& path) {
      const auto same = found.find(path);
      if (same != found.end() && same->second == values_.at(path)) return false;
      since_.emplace(path, *newer_);
      return true;
    });
    newer_ = version;
    return !unknown_.empty();
  }
  void begin(VersionRow newest) { newer_ = std::move(newest); }
  /// There is no older version: what is left is the oldest one's.
  void end() {
    for (const std::string& path : unknown_) since_.emplace(path, *newer_);
    unknown_.clear();
  }

  const std::map<std::string, std::string>& values() const { return values_; }
  /// nullptr: an older version than those that were examined gave it.
  const VersionRow* since(const std::string& path) const {
    const auto found = since_.find(path);
    return found == since_.end() ? nullptr : &found->second;
  }
  Revision oldest() const { return newer_->revision; }

 private:
  std::map<std::string, std::string> values_;
  std::set<std::string> unknown_;
  std::map<std::string, VersionRow> since_;
  std::optional<VersionRow> newer_;
};

/// How far the versions were read.
enum class Examined {
  kAll,      ///< every value is attributed
  kLimited,  ///< older versions are there, and were not read
  kDeleted   ///< retention has deleted older versions
};

Result<Examined> go_back(const HistoryQuery& history, const BlameQuestion& question, VersionRow newest, Walk& walk) {
  size_t left = question.versions;
  Revision from = newest.revision;
  VersionOperation operation = newest.operation;
  walk.begin(std::move(newest));
  while (operation != VersionOperation::kCreated) {
    SHIPLOG_TRY(const auto older, history.versions(question.object, true, kVersionsRead, Revision{from.value - 1}));
    if (older.empty()) return Examined::kDeleted;
    for (const VersionRow& version : older) {
      if (left == 0) return Examined::kLimited;
      --left;
      SHIPLOG_TRY(const bool more, walk.step(version));
      if (!more) return Examined::kAll;
      from = version.revision;
      operation = version.operation;
      if (operation == VersionOperation::kCreated) break;
    }
  }
  walk.end();
  return Examined::kAll;
}

}  // namespace

Result<Value> blame_of(const View& view, const BlameQuestion& question) {
  const HistoryQuery history{view};
  SHIPLOG_TRY(auto newest, history.versions(question.object, true, 1, question.at));
  if (newest.empty() || newest.front().operation == VersionOperation::kRemoved) return Value{};
  SHIPLOG_TRY(auto values, leaves_of(newest.front()));
  std::erase_if(values, [&](const auto& value) {
    return !is_below(value.first, question.field) || (!question.with_status && is_below(value.first, "status"));
  });
  Walk walk{std::move(values)};
  SHIPLOG_TRY(const Examined examined, go_back(history, question, std::move(newest.front()), walk));

  Value items = Value::array();
  Value origins = Value::array();
  std::map<Revision, int64_t> indexes;
  for (const auto& [path, value] : walk.values()) {
    Value item =
        Value::object({{"path", path}, {"value", is_secret_path(question.object, path) ? kHidden : shortened(value)}});
    if (const VersionRow* version = walk.since(path); version != nullptr) {
      const auto [index, is_new] = indexes.emplace(version->revision, static_cast<int64_t>(origins.size()));
      if (is_new) {
        SHIPLOG_TRY(Value origin, origin_of(view, *version));
        origins.push_back(std::move(origin));
      }
      item.set("origin", index->second);
    }
    items.push_back(std::move(item));
  }
  Value answer = Value::object({{"items", std::move(items)}, {"origins", std::move(origins)}});
  if (examined != Examined::kAll) answer.set("examinedFrom", walk.oldest().value);
  if (examined == Examined::kDeleted) answer.set("olderDeleted", true);
  return answer;
}

}  // namespace shiplog::api
