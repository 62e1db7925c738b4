#include "services/programs/member/log_lines.h"

#include <algorithm>

#include "events/base/hash.h"

namespace shiplog::member {
namespace {

constexpr int64_t kOpening = 2;  // lines at the start

}  // namespace

LogLines::LogLines(const Value& pod, const Value& container, UtcMillis started, std::optional<UtcMillis> finished)
    : name_{container["name"].str()},
      image_{container["image"].str()},
      node_{pod["spec"]["nodeName"].str()},
      address_{pod["status"]["podIP"].str()},
      seed_{siphash128(pod["metadata"]["uid"].str() + "/" + name_).lo},
      started_{started},
      finished_{finished} {
  for (const Value& port : container["ports"].items()) {
    ports_ += (ports_.empty() ? "" : " ") + std::to_string(port["containerPort"].as_int());
  }
}

int64_t LogLines::count(UtcMillis now) const {
  const UtcMillis until = finished_ ? *finished_ : now;
  const int64_t beats = std::max<int64_t>(0, (until - started_).value / kInterval.value);
  return kOpening + beats + (finished_ ? 1 : 0);
}

LogLine LogLines::line(int64_t number) const {
  if (number == 0) {
    return {started_, "level=info msg=\"container started\" container=" + name_ + " image=" + image_ + " node=" + node_};
  }
  if (number == 1) {
    return {started_, ports_.empty() ? "level=info msg=ready address=" + address_
                                     : "level=info msg=listening address=" + address_ + " ports=\"" + ports_ + "\""};
  }
  if (finished_ && number + 1 == count(*finished_)) return {*finished_, "level=info msg=completed exit=0"};
  const int64_t beat = number - kOpening + 1;
  const uint64_t draw = siphash128(std::to_string(seed_) + "/" + std::to_string(beat)).lo;
  return {started_ + Millis{beat * kInterval.value},
          "level=info msg=heartbeat uptime=" + std::to_string(beat * kInterval.value / 1000) +
              "s requests=" + std::to_string(20 + draw % 180) + " errors=" + std::to_string((draw >> 20U) % 16 == 0 ? 1 : 0) +
              " latency_ms=" + std::to_string(1 + (draw >> 8U) % 40)};
}

int64_t LogLines::first_since(UtcMillis time) const {
  const int64_t all = count(time);
  for (int64_t number = std::max<int64_t>(0, all - 2); number < all; ++number) {
    if (line(number).time >= time) return number;
  }
  return time <= started_ ? 0 : all;
}

std::optional<UtcMillis> LogLines::next(UtcMillis now) const {
  if (finished_) return std::nullopt;
  const int64_t beats = std::max<int64_t>(0, (now - started_).value / kInterval.value);
  return started_ + Millis{(beats + 1) * kInterval.value};
}

}  // namespace shiplog::member
