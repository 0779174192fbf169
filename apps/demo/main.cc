// polyhalite_demo: four programs on a photograph without a schedule, with the auto-scheduler's and
// with a good one; a model in the ONNX format; a stencil in Python; a kernel for a GPU.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/common/app_case.h"
#include "apps/common/compiled_apps.h"
#include "apps/demo/gpu_product.h"
#include "apps/demo/page.h"
#include "apps/demo/pictures.h"
#include "apps/demo/refused_schedule.h"
#include "apps/demo/run_app.h"
#include "apps/demo/run_model.h"
#include "apps/demo/show_ptx.h"
#include "polyhalite/target.h"
#include "polyhalite_runtime.h"

namespace {

using namespace polyhalite_apps;

template <typename... Args>
std::string format(const char *pattern, Args... args) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, args...);
  return text;
}

void progress(const std::string &text) { std::fprintf(stderr, "  %s\n", text.c_str()); }

std::string read_file(const std::string &path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_file(const std::string &path, const std::string &text) {
  std::ofstream out(path);
  out << text;
  out.close();
  if (!out) throw std::runtime_error("cannot write '" + path + "'");
}

std::string table_head() {
  return format("%-8s %-19s %11s %9s %9s %9s %8s %16s %11s %11s %s\n", "app", "size", "unscheduled",
                "search, s", "found, ms", "good, ms", "speed-up", "rate", "compile, s",
                "Halide, ms", "interpreter");
}

std::string table_line(const AppCase &app, const AppRuns &runs) {
  const std::string halide = runs.halide > 0 ? format("%.2f", runs.halide * 1e3) : "-";
  const std::string check =
      runs.none.mismatch.empty() && runs.found.mismatch.empty() && runs.good.mismatch.empty()
          ? format("equal at %ld points", runs.good.points_checked)
          : "DIFFERS";
  return format("%-8s %-19s %11.2f %9.2f %9.2f %9.2f %7.1fx %8.1f %-7s %11.2f %11s %s\n",
                app.name.c_str(), app.size.c_str(), runs.none.seconds * 1e3, runs.search_seconds,
                runs.found.seconds * 1e3, runs.good.seconds * 1e3,
                runs.none.seconds / runs.good.seconds, app.rate(runs.good.seconds),
                app.counts_flops() ? "GFLOP/s" : "GB/s", runs.good.compile_seconds, halide.c_str(),
                check.c_str());
}

PageApp page_app(AppCase &app, const AppRuns &runs, const std::string &folder,
                 const std::string &figures) {
  PageApp page;
  page.name = app.name;
  page.size = app.size;
  page.figures = figures;
  page.input_picture = app.name + "_in.png";
  page.output_picture = app.name + "_out.png";
  save_input(app, folder + "/" + page.input_picture);
  save_output(app, folder + "/" + page.output_picture);
  page.algorithm = runs.algorithm;
  page.schedule = runs.schedule;
  page.found_schedule = runs.found_schedule;
  page.tree = runs.tree;
  page.loops = runs.loops;
  page.assembly = runs.assembly;
  return page;
}

// A model of the ONNX format; false where its result is wrong.
bool show_model(Page &page, const Image &photograph, const std::string &folder) {
  progress("edges.onnx: importing, compiling and running");
  const ModelRun run = run_edges_model(POLYHALITE_DEMO_FOLDER "/edges.onnx", photograph);
  save_png(run.edges, folder + "/edges.png");
  const bool right = run.largest_difference <= 1e-5;
  PageDoor door;
  door.title = "A model in the ONNX format";
  door.program = read_file(POLYHALITE_DEMO_FOLDER "/make_edges_model.py");
  door.text = format("edges.onnx, %dx%d: imported and compiled in %.2f s, %.2f ms a run, %s\n",
                     photograph.width(), photograph.height(), run.import_and_compile_seconds,
                     run.seconds * 1e3,
                     right ? "equal to plain loops at every pixel" : "DIFFERS from plain loops");
  page.doors_text += door.text;
  door.text += "\n" + run.report;
  door.picture = "edges.png";
  page.doors.push_back(door);
  return right;
}

// A stencil in Python; false where its program fails.
bool show_python(Page &page, const std::string &folder) {
  const std::string python = POLYHALITE_DEMO_PYTHON;
  if (python.empty()) {
    page.doors_text += "Python: not shown, because the package was not built\n";
    return true;
  }
  progress("stencil.py: compiling and running");
  const std::string script = POLYHALITE_DEMO_FOLDER "/stencil.py";
  const std::string line = folder + "/stencil.txt", piece = folder + "/stencil.html";
  const std::string command = "PYTHONPATH='" POLYHALITE_DEMO_PACKAGE "' '" + python + "' -B '" +
                              script + "' 2000 2000 '" + piece + "' > '" + line + "'";
  const bool right = std::system(command.c_str()) == 0;
  PageDoor door;
  door.title = "A stencil in Python";
  door.program = read_file(script);
  door.text = right ? read_file(line) : "stencil.py FAILED\n";
  page.doors_text += door.text;
  door.html = read_file(piece);
  page.doors.push_back(door);
  return right;
}

// A product on the matrix units of a GPU, as PTX: there need be none here.
void show_ptx(Page &page, const std::string &folder) {
  progress("product.ptx: compiling for a GPU");
  const std::string file = folder + "/product.ptx";
  const std::string ptx = ptx_of_product(file);
  PageDoor door;
  door.title = "A kernel for a GPU";
  door.program = read_file(POLYHALITE_DEMO_FOLDER "/gpu_product.cc");
  door.text = table_of_kernels(ptx, file);
  page.doors_text += "product.ptx, a product of float16 matrices:\n" + door.text;
  door.text += "\n" + first_lines(ptx, 30);
  page.doors.push_back(door);
}

int run(const std::string &photograph, const std::string &folder, int threads) {
  std::filesystem::create_directories(folder);
  progress("reading and scaling " + photograph);
  const Image picture = load_image(photograph);
  std::vector<AppCase> apps = make_measured_cases({"blur", "unsharp", "harris", "matmul"}, picture);
  polyhalite_set_num_threads(threads);
  set_threads(System::Halide, polyhalite_get_num_threads());

  Page page;
  page.machine = "Target " + polyhalite::get_host_target().to_string() + ", " +
                 std::to_string(polyhalite_get_num_threads()) +
                 " threads. Photograph: " + photograph;
  page.table = table_head();
  bool failed = false;
  for (AppCase &app : apps) {
    const AppRuns runs = run_app(app, progress);
    for (const ScheduledRun *r : {&runs.none, &runs.found, &runs.good}) {
      if (!r->mismatch.empty()) progress(app.name + ": " + r->mismatch);
      failed |= !r->mismatch.empty();
    }
    const std::string line = table_line(app, runs);
    page.table += line;
    progress(app.name + ": writing pictures");
    page.apps.push_back(page_app(
        app, runs, folder,
        format("%.2f ms without a schedule, %.2f ms with the one that %.2f s of search found, %.2f "
               "ms with the one in the source; compiled in %.2f s, of which regions and proofs "
               "%.0f%%.",
               runs.none.seconds * 1e3, runs.found.seconds * 1e3, runs.search_seconds,
               runs.good.seconds * 1e3, runs.good.compile_seconds, runs.good.judge_percent)));
  }
  failed |= !show_model(page, fill_frame(picture, 768, 1024), folder);
  failed |= !show_python(page, folder);
  show_ptx(page, folder);
  page.refused_program = read_file(POLYHALITE_DEMO_FOLDER "/refused_schedule.cc");
  page.refusal = refusal_of_parallel_scan();
  if (page.refusal.empty()) {
    progress("the schedule that should be refused was accepted");
    failed = true;
  }
  write_file(folder + "/index.html", to_html(page));

  std::printf("\n%s\n%s\nA schedule that is refused:\n%s\n\nPictures and page: %s/index.html\n",
              page.table.c_str(), page.doors_text.c_str(), page.refusal.c_str(), folder.c_str());
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char **argv) {
  std::string photograph = "/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg";
  std::string folder = "out/demo";
  int threads = 0;
  CLI::App cli(
      "Programs on a photograph: unscheduled, scheduled by search and by hand; a model; Python");
  cli.add_option("photograph", photograph, "any JPEG, PNG, BMP or TGA file")->capture_default_str();
  cli.add_option("--out", folder, "folder for pictures and page")->capture_default_str();
  cli.add_option("--threads", threads, "0: as many as this process may use")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  CLI11_PARSE(cli, argc, argv);
  try {
    return run(photograph, folder, threads);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "polyhalite_demo: %s\n", error.what());
    return 1;
  }
}
