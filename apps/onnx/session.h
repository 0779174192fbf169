// Session: the door for programs that run models: load, then run with named tensors. Compiles for
// the sizes it meets, where they decide or where they are the first ones, and keeps what it has
// compiled.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "apps/onnx/program.h"

namespace polyhalite::onnx {

class Session {
 public:
  /// CompileError with every problem of the file.
  explicit Session(const std::string &path, CompileOptions options = {});
  explicit Session(Model model, CompileOptions options = {});

  const Model &model() const { return model_; }
  /// Names of the inputs that a caller gives, and of the outputs.
  std::vector<std::string> input_names() const;
  std::vector<std::string> output_names() const;
  const Value &input(const std::string &name) const;

  /// The program for these inputs: for sizes that the algorithms need as numbers, and for elements
  /// that decide about shapes; what computes such elements is run first, as a program of its own.
  std::shared_ptr<const Program> program_for(const Program::Tensors &inputs);
  /// The same where shapes alone decide, so that other inputs of these shapes have the same
  /// program; null where elements do.
  std::shared_ptr<const Program> program_by_shapes(const Program::Tensors &inputs);
  Program::Tensors run(const Program::Tensors &inputs) { return run_program(inputs).outputs; }
  /// The same, with the program that ran: not always that of program_for(), as sizes may be found
  /// to be other ones than programs take them for. `times` as of Program::run().
  struct Run {
    std::shared_ptr<const Program> program;
    Program::Tensors outputs;
  };
  Run run_program(const Program::Tensors &inputs, std::vector<KernelTime> *times = nullptr);
  /// With what a run draws random numbers from, where the model draws some and nothing is given.
  /// program_for() and Program::run() take the same.
  Program::Tensors with_random_key(const Program::Tensors &inputs) const;

 private:
  std::shared_ptr<const Program> program_for(const Program::Tensors &inputs,
                                             const std::set<std::string> &numbers);
  // Null where what is known of elements that decide has changed on the way.
  std::shared_ptr<const Program> try_program_for(const Program::Tensors &inputs,
                                                 const std::set<std::string> &numbers);
  std::shared_ptr<const Program> compiled(const std::string &key, const CompileOptions &options);
  bool opens(const Value &v, const std::string &elements);
  bool closes(const Program &p, ValueId shape);
  bool has_last_shapes(const Program::Tensors &inputs) const;
  void remember(const Program::Tensors &inputs, std::shared_ptr<const Program> p);
  const Constant &given(const Program::Tensors &inputs, const std::string &name) const;
  void take_sizes(const std::set<std::string> &symbols, const Program::Tensors &inputs,
                  CompileOptions *options, std::string *key) const;
  std::map<std::string, int64_t> sizes_of(const Program::Tensors &inputs,
                                          std::set<std::string> *differing) const;
  bool find(const Program &p, const std::string &at, const Program::Tensors &inputs,
            CompileOptions *options, std::string *key);

  Model model_;
  CompileOptions options_;
  bool is_random_;
  std::mutex mutex_;
  std::optional<std::map<std::string, int64_t>> first_;  // sizes of the first run, by their symbols
  // By what they are compiled for.
  std::map<std::string, std::shared_ptr<const Program>> programs_;
  std::map<std::string, std::shared_ptr<Session>> makers_;  // of what decides about shapes
  // Elements that decided, by the value's name; which values are open sizes since they had others
  // before; and which cannot be.
  std::map<std::string, std::set<std::string>> met_;
  std::set<std::string> open_, closed_;
  bool needs_numbers_ = false;  // is there no program of open sizes?
  // The last run's, where it followed from shapes alone.
  std::vector<std::vector<int64_t>> last_shapes_;
  std::shared_ptr<const Program> last_;
};

}  // namespace polyhalite::onnx
