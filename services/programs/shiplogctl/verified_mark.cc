#include "services/programs/shiplogctl/verified_mark.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "events/base/json.h"

namespace shiplog::ctl {
namespace {

Error failed(const std::string& file, const std::string& why) { return {ErrorCode::kIo, file + ": " + why}; }

Error not_a_mark(const std::string& file) {
  return {ErrorCode::kInvalid,
          file +
              ": this is not what `replay --incremental` has written: name another file, or delete "
              "it to verify the whole journal"};
}

}  // namespace

Result<std::optional<VerifiedMark>> read_verified_mark(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  std::ifstream stream{file, std::ios::binary};
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) return failed(file, "cannot be read");
  const auto value = parse_json(text.str());
  if (!value || !value.value()["next"].is_int() || !value.value()["revision"].is_int() ||
      !value.value()["stateHash"].is_string()) {
    return not_a_mark(file);
  }
  return VerifiedMark{.next = Offset{value.value()["next"].as_int()},
                      .revision = Revision{static_cast<uint64_t>(value.value()["revision"].as_int())},
                      .state_hash = value.value()["stateHash"].str()};
}

Result<void> write_verified_mark(const std::string& file, const VerifiedMark& mark) {
  const std::string draft = file + ".new";
  std::ofstream stream{draft, std::ios::binary | std::ios::trunc};
  stream << to_pretty_json(Value::object(
                {{"next", mark.next.value}, {"revision", mark.revision.value}, {"stateHash", mark.state_hash}}))
         << "\n";
  stream.close();
  if (!stream) return failed(draft, "cannot be written");
  if (std::rename(draft.c_str(), file.c_str()) != 0) return failed(file, std::strerror(errno));
  return ok();
}

}  // namespace shiplog::ctl
