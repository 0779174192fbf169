#include "apps/bench/measure.h"

#include "apps/bench/interleave.h"
#include "apps/common/compiled_apps.h"

namespace polyhalite_apps {
namespace {

// Runs once; an empty string or the failure.
std::string run_once(System system, AppCase &app, const std::string &schedule) {
  const int code = run_compiled(system, app.name, schedule, app.arguments());
  if (code == 0) return "";
  return std::string(system == System::Halide ? "Halide's " : "Polyhalite's ") + app.name +
         " failed with code " + std::to_string(code);
}

std::string compare_outputs(AppCase &app, const std::string &schedule) {
  AppCase theirs = app;
  theirs.output = AnyBuffer::make_with_shape_of(app.output);
  std::string failure = run_once(System::Polyhalite, app, schedule);
  if (failure.empty()) failure = run_once(System::Halide, theirs, schedule);
  if (!failure.empty()) return failure;
  const double apart = difference(app.output, theirs.output);
  if (apart <= app.tolerance) return "";
  return "the two outputs differ by " + std::to_string(apart) + ", more than " +
         std::to_string(app.tolerance);
}

void fill_in(Row *row, const Rounds &r, const std::vector<std::string> &peers) {
  row->ours = r.of(0);
  for (size_t i = 1; i <= peers.size(); i++) row->peers.push_back({peers[i - 1], r.of(i)});
  row->repeated = r.repeated;
  row->failure = r.failure;
}

}  // namespace

Row compare(AppCase &app, const std::string &schedule, int threads, int rounds) {
  Row row;
  row.name = app.name;
  row.shape = app.size;
  row.threads = threads;
  set_threads(System::Polyhalite, threads);
  set_threads(System::Halide, threads);
  row.failure =
      have_halide() ? compare_outputs(app, schedule) : run_once(System::Polyhalite, app, schedule);
  if (!row.failure.empty()) return row;

  std::vector<std::function<void()>> contenders{
      [&] { run_once(System::Polyhalite, app, schedule); }};
  if (have_halide()) contenders.push_back([&] { run_once(System::Halide, app, schedule); });
  const Rounds r = interleave(contenders, threads, rounds);
  fill_in(&row, r, std::vector<std::string>(contenders.size() - 1, "Halide 14"));
  row.rate = app.rate(row.ours);
  row.unit = app.counts_flops() ? "GFLOP/s" : "GB/s";
  if (app.counts_flops()) row.percent_of_peak = 100 * row.rate / median(r.peaks);
  return row;
}

Row compare(const OperatorCase &operation, int threads, int rounds) {
  Row row;
  row.name = operation.name;
  row.shape = operation.shape;
  row.type = operation.type;
  row.threads = threads;
  set_threads(System::Polyhalite, threads);
  set_peer_threads(threads);
  const PreparedOperator prepared = operation.prepare();
  std::vector<std::function<void()>> contenders{prepared.ours};
  std::vector<std::string> names;
  for (const Contender &peer : prepared.peers) {
    contenders.push_back(peer.run);
    names.push_back(peer.name);
  }
  for (const auto &run : contenders) run();
  row.failure = prepared.check();
  if (!row.failure.empty()) return row;
  if (prepared.copy) contenders.push_back(prepared.copy);
  const Rounds r = interleave(contenders, threads, rounds);
  fill_in(&row, r, names);
  if (prepared.copy) {
    row.rate = operation.bytes / row.ours / 1e9;
    row.unit = "GB/s";
    row.percent_of_peak = 100 * r.of(contenders.size() - 1) / row.ours;
    return row;
  }
  row.rate = operation.work / row.ours / 1e9;
  row.unit = operation.type[0] == 'f' ? "GFLOP/s" : "GOP/s";
  row.percent_of_peak = 100 * row.rate / (median(r.peaks) * operation.share_of_peak);
  return row;
}

}  // namespace polyhalite_apps
