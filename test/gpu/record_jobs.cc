// Records what pipelines would run on a card as jobs for run_ptx.py: record_gpu_jobs FOLDER
//
// Each program runs here against a driver that is played: its PTX, its launches and what its
// buffers begin with become FOLDER/NAME.json and a file of PTX beside it. What its output must hold
// at some points is computed here in float64, so that the folder stays small enough to travel.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "lang/abi/polyhalite_cuda.h"
#include "polyhalite/polyhalite.h"
#include "test/support/fake_cuda.h"
#include "test/support/half_product.h"
#include "test/support/register_product.h"

using namespace polyhalite;  // NOLINT: a program of its own

namespace {

struct Job {
  std::string name;
  std::function<Func()> make;
  std::vector<int> extents;
  std::function<double(int x, int y)> expected;
  double flops = 0, bytes = 0, tolerance = 0;
};

// Element i of what inputs hold: numbers in [-1/2, 1/2) that a float16 has, in a period that is
// prime. run_ptx.py makes the same ones.
constexpr uint32_t kNoisePeriod = 65521;
float noise_at(size_t i) {
  static const std::vector<float> kTable = [] {
    std::vector<float> table;
    uint32_t state = 1;
    for (uint32_t k = 0; k < kNoisePeriod; k++) {
      state = state * 1664525u + 1013904223u;
      table.push_back(static_cast<float>(state >> 24) * 0x1p-8f - 0.5f);
    }
    return table;
  }();
  return kTable[i % kNoisePeriod];
}

template <typename T>
bool is_noise(const std::vector<uint8_t> &held) {
  for (size_t i = 0; i < held.size() / sizeof(T); i++) {
    const T v(noise_at(i));
    if (std::memcmp(&v, held.data() + i * sizeof v, sizeof v) != 0) return false;
  }
  return true;
}

void write(const std::filesystem::path &path, const void *data, size_t bytes) {
  std::ofstream(path, std::ios::binary)
      .write(static_cast<const char *>(data), static_cast<std::streamsize>(bytes));
}

// "u64 u64 u32": the types of an entry's parameters.
std::vector<std::string> parameters(const std::string &ptx, const std::string &kernel) {
  std::vector<std::string> types;
  const size_t begin = ptx.find(".entry " + kernel + "(");
  std::istringstream lines(ptx.substr(begin, ptx.find("\n)", begin) - begin));
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find(".param .");
    if (at != std::string::npos)
      types.push_back(line.substr(at + 8, line.find(' ', at + 8) - at - 8));
  }
  return types;
}

std::string number(const std::string &type, const void *value) {
  std::ostringstream text;
  text.precision(17);
  if (type == "f32") {
    float v;
    std::memcpy(&v, value, sizeof v);
    text << "{\"float32\": " << v << "}";
  } else if (type == "u32") {
    int32_t v;
    std::memcpy(&v, value, sizeof v);
    text << "{\"int32\": " << v << "}";
  } else {
    int64_t v = 0;
    const int bits = std::stoi(type.substr(1));
    std::memcpy(&v, value, static_cast<size_t>(bits / 8));
    text << "{\"uint" << bits << "\": " << v << "}";
  }
  return text.str();
}

std::string three(const std::array<int, 3> &n) {
  return "[" + std::to_string(n[0]) + ", " + std::to_string(n[1]) + ", " + std::to_string(n[2]) +
         "]";
}

// "[index, value], ..." of elements all over the output.
std::string points(const Job &job) {
  constexpr uint32_t kPoints = 2000;
  std::ostringstream text;
  text.precision(17);
  uint32_t state = 1;
  auto below = [&](int n) {
    state = state * 1664525u + 1013904223u;
    return static_cast<int>((uint64_t{state} * static_cast<uint64_t>(n)) >> 32);
  };
  for (uint32_t p = 0; p < kPoints; p++) {
    const int width = job.extents[0], px = below(width), py = below(job.extents[1]);
    text << (p ? ", [" : "[") << int64_t{py} * width + px << ", " << job.expected(px, py) << "]";
  }
  return text.str();
}

