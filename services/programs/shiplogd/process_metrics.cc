#include "services/programs/shiplogd/process_metrics.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "services/programs/shiplogd/process.h"
#include "services/runtime/log.h"

namespace shiplog {
namespace {

/// The fields of /proc/self/stat behind the program's name, which may contain spaces and parentheses; the first is the
/// state, field 3 of proc(5).
std::vector<std::string> process_stat() {
  std::ifstream file{"/proc/self/stat"};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  std::vector<std::string> fields;
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return fields;
  for (size_t begin = name_end + 2; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    fields.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

/// Field `number` of proc(5); 0 if it cannot be read.
double stat_field(const std::vector<std::string>& fields, size_t number) {
  double value = 0;
  if (number - 3 >= fields.size()) return value;
  const std::string& field = fields[number - 3];
  std::from_chars(field.data(), field.data() + field.size(), value);
  return value;
}

/// Seconds since 1970 when the machine was started; 0 if it cannot be read.
double boot_seconds() {
  std::ifstream file{"/proc/stat"};
  double seconds = 0;
  for (std::string word; file >> word;) {
    if (word == "btime") return file >> seconds ? seconds : 0;
  }
  return seconds;
}

double open_files() {
  std::error_code failed;
  const std::filesystem::directory_iterator files{"/proc/self/fd", failed};
  return failed ? 0 : static_cast<double>(std::distance(files, std::filesystem::directory_iterator{}));
}

double most_files() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<double>(limit.rlim_cur) : 0;
}

void copy_process_metrics() {
  static const metrics::CounterFamily cpu_seconds{"process_cpu_seconds_total", "User and system CPU time, in seconds."};
  static const metrics::GaugeFamily threads{"process_threads", "Threads."};
  static const metrics::GaugeFamily start{"process_start_time_seconds", "Start of the process, in seconds since 1970."};
  static const metrics::GaugeFamily virtual_bytes{"process_virtual_memory_bytes", "Virtual memory."};
  static const metrics::GaugeFamily resident{"process_resident_memory_bytes", "Resident memory."};
  static const metrics::GaugeFamily files{"process_open_fds", "Open file descriptors."};
  static const metrics::GaugeFamily file_limit{"process_max_fds", "File descriptors that may be open."};
  static const metrics::GaugeFamily heap{"shiplog_heap_bytes", "Bytes that the process has allocated and not freed."};
  static const metrics::CounterFamily dropped{"shiplog_log_lines_dropped_total",
                                              "Log lines that were not written because the output was too slow."};
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const std::vector<std::string> stat = process_stat();
  cpu_seconds.with({}).set_total((stat_field(stat, 14) + stat_field(stat, 15)) / ticks);
  threads.with({}).set(stat_field(stat, 20));
  start.with({}).set(boot_seconds() + stat_field(stat, 22) / ticks);
  virtual_bytes.with({}).set(stat_field(stat, 23));
  resident.with({}).set(stat_field(stat, 24) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  files.with({}).set(open_files());
  file_limit.with({}).set(most_files());
  heap.with({}).set(static_cast<double>(heap_bytes()));
  dropped.with({}).set_total(log::dropped());
}

/// Labels as upstream's, of which those remain that a reproducible C++ build knows.
void set_build_info() {
  static const metrics::GaugeFamily build{
      "karmada_build_info", "1; the labels name the build.", {"git_version", "compiler", "platform"}};
  utsname system{};
  ::uname(&system);
  build.with({"v" SHIPLOG_VERSION, "gcc " __VERSION__, std::string{"linux/"} + system.machine}).set(1);
}

}  // namespace

std::unique_ptr<metrics::ScrapeHook> export_process_metrics() {
  set_build_info();
  return std::make_unique<metrics::ScrapeHook>(copy_process_metrics);
}

}  // namespace shiplog
