// rungen: runs a compiled pipeline on files and made-up inputs. It is linked with the pipeline's
// registration, which tells of it before main().
#include <CLI/CLI.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <random>

#include "apps/rungen/files.h"
#include "apps/rungen/filter.h"

namespace polyhalite::rungen {

namespace {

struct Registered {
  int (*function)(void **);
  const Metadata *metadata;
};

std::map<std::string, Registered> &registered() {
  static std::map<std::string, Registered> map;
  return map;
}

struct Options {
  std::vector<std::string> assignments;
  std::string name, benchmarks, output_extents, default_buffers, default_scalars;
  double benchmark_min_time = 0.1;
  bool describe = false, estimate_all = false, track_memory = false, parsable = false;
  bool quiet = false, verbose = false;
};

[[noreturn]] void fail(const std::string &text) { throw std::runtime_error(text); }

// -- Memory of the filter

std::atomic<int64_t> memory_now{0}, memory_peak{0};
constexpr size_t kHeader = 128;

void *tracked_malloc(void *, size_t bytes) {
  void *base = nullptr;
  if (posix_memalign(&base, kHeader, bytes + kHeader) != 0) return nullptr;
  std::memcpy(base, &bytes, sizeof bytes);
  const int64_t now = memory_now += static_cast<int64_t>(bytes);
  int64_t peak = memory_peak;
  while (now > peak && !memory_peak.compare_exchange_weak(peak, now)) {
  }
  return static_cast<char *>(base) + kHeader;
}

void tracked_free(void *, void *p) {
  if (!p) return;
  char *base = static_cast<char *>(p) - kHeader;
  size_t bytes = 0;
  std::memcpy(&bytes, base, sizeof bytes);
  memory_now -= static_cast<int64_t>(bytes);
  std::free(base);
}

// -- Inputs

class Runner {
 public:
  Runner(Filter &filter, const Options &options) : filter_(filter), o_(options) {}

  void prepare() {
    std::map<std::string, std::string> given;
    for (const std::string &text : o_.assignments) {
      const size_t equals = text.find('=');
      if (equals == std::string::npos) {
        fail("'" + text + "' is no assignment; arguments are given as NAME=VALUE");
      }
      const std::string name = text.substr(0, equals);
      if (!filter_.find(name)) {
        fail("the filter has no argument '" + name + "'; it has:\n" + filter_.describe());
      }
      if (!given.emplace(name, text.substr(equals + 1)).second) {
        fail("argument '" + name + "' is given twice");
      }
    }
    for (Argument &a : filter_.arguments()) {
      if (a.is_context()) continue;
      const auto at = given.find(a.info->name);
      const bool has = at != given.end();
      if (a.is_scalar()) {
        set_scalar(a, has ? at->second : "");
      } else if (a.is_input()) {
        const std::string text = has ? at->second : o_.default_buffers;
        if (text.empty()) {
          fail("input '" + std::string(a.info->name) +
               "' has no value; give it, or --default_input_buffers");
        }
        inputs_[&a] = text;
      } else if (has) {
        outputs_[&a] = at->second;
      }
    }
    // Files and fixed sizes first: outputs are guessed by them.
    for (auto &[a, text] : inputs_) load_fixed(*a, text);
    shape_outputs();
    shape_open_inputs();
    for (Argument &a : filter_.arguments()) {
      if (a.is_output()) a.array->allocate();
    }
    lay_out();
    for (auto &[a, text] : inputs_) fill(*a, text);
  }

  double megapixels() {
    double most = 0;
    for (Argument &a : filter_.arguments()) {
      if (!a.is_output()) continue;
      // Channels are part of a pixel.
      double pixels = 1;
      const auto &dims = a.array->dims();
      for (size_t d = 0; d < dims.size() && d < 2; d++) pixels *= dims[d].extent;
      most = std::max(most, pixels / (1024 * 1024));
    }
    return most;
  }

  void write_outputs() {
    for (auto &[a, path] : outputs_) write_file(path, *a->array);
  }

 private:
  void warn(const std::string &text) {
    if (!o_.quiet) std::cerr << "Warning: " << text << "\n";
  }

