#include "apps/bench/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace polyhalite_apps {

namespace {

constexpr double kLeft = 330, kWidth = 560, kLine = 18, kTop = 40;
constexpr double kLowest = 0.25, kHighest = 8;  // of the axis; what lies beyond stands at its end
const char *const kColors[] = {"#c2410c", "#1d4ed8", "#15803d", "#7e22ce", "#be185d"};

std::string escaped(const std::string &text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      result += c;
    }
  }
  return result;
}

template <typename... Args>
std::string format(const char *pattern, Args... args) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, args...);
  return text;
}

double place(double ratio) {
  const double held = std::clamp(ratio, kLowest, kHighest);
  return kLeft + kWidth * std::log(held / kLowest) / std::log(kHighest / kLowest);
}

std::string plot(const std::vector<Row> &rows) {
  std::vector<std::string> names;
  std::vector<const Row *> shown;
  for (const Row &row : rows) {
    if (row.peers.empty() || !row.failure.empty()) continue;
    shown.push_back(&row);
    for (const PeerTime &p : row.peers) {
      if (std::find(names.begin(), names.end(), p.name) == names.end()) names.push_back(p.name);
    }
  }
  const double bottom = kTop + kLine * static_cast<double>(shown.size());
  std::string svg =
      format("<svg width='%.0f' height='%.0f' font-family='sans-serif' font-size='11'>",
             kLeft + kWidth + 40, bottom + 30);
  for (size_t i = 0; i < names.size(); i++) {
    const double x = kLeft + 120 * static_cast<double>(i);
    const char *color = kColors[i % std::size(kColors)];
    svg += format("<circle cx='%.0f' cy='12' r='4' fill='%s'/><text x='%.0f' y='16'>%s</text>", x,
                  color, x + 8, escaped(names[i]).c_str());
  }
  for (double tick = kLowest; tick <= kHighest; tick *= 2) {
    svg += format(
        "<line x1='%.1f' x2='%.1f' y1='%.0f' y2='%.0f' stroke='%s'/>"
        "<text x='%.1f' y='%.0f' text-anchor='middle'>%g</text>",
        place(tick), place(tick), kTop - 8, bottom, tick == 1 ? "#000" : "#ddd", place(tick),
        bottom + 16, tick);
  }
  for (size_t i = 0; i < shown.size(); i++) {
    const Row &row = *shown[i];
    const double y = kTop + kLine * static_cast<double>(i) + 6;
    const std::string label =
        row.name + " " + row.shape + " " + row.type +
        (row.threads == 1 ? "" : ", " + std::to_string(row.threads) + " threads");
    svg += format("<text x='%.0f' y='%.0f' text-anchor='end'>%s</text>", kLeft - 10, y + 4,
                  escaped(label).c_str());
    for (const PeerTime &p : row.peers) {
      const auto at = std::find(names.begin(), names.end(), p.name) - names.begin();
      const double ratio = p.seconds / row.ours;
      svg += format("<circle cx='%.1f' cy='%.0f' r='4' fill='%s'><title>%s: %.2f</title></circle>",
                    place(ratio), y, kColors[static_cast<size_t>(at) % std::size(kColors)],
                    escaped(p.name).c_str(), ratio);
    }
  }
  return svg + "</svg>";
}

}  // namespace

void write_report(const std::string &path, const std::vector<Row> &rows) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder);
  std::ofstream file(path);
  file << "<!DOCTYPE html><meta charset='utf-8'><title>Polyhalite beside its peers</title>"
          "<body style='font-family: sans-serif'><h1>Polyhalite beside its peers</h1>"
          "<p>A peer's time by ours, in one run, taking turns, medians: right of the line at 1 "
          "Polyhalite is faster.</p>"
       << plot(rows) << "<pre>" << escaped(table_of(rows)) << "</pre></body>\n";
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace polyhalite_apps
