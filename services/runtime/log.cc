#include "services/runtime/log.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>

#include <spdlog/async.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "services/runtime/log_format.h"

namespace shiplog::log {
namespace {

constexpr size_t kQueuedLines = 2048;  // each takes 400 bytes, whether it is used or not

std::atomic<Format> current_format{Format::kText};
std::atomic<Level> least_level{Level::kInfo};

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarn:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

Level from_spdlog(spdlog::level::level_enum level) {
  if (level <= spdlog::level::debug) return Level::kDebug;
  if (level == spdlog::level::info) return Level::kInfo;
  return level == spdlog::level::warn ? Level::kWarn : Level::kError;
}

class LineFormatter final : public spdlog::formatter {
 public:
  explicit LineFormatter(Format format) : format_{format} {}
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& into) override {
    const auto since = message.time.time_since_epoch();
    const std::string text =
        line(format_, from_spdlog(message.level), std::chrono::duration_cast<std::chrono::microseconds>(since).count(),
             message.source.filename == nullptr ? "" : message.source.filename, message.source.line,
             {message.payload.data(), message.payload.size()});
    into.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<LineFormatter>(format_); }

 private:
  Format format_;
};

void prepare(spdlog::logger& logger, Format format) {
  logger.set_formatter(std::make_unique<LineFormatter>(format));
  logger.set_level(spdlog::level::trace);
  logger.flush_on(spdlog::level::trace);
}

/// The logger in use; until configure() one that writes at once.
struct Loggers {
  Loggers() { prepare(*direct, Format::kText); }

  std::shared_ptr<spdlog::logger> direct =
      std::make_shared<spdlog::logger>("shiplog", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  std::shared_ptr<spdlog::details::thread_pool> pool;
  std::shared_ptr<spdlog::logger> queued;
  std::atomic<spdlog::logger*> current{direct.get()};
};

/// Never destroyed: other threads may log until the process has ended.
Loggers& loggers() {
  static auto* const all = new Loggers;
  return *all;
}

/// At exit: writes what waits; later lines are written at once.
void drain() {
  Loggers& all = loggers();
  all.current = all.direct.get();
  all.pool.reset();
}

}  // namespace

void configure(Format format, Level least) {
  current_format = format;
  least_level = least;
  Loggers& all = loggers();
  prepare(*all.direct, format);
  if (all.pool != nullptr) return prepare(*all.queued, format);
  all.pool = std::make_shared<spdlog::details::thread_pool>(kQueuedLines, 1);
  all.queued = std::make_shared<spdlog::async_logger>("shiplog", std::make_shared<spdlog::sinks::stderr_sink_mt>(),
                                                      all.pool, spdlog::async_overflow_policy::overrun_oldest);
  prepare(*all.queued, format);
  all.current = all.queued.get();
  std::atexit(&drain);
}

uint64_t dropped() {
  const auto pool = loggers().pool;
  return pool == nullptr ? 0 : pool->overrun_counter();
}

void write(Level level, std::string_view event, std::initializer_list<Field> fields,
           const std::source_location& caller) {
  if (level < least_level.load(std::memory_order_relaxed)) return;
  const std::string text = payload(current_format.load(std::memory_order_relaxed), event, fields);
  const spdlog::source_loc where{caller.file_name(), static_cast<int>(caller.line()), ""};
  loggers().current.load()->log(where, to_spdlog(level), spdlog::string_view_t{text});
}

}  // namespace shiplog::log
