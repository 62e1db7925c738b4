#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "events/base/json.h"
#include "events/base/result.h"
#include "events/base/value.h"

// Shared by the programs of this folder. A figure is written to the table on standard output and, with --json=FILE, as
// one line of JSON to FILE.
namespace shiplog::bench {

/// Wall-clock time and processor time of all threads of this process: on a busy machine the latter is comparable.
struct Time {
  double wall = 0;
  double cpu = 0;
  static Time now() {
    const auto wall = std::chrono::steady_clock::now().time_since_epoch();
    return {std::chrono::duration<double>(wall).count(), static_cast<double>(std::clock()) / CLOCKS_PER_SEC};
  }
  Time since(const Time& start) const { return {wall - start.wall, cpu - start.cpu}; }
};

class Figures {
 public:
  explicit Figures(const std::string& json_file) {
    if (json_file.empty()) return;
    file_ = std::fopen(json_file.c_str(), "ae");
    if (file_ == nullptr) {
      std::fprintf(stderr, "cannot write %s\n", json_file.c_str());
      std::exit(1);
    }
  }
  Figures(const Figures&) = delete;
  Figures& operator=(const Figures&) = delete;
  ~Figures() {
    if (file_ != nullptr) std::fclose(file_);
  }

  static void heading(const std::string& text) { std::printf("\n%s\n", text.c_str()); }

  /// `count` operations in this time. `of`: the path of design section 9 that it belongs to, or "machine".
  void rate(const std::string& of, const std::string& what, size_t count, const Time& took) {
    const double number = static_cast<double>(count);
    std::printf("%-58s %12.0f/s %14.2f us of CPU each\n", what.c_str(), number / took.wall, took.cpu / number * 1e6);
    write(of, what, {{"per_second", number / took.wall}, {"cpu_us_each", took.cpu / number * 1e6}});
  }
  void seconds(const std::string& of, const std::string& what, const Time& took) {
    std::printf("%-58s %12.3f s %14.3f s of CPU\n", what.c_str(), took.wall, took.cpu);
    write(of, what, {{"seconds", took.wall}, {"cpu_seconds", took.cpu}});
  }
  void value(const std::string& of, const std::string& what, double number, const std::string& unit) {
    std::printf("%-58s %14.2f %s\n", what.c_str(), number, unit.c_str());
    write(of, what, {{unit, number}});
  }

 private:
  void write(const std::string& of, const std::string& what,
             const std::vector<std::pair<std::string, double>>& numbers) {
    std::fflush(stdout);
    if (file_ == nullptr) return;
    Value line = Value::object({{"of", of}, {"what", what}});
    for (const auto& [unit, number] : numbers) line.set(unit, number);
    std::fprintf(file_, "%s\n", to_json(line).c_str());
    std::fflush(file_);
  }

  std::FILE* file_ = nullptr;
};

/// "--name=value" among the arguments, or `fallback`.
inline std::string option(int argc, char** argv, const std::string& name, const std::string& fallback = {}) {
  const std::string prefix = "--" + name + "=";
  for (int index = 1; index < argc; ++index) {
    const std::string_view argument = argv[index];
    if (argument.starts_with(prefix)) return std::string{argument.substr(prefix.size())};
  }
  return fallback;
}

template <class T>
T or_exit(Result<T> result) {
  if (result) return std::move(result).value();
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}
inline void or_exit(const Result<void>& result) {
  if (result) return;
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

}  // namespace shiplog::bench
