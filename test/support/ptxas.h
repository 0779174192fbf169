// Assembles PTX with NVIDIA's ptxas, where there is one, and reads what came out: registers,
// spills, remarks, and the instructions of the machine code.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace polyhalite {

/// Numbers of instructions in machine code from compute capability 8.0 on: the low 12 bits.
enum Opcode : int {
  kHmma = 0x23c,
  kImma = 0x237,
  kHgmma = 0x9f0,
  kLdsm = 0x83b,
  kLdgsts = 0xfae,
  kStl = 0x387,
  kBar = 0xb1d,
};

struct Assembled {
  bool is_assembled = false;
  std::string log;                                    // what ptxas said, with -v
  std::map<std::string, std::map<int, int>> kernels;  // how often each opcode is in each kernel
  int count(int opcode) const {
    int n = 0;
    for (const auto &[name, opcodes] : kernels) {
      const auto at = opcodes.find(opcode);
      if (at != opcodes.end()) n += at->second;
    }
    return n;
  }
  /// The sum of the numbers in front of these words: "bytes spill stores".
  int total(const std::string &words) const {
    int sum = 0;
    for (size_t at = log.find(words); at != std::string::npos; at = log.find(words, at + 1)) {
      size_t first = log.find_last_not_of(' ', at - 1);
      while (first > 0 && std::isdigit(static_cast<unsigned char>(log[first - 1]))) first--;
      sum += std::atoi(log.c_str() + first);
    }
    return sum;
  }
};

/// "" where there is none in PATH or in CUDA's usual places.
inline std::string find_ptxas() {
  std::vector<std::string> folders;
  std::istringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');) folders.push_back(folder);
  std::error_code ignored;
  std::set<std::string> toolkits;
  for (const auto &entry : std::filesystem::directory_iterator("/usr/local", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.compare(0, 4, "cuda") == 0) toolkits.insert(entry.path().string() + "/bin");
  }
  folders.insert(folders.end(), toolkits.begin(), toolkits.end());
  for (const std::string &folder : folders) {
    const std::string file = folder + "/ptxas";
    if (std::filesystem::exists(file, ignored)) return file;
  }
  return "";
}

namespace detail {

template <typename T>
T read_at(const std::string &bytes, size_t offset) {
  T value{};
  if (offset + sizeof(T) <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// An ELF file's sections ".text.KERNEL": instructions of 128 bits.
inline std::map<std::string, std::map<int, int>> opcodes_of(const std::string &cubin) {
  std::map<std::string, std::map<int, int>> kernels;
  const auto table = read_at<uint64_t>(cubin, 0x28);
  const auto size = read_at<uint16_t>(cubin, 0x3a), count = read_at<uint16_t>(cubin, 0x3c);
  const auto names_index = read_at<uint16_t>(cubin, 0x3e);
  auto section = [&](size_t i) { return table + i * size; };
  const auto names = read_at<uint64_t>(cubin, section(names_index) + 0x18);
  for (size_t i = 0; i < count; i++) {
    const std::string name = cubin.c_str() + names + read_at<uint32_t>(cubin, section(i));
    if (name.compare(0, 6, ".text.") != 0) continue;
    const auto begin = read_at<uint64_t>(cubin, section(i) + 0x18);
    const auto length = read_at<uint64_t>(cubin, section(i) + 0x20);
    for (uint64_t at = begin; at + 16 <= begin + length; at += 16) {
      kernels[name.substr(6)][static_cast<int>(read_at<uint64_t>(cubin, at) & 0xfff)]++;
    }
  }
  return kernels;
}

}  // namespace detail

/// `architecture`: "sm_80".
inline Assembled assemble(const std::string &ptx, const std::string &architecture) {
  Assembled result;
  std::string folder = (std::filesystem::temp_directory_path() / "ptxas_XXXXXX").string();
  if (!mkdtemp(folder.data())) return result;
  std::ofstream(folder + "/kernels.ptx") << ptx;
  const std::string command = find_ptxas() + " -v --warn-on-spills -arch=" + architecture + " " +
                              folder + "/kernels.ptx -o " + folder + "/kernels.cubin 2>&1";
  if (FILE *pipe = popen(command.c_str(), "r")) {
    char line[4096];
    while (std::fgets(line, sizeof line, pipe)) result.log += line;
    result.is_assembled = pclose(pipe) == 0;
  }
  std::ifstream file(folder + "/kernels.cubin", std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (result.is_assembled) result.kernels = detail::opcodes_of(bytes.str());
  std::filesystem::remove_all(folder);
  return result;
}

}  // namespace polyhalite
