// What is asked of an auto-scheduler.
#pragma once

#include <map>
#include <string>

namespace polyhalite {

/// No auto-scheduler where the name is empty. `extra` holds its own options.
struct AutoschedulerParams {
  std::string name;
  std::map<std::string, std::string> extra;

  AutoschedulerParams() = default;
  explicit AutoschedulerParams(const std::string &name) : name(name) {}
  AutoschedulerParams(const std::string &name, const std::map<std::string, std::string> &extra)
      : name(name), extra(extra) {}
};

}  // namespace polyhalite
