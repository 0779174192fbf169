#include "apps/bench/row.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

namespace polyhalite_apps {

namespace {

using nlohmann::json;

template <typename... Args>
std::string format(const char *pattern, Args... args) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, args...);
  return text;
}

// Of the ratios that are there: how many, geometric mean, lowest.
std::string summary(const std::vector<double> &ratios) {
  if (ratios.empty()) return "";
  double logarithms = 0;
  for (const double r : ratios) logarithms += std::log(r);
  return format("%zu ratios, geometric mean %.2f, lowest %.2f", ratios.size(),
                std::exp(logarithms / static_cast<double>(ratios.size())),
                *std::min_element(ratios.begin(), ratios.end()));
}

json read_rows(const std::string &path) {
  std::ifstream file(path);
  const json rows = json::parse(file, nullptr, false);
  bool right = rows.is_array();
  for (size_t i = 0; right && i < rows.size(); i++) {
    right = rows[i].is_object() && rows[i].contains("name") && rows[i].contains("threads");
  }
  if (!right) throw std::runtime_error(path + " is no file that --json wrote");
  return rows;
}

}  // namespace

double Row::ratio() const {
  double best = 0;
  for (const PeerTime &p : peers) best = best == 0 ? p.seconds : std::min(best, p.seconds);
  return ours > 0 ? best / ours : 0;
}

json to_json(const std::vector<Row> &rows) {
  json result = json::array();
  for (const Row &row : rows) {
    json common = {
        {"name", row.name}, {"shape", row.shape}, {"type", row.type}, {"threads", row.threads}};
    if (!row.failure.empty()) {
      common["failure"] = row.failure;
      result.push_back(common);
      continue;
    }
    common["ours_ms"] = row.ours * 1e3;
    common["percent_of_peak"] = row.percent_of_peak > 0 ? json(row.percent_of_peak) : json();
    common["rate"] = row.rate;
    common["unit"] = row.unit;
    common["repeated_rounds"] = row.repeated;
    for (const PeerTime &p : row.peers) {
      json one = common;
      one["peer"] = p.name;
      one["peer_ms"] = p.seconds * 1e3;
      one["ratio"] = p.seconds / row.ours;
      result.push_back(one);
    }
    if (row.peers.empty()) {
      common["peer"] = common["peer_ms"] = common["ratio"] = json();
      result.push_back(common);
    }
  }
  return result;
}

std::string table_of(const std::vector<Row> &rows) {
  std::string text = format("%-26s %-18s %-6s %7s %10s %16s %5s %6s  %s\n", "name", "shape", "type",
                            "threads", "ms", "rate", "peak", "ratio", "peers: ms (ratio)");
  std::map<int, std::vector<double>> ratios;
  for (const Row &row : rows) {
    text += format("%-26s %-18s %-6s %7d ", row.name.c_str(), row.shape.c_str(), row.type.c_str(),
                   row.threads);
    if (!row.failure.empty()) {
      text += row.failure + "\n";
      continue;
    }
    text += format("%10.4g ", row.ours * 1e3);
    text += row.rate > 0 ? format("%8.1f %-7s ", row.rate, row.unit.c_str()) : format("%17s", "");
    text += row.percent_of_peak > 0 ? format("%4.0f%% ", row.percent_of_peak) : format("%6s", "");
    if (!row.peers.empty()) {
      text += format("%6.2f ", row.ratio());
      ratios[row.threads].push_back(row.ratio());
    }
    for (const PeerTime &p : row.peers) {
      text += format(" %s %.4g (%.2f)", p.name.c_str(), p.seconds * 1e3, p.seconds / row.ours);
    }
    if (row.repeated > 0) text += format("  %d rounds repeated", row.repeated);
    text += "\n";
  }
  for (const auto &[threads, all] : ratios) {
    text += format("%d thread%s: ", threads, threads == 1 ? "" : "s") + summary(all) +
            " (best peer's time by ours)\n";
  }
  return text;
}

std::string compare_files(const std::string &before, const std::string &after) {
  // Of each row its best peer's entry.
  using Key = std::tuple<std::string, std::string, std::string, int>;
  const auto best = [](const json &rows) {
    std::map<Key, json> found;
    for (const json &row : rows) {
      if (!row.contains("ours_ms")) continue;
      json &entry = found[{row["name"], row.value("shape", ""), row.value("type", ""),
                           row["threads"].get<int>()}];
      if (entry.is_null() || (row["ratio"].is_number() && row["ratio"] < entry["ratio"])) {
        entry = row;
      }
    }
    return found;
  };
  const auto old_rows = best(read_rows(before)), new_rows = best(read_rows(after));
  std::string text = format("%-26s %-18s %-6s %7s %21s %7s %15s %15s\n", "name", "shape", "type",
                            "threads", "ms before, now", "speed", "ratio", "peak");
  std::vector<double> gains;
  const auto pair = [](const json &a, const json &b, const char *key, const char *pattern) {
    if (!a[key].is_number() || !b[key].is_number()) return std::string();
    return format(pattern, a[key].get<double>(), b[key].get<double>());
  };
  for (const auto &[key, now] : new_rows) {
    const auto at = old_rows.find(key);
    if (at == old_rows.end()) continue;
    const json &then = at->second;
    const double speed = then["ours_ms"].get<double>() / now["ours_ms"].get<double>();
    gains.push_back(speed);
    const auto &[name, shape, type, threads] = key;
    text += format("%-26s %-18s %-6s %7d %21s %7.2f %15s %15s\n", name.c_str(), shape.c_str(),
                   type.c_str(), threads, pair(then, now, "ours_ms", "%.4g %10.4g").c_str(), speed,
                   pair(then, now, "ratio", "%.2f -> %.2f").c_str(),
                   pair(then, now, "percent_of_peak", "%.0f%% -> %.0f%%").c_str());
  }
  for (const auto &[key, row] : old_rows) {
    if (!new_rows.count(key))
      text += "only before: " + std::get<0>(key) + " " + std::get<1>(key) + "\n";
  }
  for (const auto &[key, row] : new_rows) {
    if (!old_rows.count(key))
      text += "only now: " + std::get<0>(key) + " " + std::get<1>(key) + "\n";
  }
  if (gains.empty()) return text + "the files have no row in common\n";
  return text + "time before by time now: " + summary(gains) + "\n";
}

}  // namespace polyhalite_apps
