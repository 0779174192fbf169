#include "apps/demo/show_ptx.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <vector>

namespace polyhalite_apps {
namespace {

struct Kernel {
  std::string name, body;
};

std::vector<Kernel> kernels_of(const std::string &ptx) {
  const std::string entry = ".entry ";
  std::vector<Kernel> kernels;
  for (size_t at = ptx.find(entry); at != std::string::npos;) {
    const size_t name = at + entry.size(), next = ptx.find(entry, name);
    kernels.push_back(
        {ptx.substr(name, ptx.find('(', name) - name), ptx.substr(name, next - name)});
    at = next;
  }
  return kernels;
}

int count(const std::string &text, const std::string &word) {
  int n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) n++;
  return n;
}

// What ptxas says of each kernel: "Used 126 registers", "0 bytes spill stores".
std::map<std::string, std::string> remarks(const std::string &file) {
  std::map<std::string, std::string> found;
  const std::string command =
      "PATH=\"$PATH:/usr/local/cuda/bin\" ptxas -v -arch=sm_80 '" + file + "' -o /dev/null 2>&1";
  std::string log;
  if (FILE *pipe = popen(command.c_str(), "r")) {
    char part[4096];
    while (std::fgets(part, sizeof part, pipe)) log += part;
    if (pclose(pipe) != 0) return found;
  }
  std::istringstream lines(log);
  std::string kernel;
  for (std::string line; std::getline(lines, line);) {
    const std::string about = "Compiling entry function '";
    if (const size_t at = line.find(about); at != std::string::npos) {
      kernel =
          line.substr(at + about.size(), line.find('\'', at + about.size()) - at - about.size());
    }
    auto number_before = [&](const std::string &words) {
      const size_t at = line.find(words);
      if (at == std::string::npos) return std::string();
      const size_t first = line.find_last_of(' ', at - 1) + 1;
      return line.substr(first, at - first) + words;
    };
    for (const char *words : {" bytes spill stores", " registers"}) {
      const std::string text = number_before(words);
      if (!text.empty()) found[kernel] += (found[kernel].empty() ? "" : ", ") + text;
    }
  }
  return found;
}

}  // namespace

std::string table_of_kernels(const std::string &ptx, const std::string &file) {
  const std::map<std::string, std::string> assembled = remarks(file);
  char line[256];
  std::snprintf(line, sizeof line, "%-28s %8s %9s %9s %9s  %s\n", "kernel", "mma.sync", "ldmatrix",
                "cp.async", "bar.sync", "ptxas, sm_80");
  std::string table = line;
  for (const Kernel &k : kernels_of(ptx)) {
    const auto said = assembled.find(k.name);
    std::snprintf(
        line, sizeof line, "%-28s %8d %9d %9d %9d  %s\n", k.name.c_str(), count(k.body, "mma.sync"),
        count(k.body, "ldmatrix.sync"), count(k.body, "cp.async.ca") + count(k.body, "cp.async.cg"),
        count(k.body, "bar.sync"), said == assembled.end() ? "not here" : said->second.c_str());
    table += line;
  }
  return table;
}

std::string first_lines(const std::string &ptx, int count) {
  std::istringstream lines(ptx);
  std::string text;
  for (std::string line; count > 0 && std::getline(lines, line);) {
    if (line.empty() || line.compare(0, 2, "//") == 0) continue;
    text += line + "\n";
    count--;
  }
  return text;
}

}  // namespace polyhalite_apps