  void set_scalar(Argument &a, const std::string &text) {
    if (!text.empty()) return filter_.set_scalar(a, text);
    if (o_.default_scalars.empty()) {
      fail("input '" + std::string(a.info->name) +
           "' has no value; give it, or --default_input_scalars");
    }
    const bool has_estimate = a.info->scalar_estimate, has_default = a.info->scalar_def;
    if (o_.default_scalars == "estimate" && has_estimate) return filter_.set_scalar(a, "estimate");
    if (has_default) return filter_.set_scalar(a, "default");
    // Zero, as the metadata says nothing.
    if (a.info->type.code != polyhalite_type_handle) filter_.set_scalar(a, "0");
  }

  // "random:SEED:SHAPE", "zero:SHAPE", "constant:VALUE:SHAPE", "identity:SHAPE".
  struct Made {
    std::string kind, value, shape;
  };
  static std::optional<Made> made_up(const std::string &text) {
    const size_t colon = text.find(':');
    if (colon == std::string::npos) return std::nullopt;
    Made m{text.substr(0, colon), "0", text.substr(colon + 1)};
    if (m.kind == "zero" || m.kind == "identity") return m;
    if (m.kind != "random" && m.kind != "constant") return std::nullopt;
    const size_t second = m.shape.find(':');
    if (second == std::string::npos) {
      fail("'" + text + "' has no shape; write it as " + m.kind + ":" + m.shape + ":[640,480]");
    }
    m.value = m.shape.substr(0, second);
    m.shape = m.shape.substr(second + 1);
    return m;
  }

  void load_fixed(Argument &a, const std::string &text) {
    const auto made = made_up(text);
    if (!made) {
      load_file(a, text);
      fixed_.push_back(&a);
      return;
    }
    if (made->shape == "auto") return;
    if (made->shape == "estimate" || made->shape == "estimate_then_auto") {
      if (auto dims = Filter::estimate(a)) {
        a.array->dims() = *dims;
        pack(*a.array);
        fixed_.push_back(&a);
      } else if (made->shape == "estimate") {
        fail("input '" + std::string(a.info->name) + "' has no estimates of its shape");
      }
      return;
    }
    const std::vector<int> extents = parse_extents(made->shape);
    if (extents.size() != a.array->dims().size()) {
      fail("input '" + std::string(a.info->name) + "' has " +
           std::to_string(a.array->dims().size()) + " dimensions, but " + made->shape + " are " +
           std::to_string(extents.size()));
    }
    a.array->set_extents(extents);
    pack(*a.array);
    fixed_.push_back(&a);
  }

  static void pack(Array &a) {
    int32_t stride = 1;
    for (auto &d : a.dims()) {
      d.stride = stride;
      stride *= std::max(d.extent, 0);
    }
  }

  void load_file(Argument &a, const std::string &path) {
    Array read = read_file(path);
    const std::string who = "Image for Input \"" + std::string(a.info->name) + "\"";
    const size_t wanted = a.array->dims().size(), found = read.dims().size();
    if (found < wanted) {
      warn(who + " has " + std::to_string(found) + " dimensions, but this argument requires " +
           std::to_string(wanted) + ": adding dimensions of extent 1.");
      const int32_t stride = static_cast<int32_t>(read.elements());
      while (read.dims().size() < wanted) read.dims().push_back({0, 1, stride, 0});
    } else if (found > wanted) {
      for (size_t d = wanted; d < found; d++) {
        if (read.dims()[d].extent == 1) continue;
        warn(who + " has " + std::to_string(found) + " dimensions, but this argument takes " +
             std::to_string(wanted) + ": only the first slice is used.");
        break;
      }
      read.dims().resize(wanted);
    }
    const Type want = a.info->type, have = read.type();
    if (want.code != have.code || want.bits != have.bits) {
      warn(who + " is of type " + type_name(have) + " but this argument expects type " +
           type_name(want) + ": its values are converted.");
      read = converted(read, want, is_picture(path));
    }
    *a.array = std::move(read);
  }

