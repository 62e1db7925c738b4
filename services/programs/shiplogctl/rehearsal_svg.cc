#include <algorithm>
#include <string>

#include "events/base/utf8.h"
#include "services/programs/shiplogctl/rehearsal_text.h"

namespace shiplog::ctl {
namespace {

constexpr int kWidth = 960;
constexpr int kLeft = 60, kRight = 20;
constexpr int kTop = 60, kPlot = 240;
constexpr int kRowHeight = 20;
constexpr size_t kMostRows = 40;
constexpr size_t kLongestText = 120;

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

double number_of(const Value& value) { return value.as_double(static_cast<double>(value.as_int())); }

std::string text_at(int x, int y, std::string_view text, const char* more = "") {
  return "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\"" + more + ">" + xml_escaped(text) +
         "</text>\n";
}

std::string line_between(int x1, int y1, int x2, int y2, const char* more) {
  return "<line x1=\"" + std::to_string(x1) + "\" y1=\"" + std::to_string(y1) + "\" x2=\"" + std::to_string(x2) +
         "\" y2=\"" + std::to_string(y2) + "\" " + more + "/>\n";
}

/// The time that the picture spans: until the last thing happened, and a little more.
double span_of(const Value& report) {
  double last = 1;
  for (const Value& row : report["timeline"].items()) last = std::max(last, number_of(row["untilSeconds"]));
  for (const Value& sample : report["health"].items()) last = std::max(last, number_of(sample["atSeconds"]));
  return last * 1.05;
}

struct ChartScale {
  double span = 1, most = 1;
  int x(double at) const { return kLeft + static_cast<int>(at / span * (kWidth - kLeft - kRight)); }
  int y(double count) const { return kTop + kPlot - static_cast<int>(count / most * kPlot); }
};

/// Steps: a sample holds until the next one.
std::string curve(const Value& report, const char* field, const ChartScale& scale, const char* colour) {
  std::string points;
  int last_y = scale.y(0);
  for (const Value& sample : report["health"].items()) {
    const std::string x = std::to_string(scale.x(number_of(sample["atSeconds"])));
    const int y = scale.y(number_of(sample[field]));
    points += x + "," + std::to_string(last_y) + " " + x + "," + std::to_string(y) + " ";
    last_y = y;
  }
  points += std::to_string(scale.x(scale.span)) + "," + std::to_string(last_y);
  return "<polyline fill=\"none\" stroke=\"" + std::string{colour} + "\" stroke-width=\"2\" points=\"" + points +
         "\"/>\n";
}

}  // namespace

std::string rehearsal_svg(const Value& report) {
  const auto rows = report["timeline"].items();
  const size_t shown = std::min(rows.size(), kMostRows);
  ChartScale scale;
  scale.span = span_of(report);
  for (const Value& sample : report["health"].items()) {
    scale.most = std::max({scale.most, number_of(sample["unhealthy"]), number_of(sample["evicting"])});
  }
  const int list = kTop + kPlot + 50;
  const int height = list + static_cast<int>(shown + 1) * kRowHeight + 10;
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(kWidth) + "\" height=\"" +
                    std::to_string(height) + "\" viewBox=\"0 0 " + std::to_string(kWidth) + " " +
                    std::to_string(height) + "\" font-family=\"sans-serif\" font-size=\"12\">\n";
  svg += "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  const Value& healthy = report["allHealthyAfterSeconds"];
  svg += text_at(kLeft, 24,
                 "Rehearsal at revision " + std::to_string(report["revision"].as_int()) + ": " +
                     std::to_string(report["failedClusters"].size()) + " clusters fail, " +
                     std::to_string(report["workloads"].size()) + " workloads concerned, " +
                     (healthy.is_null() ? "not all healthy after " + after_text(report["lengthSeconds"])
                                        : "all healthy after " + after_text(healthy)),
                 " font-size=\"15\" font-weight=\"bold\"");
  svg += text_at(kLeft, 44, "unhealthy workloads", " fill=\"#c0392b\"");
  svg += text_at(kLeft + 150, 44, "workloads that leave a cluster", " fill=\"#2471a3\"");
  svg += line_between(kLeft, kTop + kPlot, kWidth - kRight, kTop + kPlot, "stroke=\"#555\"");
  svg += line_between(kLeft, kTop, kLeft, kTop + kPlot, "stroke=\"#555\"");
  svg += text_at(8, kTop + 10, std::to_string(static_cast<int64_t>(scale.most)));
  svg += text_at(8, kTop + kPlot, "0");
  constexpr int kTicks = 6;
  for (int tick = 0; tick <= kTicks; ++tick) {
    const double at = scale.span * tick / kTicks;
    svg += line_between(scale.x(at), kTop + kPlot, scale.x(at), kTop + kPlot + 5, "stroke=\"#555\"");
    svg += text_at(scale.x(at) - 10, kTop + kPlot + 20, after_text(Value{at}));
  }
  svg += curve(report, "evicting", scale, "#2471a3");
  svg += curve(report, "unhealthy", scale, "#c0392b");
  for (size_t at = 0; at < shown; ++at) {
    const Value& row = rows[at];
    const int x = scale.x(number_of(row["atSeconds"]));
    const int y = list + static_cast<int>(at) * kRowHeight;
    svg += line_between(x, kTop, x, kTop + kPlot, "stroke=\"#bbb\" stroke-dasharray=\"2,3\"");
    svg += text_at(kLeft, y, "+" + after_text(row["atSeconds"]));
    svg += text_at(kLeft + 70, y, printable(row["text"].as_string(), kLongestText));
  }
  if (shown < rows.size()) {
    svg += text_at(kLeft, list + static_cast<int>(shown) * kRowHeight,
                   "... and " + std::to_string(rows.size() - shown) + " more");
  }
  return svg + "</svg>\n";
}

}  // namespace shiplog::ctl
