// Records what pipelines would run on a card as jobs for run_ptx.py: record_gpu_jobs FOLDER
//
// Each program runs here against a driver that is played: its PTX, its launches and what its
// buffers begin with become FOLDER/NAME.json and files beside it; what its output must hold is
// computed on the processor.
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

using namespace polyhalite;  // NOLINT: a program of its own

namespace {

struct Job {
  std::string name;
  std::function<Func(bool on_gpu)> make;
  std::vector<int> extents;
  double flops = 0, bytes = 0, tolerance = 0;
};

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
  const Func on_gpu = job.make(true);
  Buffer<float> out(job.extents);
  Func(on_gpu).realize(out, target);
  const uint64_t result = out.raw_buffer()->device;
  Buffer<float> expected = job.make(false).realize(job.extents);
  std::string buffers;
  for (const auto &[address, m] : memory) {
    const auto &[name, held] = m;
    buffers += (buffers.empty() ? "" : ",\n    ") + std::string("\"") + name +
               "\": {\"type\": \"float32\", ";
    const bool is_written = address == result;
    if (is_written) {
      const std::string file = job.name + ".expected";
      write(folder / file, expected.data(), expected.size_in_bytes());
      buffers += "\"elements\": " + std::to_string(held.size() / 4) + ", \"expected\": \"" + file +
                 "\", \"tolerance\": " + std::to_string(job.tolerance) + "}";
    } else {
      const std::string file = job.name + "." + name;
      write(folder / file, held.data(), held.size());
      buffers += "\"file\": \"" + file + "\"}";
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

Buffer<float> noise(const std::vector<int> &extents) {
  Buffer<float> b(extents);
  uint32_t state = 1;
  b.for_each_value([&](float &v) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
  });
  return b;
}

const Var x("x"), y("y"), xi("xi"), yi("yi"), xt("xt"), yt("yt");

Func copy(const Buffer<float> &in, bool on_gpu) {
  Func f("copied");
  f(x, y) = in(x, y);
  if (on_gpu) f.gpu_tile(x, y, xi, yi, 128, 2);
  if (!on_gpu) f.vectorize(x, 16).parallel(y);
  return f;
}

Func blur(const Buffer<float> &in, bool on_gpu) {
  Func sum("sum"), f("blur");
  sum(x, y) = in(x, y) + in(x + 1, y) + in(x + 2, y);
  f(x, y) = (sum(x, y) + sum(x, y + 1) + sum(x, y + 2)) * (1.0f / 9);
  if (on_gpu) f.gpu_tile(x, y, xi, yi, 128, 2);
  if (!on_gpu) f.vectorize(x, 16).parallel(y);
  return f;
}

Func product(const Buffer<float> &a, const Buffer<float> &b, bool on_gpu) {
  Func p("product"), f("out");
  RDom k(0, a.width());
  p(x, y) += a(k, y) * b(x, k);
  f(x, y) = p(x, y);
  if (on_gpu) {
    f.tile(x, y, xi, yi, 64, 64)
        .tile(xi, yi, xt, yt, xi, yi, 4, 4)
        .gpu_blocks(x, y)
        .gpu_threads(xt, yt)
        .unroll(xi)
        .unroll(yi);
    p.compute_at(f, xt).unroll(x).unroll(y);
    p.update().reorder(x, y, k).unroll(x).unroll(y);
  } else {
    f.vectorize(x, 16).parallel(y);
    p.compute_at(f, y).vectorize(x, 16);
    p.update().reorder(x, k, y).vectorize(x, 16);
  }
  return f;
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
  const Buffer<float> image = noise({kSize + 2, kSize + 2});
  const Buffer<float> a = noise({kMatrix, kMatrix}), b = noise({kMatrix, kMatrix});
  constexpr double kPixels = double{kSize} * kSize;
  try {
    record({"copy", [&](bool g) { return copy(image, g); }, {kSize, kSize}, 0, 8 * kPixels, 0},
           folder);
    record({"blur", [&](bool g) { return blur(image, g); }, {kSize, kSize}, 0, 8 * kPixels, 1e-6},
           folder);
    record({"matmul_f32",
            [&](bool g) { return product(a, b, g); },
            {kMatrix, kMatrix},
            2.0 * kMatrix * kMatrix * kMatrix,
            0,
            1e-4},
           folder);
  } catch (const Error &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