  void shape_outputs() {
    for (Argument &a : filter_.arguments()) {
      if (!a.is_output()) continue;
      if (o_.output_extents == "estimate") {
        auto dims = Filter::estimate(a);
        if (!dims) fail("output '" + std::string(a.info->name) + "' has no estimates of its shape");
        a.array->dims() = *dims;
      } else if (!o_.output_extents.empty()) {
        a.array->set_extents(parse_extents(o_.output_extents));
      } else {
        a.array->set_extents(guessed_extents(a));
      }
      pack(*a.array);
    }
    if (o_.output_extents.empty()) shrink_outputs();
    for (Argument &a : filter_.arguments()) {
      if (a.is_output()) log_shape(a);
    }
  }

  // As large as the first input that has as many dimensions.
  std::vector<int> guessed_extents(const Argument &a) {
    const Array *best = nullptr;
    for (const Argument *i : fixed_) {
      const bool enough = i->array->dims().size() >= a.array->dims().size();
      if (!best || (enough && best->dims().size() < a.array->dims().size())) best = i->array.get();
    }
    if (auto dims = Filter::estimate(a); !best && dims) {
      std::vector<int> extents;
      for (const auto &d : *dims) extents.push_back(d.extent);
      return extents;
    }
    if (!best) fail("the size of the outputs is not known; give --output_extents=[...]");
    std::vector<int> extents;
    for (size_t d = 0; d < a.array->dims().size(); d++) {
      extents.push_back(d < best->dims().size() ? best->dims()[d].extent : 1);
    }
    return extents;
  }

  // Outputs become smaller until the inputs that are there suffice; inputs move to where they are
  // read.
  void shrink_outputs() {
    constexpr int kRounds = 8;
    for (int round = 0; round < kRounds; round++) {
      const auto shapes = filter_.query();
      bool fits = true;
      for (size_t i = 0; i < shapes.size(); i++) {
        Argument &a = filter_.arguments()[i];
        if (!a.is_input() || !is_fixed(a)) continue;
        for (size_t d = 0; d < shapes[i].size(); d++) {
          const int excess = shapes[i][d].extent - a.array->dims()[d].extent;
          if (excess <= 0) continue;
          fits = false;
          for (Argument &output : filter_.arguments()) {
            if (!output.is_output() || d >= output.array->dims().size()) continue;
            auto &dim = output.array->dims()[d];
            dim.extent = std::max(dim.extent - excess, 0);
            pack(*output.array);
          }
        }
      }
      if (fits) break;
    }
    const auto shapes = filter_.query();
    for (size_t i = 0; i < shapes.size(); i++) {
      Argument &a = filter_.arguments()[i];
      if (!a.is_input() || !is_fixed(a)) continue;
      for (size_t d = 0; d < shapes[i].size(); d++) a.array->dims()[d].min = shapes[i][d].min;
    }
  }

  bool is_fixed(const Argument &a) const {
    return std::find(fixed_.begin(), fixed_.end(), &a) != fixed_.end();
  }

  void shape_open_inputs() {
    const auto shapes = filter_.query();
    for (size_t i = 0; i < shapes.size(); i++) {
      Argument &a = filter_.arguments()[i];
      if (!a.is_input()) continue;
      if (!is_fixed(a)) a.array->dims() = shapes[i];
      log_shape(a);
    }
  }

  // Storage in the order that the filter asks for.
  void lay_out() {
    const auto shapes = filter_.query();
    for (size_t i = 0; i < shapes.size(); i++) {
      Argument &a = filter_.arguments()[i];
      if (a.is_scalar()) continue;
      const bool interleaved = !shapes[i].empty() && shapes[i][0].stride != 1;
      if (!interleaved) {
        if (!a.array->allocated()) a.array->allocate();
        continue;
      }
      Array fresh(a.array->type(), static_cast<int>(a.array->dims().size()));
      fresh.dims() = a.array->dims();
      for (size_t d = 0; d < shapes[i].size(); d++) fresh.dims()[d].stride = shapes[i][d].stride;
      fresh.allocate();
      if (a.array->allocated()) {
        fresh.for_each([&](uint8_t *to, const std::vector<int> &at) {
          std::memcpy(to, a.array->address(at), fresh.bytes_per_element());
        });
      }
      *a.array = std::move(fresh);
    }
  }

