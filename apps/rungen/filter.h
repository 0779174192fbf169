// Filter: a compiled pipeline that is known by its metadata, with values for its arguments.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/rungen/array.h"

namespace polyhalite::rungen {

using Metadata = polyhalite_filter_metadata_t;

struct Argument {
  const polyhalite_filter_argument_t *info = nullptr;
  polyhalite_scalar_value_t scalar;
  std::unique_ptr<Array> array;  // of buffers
  bool is_context() const;
  bool is_scalar() const { return info->kind == polyhalite_argument_kind_input_scalar; }
  bool is_input() const { return info->kind == polyhalite_argument_kind_input_buffer; }
  bool is_output() const { return info->kind == polyhalite_argument_kind_output_buffer; }
};

/// Every member throws std::runtime_error with a message for the user.
class Filter {
 public:
  using Function = int (*)(void **);
  Filter(Function function, const Metadata *metadata);

  std::string name() const { return metadata_->name; }
  const Metadata &metadata() const { return *metadata_; }
  std::vector<Argument> &arguments() { return arguments_; }
  Argument *find(const std::string &name);
  std::string describe() const;

  /// A number, "default" or "estimate".
  void set_scalar(Argument &a, const std::string &text);
  /// min and extent of each dimension by the estimates, if all are there.
  static std::optional<std::vector<polyhalite_dimension_t>> estimate(const Argument &a);

  /// What the inputs must be for the outputs' shapes: shapes of all buffers, by position.
  std::vector<std::vector<polyhalite_dimension_t>> query();
  /// Runs the filter once.
  void run();

 private:
  void call(const std::vector<polyhalite_buffer_t *> &buffers, const char *doing);
  Function function_;
  const Metadata *metadata_;
  std::vector<Argument> arguments_;
};

/// "[1,2,3]" -> 1, 2, 3.
std::vector<int> parse_extents(const std::string &text);

}  // namespace polyhalite::rungen