void record(const Job &job, const std::filesystem::path &folder) {
  FakeCuda card;
  const Target target =
      get_host_target().with_feature(Target::CUDA).with_feature(Target::CUDACapability80);
  struct Memory {
    std::string name;
    std::vector<uint8_t> begin;  // what it held when it was first used
  };
  std::map<uint64_t, Memory> memory;  // by address
  std::string launches;
  card.every_kernel = [&](const FakeCuda::Launch &l, void **args) {
    std::string list;
    const auto types = parameters(card.loaded.back(), l.kernel);
    for (size_t i = 0; i < types.size(); i++) {
      uint64_t address = 0;
      if (types[i] == "u64") std::memcpy(&address, args[i], sizeof address);
      const std::vector<uint8_t> held = card.contents(address);
      list += i ? ", " : "";
      if (held.empty()) {
        list += number(types[i], args[i]);
        continue;
      }
      memory.try_emplace(address, Memory{"b" + std::to_string(memory.size()), held});
      list += "\"" + memory.at(address).name + "\"";
    }
    launches += (launches.empty() ? "" : ",\n    ") + std::string("{\"kernel\": \"") + l.kernel +
                "\", \"blocks\": " + three(l.blocks) + ", \"threads\": " + three(l.threads) +
                ", \"shared_bytes\": " + std::to_string(l.shared_bytes) + ", \"args\": [" + list +
                "]}";
  };
  const Func on_gpu = job.make();
  Buffer<float> out(job.extents);
  Func(on_gpu).realize(out, target);
  const uint64_t result = out.raw_buffer()->device;
  std::string buffers;
  for (const auto &[address, m] : memory) {
    const auto &[name, held] = m;
    buffers += (buffers.empty() ? "" : ",\n    ") + std::string("\"") + name + "\": {\"type\": \"";
    if (address == result) {
      buffers += "float32\", \"elements\": " + std::to_string(held.size() / 4) +
                 ", \"tolerance\": " + std::to_string(job.tolerance) + ", \"points\": [" +
                 points(job) + "]}";
    } else if (is_noise<float>(held)) {
      buffers += "float32\", \"elements\": " + std::to_string(held.size() / 4) + ", \"noise\": 1}";
    } else if (is_noise<float16_t>(held)) {
      buffers += "float16\", \"elements\": " + std::to_string(held.size() / 2) + ", \"noise\": 1}";
    } else {
      const std::string file = job.name + "." + name;
      write(folder / file, held.data(), held.size());
      buffers += "float32\", \"file\": \"" + file + "\"}";
    }
  }
  const std::string ptx = card.loaded.back();
  write(folder / (job.name + ".ptx"), ptx.data(), ptx.size());
  std::ofstream(folder / (job.name + ".json"))
      << "{\"ptx\": \"" << job.name << ".ptx\",\n \"launches\": [\n    " << launches
      << "],\n \"buffers\": {\n    " << buffers << "},\n \"rounds\": 20, \"flops\": " << job.flops
      << ", \"bytes\": " << job.bytes << "}\n";
  std::printf("%s: %zu launches\n", job.name.c_str(), card.launches.size());
}

template <typename T>
Buffer<T> noise(const std::vector<int> &extents) {
  Buffer<T> b(extents);
  size_t i = 0;
  b.for_each_value([&](T &v) { v = T(noise_at(i++)); });
  return b;
}

const Var x("x"), y("y"), xi("xi"), yi("yi");

Func copy(const Buffer<float> &in) {
  Func f("copied");
  f(x, y) = in(x, y);
  f.gpu_tile(x, y, xi, yi, 128, 2);
  return f;
}

Func blur(const Buffer<float> &in) {
  Func sum("sum"), f("blur");
  sum(x, y) = in(x, y) + in(x + 1, y) + in(x + 2, y);
  f(x, y) = (sum(x, y) + sum(x, y + 1) + sum(x, y + 2)) * (1.0f / 9);
  f.gpu_tile(x, y, xi, yi, 128, 2);
  return f;
}

Func product(const Buffer<float> &a, const Buffer<float> &b) {
  Func p("product"), f("out");
  RDom k(0, a.width());
  p(x, y) += a(k, y) * b(x, k);
  f(x, y) = p(x, y);
  schedule_in_registers(f, p, k, 64);
  return f;
}

Func half_product(const Buffer<float16_t> &a, const Buffer<float16_t> &b,
                  const ProductTiles &tiles) {
  HalfProduct p([=](const Expr &k, const Expr &m) { return a(k, m); },
                [=](const Expr &n, const Expr &k) { return b(n, k); }, a.width());
  p.schedule(a.height(), b.width(), tiles);
  return p.c;
}

template <typename T>
std::function<double(int, int)> sum_of_products(const Buffer<T> &a, const Buffer<T> &b) {
  return [=](int i, int j) {
    double sum = 0;
    for (int k = 0; k < a.width(); k++) {
      sum += static_cast<double>(static_cast<float>(a(k, j))) *
             static_cast<double>(static_cast<float>(b(i, k)));
    }
    return sum;
  };
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: record_gpu_jobs FOLDER\n");
    return 1;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  constexpr int kSize = 4096, kMatrix = 1024;
  const auto image = noise<float>({kSize + 2, kSize + 2});
  const auto a = noise<float>({kMatrix, kMatrix}), b = noise<float>({kMatrix, kMatrix});
  const auto half_a = noise<float16_t>({kSize, kSize}), half_b = noise<float16_t>({kSize, kSize});
  constexpr double kPixels = double{kSize} * kSize;
  auto pixel = [&](int i, int j) { return static_cast<double>(image(i, j)); };
  auto blurred = [&](int i, int j) {
    double sum = 0;
    for (int d = 0; d < 9; d++) sum += image(i + d % 3, j + d / 3);
    return sum / 9;
  };
  auto flops = [](double n) { return 2 * n * n * n; };
  try {
    record({"copy", [&] { return copy(image); }, {kSize, kSize}, pixel, 0, 8 * kPixels, 0}, folder);
    record({"blur", [&] { return blur(image); }, {kSize, kSize}, blurred, 0, 8 * kPixels, 1e-6},
           folder);
    record({"matmul_f32",
            [&] { return product(a, b); },
            {kMatrix, kMatrix},
            sum_of_products(a, b),
            flops(kMatrix),
            0,
            1e-4},
           folder);
    // The same schedule with steps that wait for their loads, and with copies ahead.
    for (const int stages : {1, 2, 3, 4}) {
      ProductTiles tiles;
      tiles.stages = stages;
      record({"matmul_f16_" + std::to_string(stages) + "_stages",
              [&] { return half_product(half_a, half_b, tiles); },
              {kSize, kSize},
              sum_of_products(half_a, half_b),
              flops(kSize),
              0,
              1e-3},
             folder);
    }
  } catch (const Error &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
