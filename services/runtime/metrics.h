#pragma once

#include <functional>
#include <map>
#include <string>

namespace shiplog {

/// Numbers about this process, in Prometheus' text format. Threads: any.
class Metrics {
 public:
  using Labels = std::map<std::string, std::string>;

  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void count(const std::string& name, const std::string& help, const Labels& labels = {}, double by = 1);
  /// A distribution of durations; the value is in seconds.
  void observe(const std::string& name, const std::string& help, const Labels& labels, double seconds);
  /// Asked each time the text is made.
  void gauge(const std::string& name, const std::string& help, std::function<double()> read);
  std::string text();

 private:
  struct Impl;
  Impl* impl_;
};

}  // namespace shiplog
