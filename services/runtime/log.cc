#include "services/runtime/log.h"

#include <atomic>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "events/base/json.h"
#include "events/base/system.h"
#include "events/base/time.h"

namespace shiplog::log {
namespace {

std::atomic<Format> current_format{Format::kText};
std::atomic<Level> least_level{Level::kInfo};

spdlog::logger& sink() {
  static const auto logger = [] {
    auto made = spdlog::stderr_logger_mt("shiplog");
    made->set_pattern("%v");
    made->set_level(spdlog::level::trace);
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *logger;
}

const char* name_of(Level level) {
  switch (level) {
    case Level::kDebug:
      return "debug";
    case Level::kInfo:
      return "info";
    case Level::kWarn:
      return "warn";
    case Level::kError:
      return "error";
  }
  return "error";
}

bool needs_quotes(std::string_view text) {
  if (text.empty()) return true;
  for (const char c : text) {
    if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7f) return true;
  }
  return false;
}

}  // namespace

void configure(Format format, Level least) {
  current_format = format;
  least_level = least;
}

void write(Level level, std::string_view event, std::initializer_list<Field> fields) {
  if (level < least_level.load(std::memory_order_relaxed)) return;
  const std::string time = rfc3339_millis(SystemClock{}.now());
  std::string line;
  if (current_format.load(std::memory_order_relaxed) == Format::kJson) {
    line = "{\"time\":\"" + time + "\",\"level\":\"" + name_of(level) + "\",\"event\":";
    append_json_string(event, line);
    for (const auto& [key, value] : fields) {
      line += ',';
      append_json_string(key, line);
      line += ':';
      append_json_string(value, line);
    }
    line += '}';
  } else {
    line = "time=" + time + " level=" + name_of(level) + " event=";
    line += event;
    for (const auto& [key, value] : fields) {
      line += ' ';
      line += key;
      line += '=';
      if (needs_quotes(value)) {
        append_json_string(value, line);
      } else {
        line += value;
      }
    }
  }
  sink().log(spdlog::level::info, spdlog::string_view_t{line});
}

}  // namespace shiplog::log
