#include "polyhedral/isl_wrap.h"

#include <isl/ctx.h>
#include <isl/mat.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

#include <cstdlib>

namespace polyhalite {

IslContext::IslContext(unsigned long operations) : ctx_(isl_ctx_alloc()), operations_(operations) {
  isl_options_set_on_error(ctx_, ISL_ON_ERROR_CONTINUE);
}

IslContext::~IslContext() {
  // With WARN, isl says on stderr which context is not freed because objects still refer to it.
  isl_options_set_on_error(ctx_, ISL_ON_ERROR_WARN);
  isl_ctx_free(ctx_);
}

/// Sets the quota for the time of one question and keeps isl's complaint, if any.
class IslQuestion {
 public:
  explicit IslQuestion(IslContext &context) : context_(context) {
    isl_ctx_reset_error(context.ctx_);
    isl_ctx_reset_operations(context.ctx_);
    isl_ctx_set_max_operations(context.ctx_, context.operations_);
  }
  ~IslQuestion() {
    if (isl_ctx_last_error(context_.ctx_) == isl_error_quota) {
      context_.last_problem_ =
          "isl's quota of " + std::to_string(context_.operations_) + " operations ran out";
    } else if (isl_ctx_last_error(context_.ctx_) != isl_error_none) {
      const char *message = isl_ctx_last_error_msg(context_.ctx_);
      context_.last_problem_ = std::string("isl failed: ") + (message ? message : "unknown error");
    }
    isl_ctx_set_max_operations(context_.ctx_, 0);
    isl_ctx_reset_operations(context_.ctx_);
    isl_ctx_reset_error(context_.ctx_);
  }
  IslQuestion(const IslQuestion &) = delete;
  IslQuestion &operator=(const IslQuestion &) = delete;

 private:
  IslContext &context_;
};

namespace {

isl_mat *make_matrix(isl_ctx *ctx, int columns, const std::vector<IntegerRow> &rows) {
  isl_mat *m = isl_mat_alloc(ctx, static_cast<unsigned>(rows.size()), columns);
  for (size_t i = 0; i < rows.size(); i++) {
    for (int j = 0; j < columns; j++) {
      const int row = static_cast<int>(i);
      const int64_t k = rows[i][j];
      m = k == static_cast<int>(k)
              ? isl_mat_set_element_si(m, row, j, static_cast<int>(k))
              : isl_mat_set_element_val(m, row, j, isl_val_int_from_si(ctx, k));
    }
  }
  return m;
}

std::optional<bool> to_optional(isl_bool b) {
  if (b == isl_bool_error) return std::nullopt;
  return b == isl_bool_true;
}

// Takes `set`; the smallest point's coordinates, or nullopt where there is none.
std::optional<std::vector<int64_t>> take_smallest(isl_set *set) {
  isl_point *point = isl_set_sample_point(isl_set_lexmin(set));
  std::optional<std::vector<int64_t>> result;
  if (point && isl_point_is_void(point) == isl_bool_false) {
    isl_space *space = isl_point_get_space(point);
    const int n = static_cast<int>(isl_space_dim(space, isl_dim_set));
    isl_space_free(space);
    result.emplace();
    for (int i = 0; i < n; i++) {
      isl_val *v = isl_point_get_coordinate_val(point, isl_dim_set, i);
      result->push_back(isl_val_get_num_si(v));
      isl_val_free(v);
    }
  }
  isl_point_free(point);
  return result;
}

}  // namespace

IslSet::IslSet(IslContext &context, isl_set *owned)
    : context_(&context), set_(owned, [](isl_set *s) { isl_set_free(s); }) {}

IslSet IslSet::from_rows(IslContext &context, int dimensions,
                         const std::vector<IntegerRow> &equalities,
                         const std::vector<IntegerRow> &inequalities) {
  IslQuestion question(context);
  isl_ctx *ctx = context.get();
  isl_basic_set *basic = isl_basic_set_from_constraint_matrices(
      isl_space_set_alloc(ctx, 0, dimensions), make_matrix(ctx, dimensions + 1, equalities),
      make_matrix(ctx, dimensions + 1, inequalities), isl_dim_cst, isl_dim_set, isl_dim_div,
      isl_dim_param);
  return IslSet(context, isl_set_from_basic_set(basic));
}

IslSet IslSet::empty(IslContext &context, int dimensions) {
  return IslSet(context, isl_set_empty(isl_space_set_alloc(context.get(), 0, dimensions)));
}

IslSet IslSet::unite(const IslSet &other) const {
  IslQuestion question(*context_);
  return IslSet(*context_, isl_set_union(isl_set_copy(set_.get()), isl_set_copy(other.set_.get())));
}

IslSet IslSet::keep_first(int count) const {
  IslQuestion question(*context_);
  const int n = static_cast<int>(isl_set_dim(set_.get(), isl_dim_set));
  if (n < count) return *this;
  return IslSet(*context_,
                isl_set_project_out(isl_set_copy(set_.get()), isl_dim_set, count, n - count));
}

std::optional<bool> IslSet::is_empty() const {
  IslQuestion question(*context_);
  return to_optional(isl_set_is_empty(set_.get()));
}

std::optional<bool> IslSet::is_subset_of(const IslSet &other) const {
  IslQuestion question(*context_);
  return to_optional(isl_set_is_subset(set_.get(), other.set_.get()));
}

std::optional<std::vector<int64_t>> IslSet::smallest() const {
  IslQuestion question(*context_);
  return take_smallest(isl_set_copy(set_.get()));
}

std::optional<std::vector<int64_t>> IslSet::smallest_outside(const IslSet &other) const {
  IslQuestion question(*context_);
  return take_smallest(isl_set_subtract(isl_set_copy(set_.get()), isl_set_copy(other.set_.get())));
}

std::string IslSet::to_text() const {
  char *text = isl_set_to_str(set_.get());
  std::string result = text ? text : "";
  std::free(text);
  return result;
}

}  // namespace polyhalite
