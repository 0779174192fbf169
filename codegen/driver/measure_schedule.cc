#include "codegen/driver/measure_schedule.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "codegen/driver/compile.h"
#include "codegen/driver/made_up_arguments.h"
#include "lang/abi/polyhalite_runtime.h"
#include "polyhalite/backend.h"

namespace polyhalite {

namespace {

using autosched::Measurement;
using autosched::Trial;

constexpr int kMostMeasurements = 11;
constexpr double kEnoughMeasured = 1.0;

Measurement run_trial(const Trial &trial, const Target &target, int threads) {
  polyhalite_set_num_threads(threads);
  const std::shared_ptr<CompiledPipeline> code = backend().jit(trial.pipeline, target);
  const MadeUpArguments made_up(trial.pipeline.algorithm, trial.images, trial.outputs);
  Measurement m;
  std::vector<double> times;
  double all = 0;
  // The first run warms up.
  for (int i = 0; i <= kMostMeasurements && (i < 3 || all < kEnoughMeasured); i++) {
    std::string message;
    const Stopwatch watch;
    if (code->call(made_up.pointers(), &message) != 0) {
      m.failure = "the run failed: " + message;
      return m;
    }
    const double t = watch.seconds();
    all += t;
    if (i > 0) times.push_back(t);
  }
  std::sort(times.begin(), times.end());
  m.seconds = times[times.size() / 2];
  m.spread = (times[times.size() * 3 / 4] - times[times.size() / 4]) / m.seconds;
  return m;
}

// What crosses the pipe.
struct Answer {
  double seconds, spread;
  char failure[400];
};

[[noreturn]] void be_runner(int to, const Trial &trial, const Target &target, int threads) {
  Answer answer{};
  Measurement m;
  try {
    m = run_trial(trial, target, threads);
  } catch (const std::exception &e) {
    m.failure = e.what();
  }
  answer.seconds = m.seconds;
  answer.spread = m.spread;
  std::strncpy(answer.failure, m.failure.c_str(), sizeof answer.failure - 1);
  const bool sent = write(to, &answer, sizeof answer) == sizeof answer;
  _exit(sent ? 0 : 1);
}

// Waits for an answer, whatever signals come in between; false where the time runs out.
bool wait_for(int from, double seconds) {
  const Stopwatch watch;
  for (;;) {
    const double left = seconds - watch.seconds();
    pollfd wait{from, POLLIN, 0};
    const int ready = poll(&wait, 1, std::max(0, static_cast<int>(left * 1000)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    return std::string("by signal ") + std::to_string(WTERMSIG(status)) + ", " +
           strsignal(WTERMSIG(status));
  }
  return "with code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Measurement measure_schedule(const Trial &trial, const Target &target, int threads,
                             double seconds) {
  // A copy of this process has none of its threads: the pool starts anew in both.
  polyhalite_shutdown_thread_pool();
  int ends[2];
  if (pipe(ends) != 0) return {0, 0, std::string("no pipe: ") + std::strerror(errno)};
  const pid_t runner = fork();
  if (runner == 0) {
    close(ends[0]);
    be_runner(ends[1], trial, target, threads);
  }
  close(ends[1]);
  Measurement m;
  Answer answer{};
  if (runner < 0) {
    m.failure = std::string("no process: ") + std::strerror(errno);
  } else {
    const bool answers = wait_for(ends[0], seconds);
    if (!answers) kill(runner, SIGKILL);
    const bool whole = answers && read(ends[0], &answer, sizeof answer) == sizeof answer;
    int status = 0;
    waitpid(runner, &status, 0);
    if (!answers) {
      m.failure = "it took longer than " + std::to_string(std::lround(seconds * 1000)) + " ms";
    } else if (!whole) {
      m.failure = "the process that ran it ended " + how_it_ended(status);
    } else {
      answer.failure[sizeof answer.failure - 1] = 0;
      m = {answer.seconds, answer.spread, answer.failure};
    }
  }
  close(ends[0]);
  return m;
}

}  // namespace polyhalite