  void fill(Argument &a, const std::string &text) {
    const auto made = made_up(text);
    if (!made) return;
    const Type t = a.info->type;
    if (made->kind == "zero") return;
    if (made->kind == "random") {
      char *behind = nullptr;
      std::mt19937 engine(static_cast<uint32_t>(std::strtoul(made->value.c_str(), &behind, 10)));
      if (made->value.empty() || *behind) fail("'" + made->value + "' is no seed");
      const bool is_float = t.code == polyhalite_type_float || t.code == polyhalite_type_bfloat;
      a.array->for_each([&](uint8_t *element, const std::vector<int> &) {
        if (is_float) return set(element, t, engine() / 4294967296.0);
        if (t.bits == 1) return set(element, t, engine() & 1);
        const uint64_t bits = (uint64_t{engine()} << 32) | engine();
        std::memcpy(element, &bits, static_cast<size_t>(a.array->bytes_per_element()));
      });
      return;
    }
    char *end = nullptr;
    const double value = made->kind == "constant" ? std::strtod(made->value.c_str(), &end) : 1;
    if (end && (made->value.empty() || *end)) fail("'" + made->value + "' is no number");
    if (!holds(t, value)) fail("'" + made->value + "' is no value of type " + type_name(t));
    a.array->for_each([&](uint8_t *element, const std::vector<int> &at) {
      const bool on = made->kind == "constant" || (at.size() >= 2 && at[0] == at[1]);
      set(element, t, on ? value : 0);
    });
  }

  void log_shape(const Argument &a) {
    if (!o_.verbose) return;
    std::cout << (a.is_output() ? "Output " : "Input ") << a.info->name << ":";
    for (const auto &d : a.array->dims()) {
      std::cout << " [" << d.min << ", " << d.min + d.extent - 1 << "]";
    }
    std::cout << "\n";
  }

