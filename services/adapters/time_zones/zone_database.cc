#include "services/adapters/time_zones/zone_database.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "services/http/private_file.h"

namespace shiplog {
namespace {

using Zone = std::shared_ptr<const cron::TimeZone>;

std::string folder() {
  const char* set = std::getenv("ZONEINFO");
  return set == nullptr || *set == '\0' ? "/usr/share/zoneinfo" : set;
}

Result<Zone> read(const std::string& name) {
  if (const auto problem = cron::time_zone_problem(name)) return Error{ErrorCode::kNotFound, *problem};
  const std::string path = folder() + "/" + name;
  const auto bytes = read_file(path);
  if (!bytes) {
    return Error{ErrorCode::kNotFound, "unknown time zone " + name + ": " + bytes.error().message +
                                           "; Debian's package tzdata contains the time zones"};
  }
  auto zone = cron::TimeZone::from_tzif(bytes.value());
  if (!zone) return Error{ErrorCode::kNotFound, "time zone " + name + ": " + path + ": " + zone.error().message};
  return std::make_shared<const cron::TimeZone>(std::move(zone).value());
}

}  // namespace

Result<Zone> find_time_zone(const std::string& name) {
  static const Zone utc = std::make_shared<const cron::TimeZone>();
  if (name.empty() || name == "UTC") return utc;
  static std::mutex mutex;
  static std::map<std::string, Zone> known;
  const std::lock_guard lock{mutex};
  if (const auto found = known.find(name); found != known.end()) return found->second;
  SHIPLOG_TRY(Zone zone, read(name));
  return known[name] = std::move(zone);
}

}  // namespace shiplog