  Filter &filter_;
  const Options &o_;
  std::map<Argument *, std::string> inputs_, outputs_;
  std::vector<const Argument *> fixed_;
};

// -- Benchmarks

struct Timing {
  double best = 0;  // seconds a call
  int samples = 0, iterations = 0;
};

// Blocks of calls, each as long as the least time; the best block counts.
Timing benchmark(Filter &filter, double min_time) {
  using Clock = std::chrono::steady_clock;
  auto seconds = [&](int calls) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; i++) filter.run();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  Timing t;
  int calls = 1;
  double once = seconds(1);
  while (once < min_time && calls < (1 << 28)) {
    const double factor = once > 0 ? std::min(min_time / once * 1.2, 10.0) : 10.0;
    calls = std::max(calls + 1, static_cast<int>(calls * factor));
    once = seconds(calls);
  }
  constexpr int kBlocks = 3;
  t.best = once / calls;
  for (t.samples = 1; t.samples < kBlocks; t.samples++) {
    t.best = std::min(t.best, seconds(calls) / calls);
  }
  t.iterations = calls * kBlocks;
  return t;
}

void report(const Filter &filter, const Timing &t, double megapixels, bool parsable) {
  const std::string name = filter.name();
  if (parsable) {
    std::cout << name << "  BEST_TIME_MSEC_PER_ITER  " << t.best * 1000 << "\n"
              << name << "  SAMPLES                  " << t.samples << "\n"
              << name << "  ITERATIONS               " << t.iterations << "\n"
              << name << "  THROUGHPUT_MPIX_PER_SEC  " << megapixels / t.best << "\n"
              << name << "  HALIDE_TARGET            " << filter.metadata().target << "\n";
    return;
  }
  std::cout << "Benchmark for " << name << " produces best case of " << t.best << " sec/iter (over "
            << t.samples << " samples, " << t.iterations << " iterations).\n"
            << "Best output throughput is " << megapixels / t.best << " mpix/sec.\n";
}

void on_error(void *, const char *message) { std::cerr << "Error: " << message << "\n"; }

Filter chosen_filter(const Options &o) {
  const auto &all = registered();
  if (all.empty()) fail("this program is linked with no filter");
  auto at = all.find(o.name);
  if (o.name.empty()) {
    at = all.begin();
    if (all.size() > 1) {
      std::string names;
      for (const auto &[name, r] : all) names += " " + name;
      fail("this program has several filters; choose one with --name:" + names);
    }
  }
  if (at == all.end()) fail("there is no filter '" + o.name + "'");
  return Filter(at->second.function, at->second.metadata);
}

void run(const Options &options) {
  Options o = options;
  if (o.estimate_all) {
    if (o.default_buffers.empty()) o.default_buffers = "random:0:estimate_then_auto";
    if (o.default_scalars.empty()) o.default_scalars = "estimate";
    if (o.output_extents.empty()) o.output_extents = "estimate";
  }
  Filter filter = chosen_filter(o);
  if (o.describe) {
    std::cout << filter.describe();
    return;
  }
  if (!o.benchmarks.empty() && o.benchmarks != "all") {
    fail("--benchmarks takes 'all', not '" + o.benchmarks + "'");
  }
  Runner runner(filter, o);
  runner.prepare();
  if (o.track_memory) {
    polyhalite_set_custom_malloc(tracked_malloc);
    polyhalite_set_custom_free(tracked_free);
  }
  filter.run();
  const double megapixels = runner.megapixels();
  if (o.track_memory) {
    if (o.parsable) {
      std::cout << filter.name() << "  MEMORY_PEAK_BYTES        " << memory_peak << "\n";
    } else {
      std::cout << "Maximum Halide memory: " << memory_peak << " bytes for output of " << megapixels
                << " mpix.\n";
    }
  }
  if (!o.benchmarks.empty()) {
    report(filter, benchmark(filter, o.benchmark_min_time), megapixels, o.parsable);
  }
  runner.write_outputs();
}

int command_line(int argc, char **argv) {
  Options o;
  CLI::App app(
      "Runs a compiled pipeline. Arguments are given as NAME=VALUE: numbers, 'default' or "
      "'estimate' for scalars; for buffers files (.png .jpg .bmp .tga .pgm .ppm .npy) or "
      "zero:SHAPE, constant:VALUE:SHAPE, identity:SHAPE, random:SEED:SHAPE, where SHAPE is "
      "[640,480], auto, estimate or estimate_then_auto.");
  app.add_option("arguments", o.assignments, "NAME=VALUE");
  app.add_option("--name", o.name, "the filter, where the program has several");
  app.add_flag("--describe", o.describe, "prints names and types of the arguments");
  app.add_option("--benchmarks", o.benchmarks, "'all': measures the time of a call");
  app.add_option("--benchmark_min_time", o.benchmark_min_time, "seconds of a block of calls");
  app.add_option("--output_extents", o.output_extents, "[640,480] or estimate");
  app.add_option("--default_input_buffers", o.default_buffers,
                 "for inputs that are not given; random:0:auto without a value");
  app.add_option("--default_input_scalars", o.default_scalars,
                 "estimate or default; estimate without a value");
  app.add_flag("--estimate_all", o.estimate_all,
               "all inputs and outputs that are not given, by the estimates");
  app.add_flag("--track_memory", o.track_memory, "prints the most memory in use");
  app.add_flag("--parsable_output", o.parsable, "prints names and numbers only");
  app.add_flag("--quiet", o.quiet, "no warnings");
  app.add_flag("--verbose", o.verbose, "prints shapes");
  std::vector<std::string> words(argv + 1, argv + argc);
  for (std::string &word : words) {
    // Without a value they stand for a usual one, and not for the word behind them.
    if (word == "--default_input_buffers") word += "=random:0:auto";
    if (word == "--default_input_scalars") word += "=estimate";
  }
  try {
    std::reverse(words.begin(), words.end());
    app.parse(words);
  } catch (const CLI::ParseError &e) {
    return app.exit(e);
  }
  polyhalite_set_error_handler(on_error);
  try {
    run(o);
    return 0;
  } catch (const std::exception &e) {
    std::cerr << "Error: " << e.what() << "\n";
    return 1;
  }
}

}  // namespace

}  // namespace polyhalite::rungen

extern "C" void polyhalite_register_argv_and_metadata(int (*argv)(void **),
                                                      const polyhalite_filter_metadata_t *metadata,
                                                      const char *const *) {
  polyhalite::rungen::registered()[metadata->name] = {argv, metadata};
}

int main(int argc, char **argv) { return polyhalite::rungen::command_line(argc, argv); }
