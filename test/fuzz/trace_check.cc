#include "test/fuzz/trace_check.h"

#include <utility>

namespace polyhalite::test {

namespace {

bool is_begin(polyhalite_trace_event_code_t e) {
  return e == polyhalite_trace_begin_realization || e == polyhalite_trace_produce ||
         e == polyhalite_trace_consume || e == polyhalite_trace_begin_pipeline;
}

// The begin that an end belongs to.
polyhalite_trace_event_code_t begin_of(polyhalite_trace_event_code_t e) {
  switch (e) {
    case polyhalite_trace_end_realization:
      return polyhalite_trace_begin_realization;
    case polyhalite_trace_end_produce:
      return polyhalite_trace_produce;
    case polyhalite_trace_end_consume:
      return polyhalite_trace_consume;
    default:
      return polyhalite_trace_begin_pipeline;
  }
}

}  // namespace

TraceCheck::TraceCheck(Rings rings) : rings_(std::move(rings)) { handlers.custom_trace = handle; }

std::string TraceCheck::problem() const {
  if (!problem_.empty()) return problem_;
  for (const auto &[id, b] : begun_) {
    if (b.is_open) return "event " + std::to_string(id) + " of " + b.func + " has no end";
  }
  return "";
}

int32_t TraceCheck::handle(JITUserContext *context, const polyhalite_trace_event_t *event) {
  auto *self = static_cast<TraceCheck *>(context);
  std::lock_guard<std::mutex> hold(self->lock_);
  self->last_++;
  self->check(*event);
  return self->last_;
}

void TraceCheck::fail(const polyhalite_trace_event_t &e, const std::string &what) {
  if (!problem_.empty()) return;
  problem_ = "trace event " + std::to_string(last_) + " (code " + std::to_string(e.event) + " of " +
             e.func + "): " + what;
}

TraceCheck::Cell TraceCheck::place_of(const std::string &func, const Cell &cell) const {
  Cell place = cell;
  const auto rings = rings_.find(func);
  for (size_t d = 0; rings != rings_.end() && d < rings->second.size(); d++) {
    const auto size = static_cast<int32_t>(rings->second[d]);
    if (size > 0) place[d + 1] = ((cell[d + 1] % size) + size) % size;
  }
  return place;
}

int TraceCheck::realization_of(int parent) const {
  auto at = begun_.find(parent);
  while (at != begun_.end() && at->second.event != polyhalite_trace_begin_realization) {
    at = begun_.find(at->second.parent);
  }
  return at == begun_.end() ? 0 : at->first;
}

void TraceCheck::check(const polyhalite_trace_event_t &e) {
  const auto parent = begun_.find(e.parent_id);
  if (e.parent_id != 0 && parent == begun_.end()) return fail(e, "its parent is no begin");
  if (e.parent_id != 0 && !parent->second.is_open) return fail(e, "its parent has ended");
  if (e.event == polyhalite_trace_load || e.event == polyhalite_trace_store) {
    return check_access(e);
  }
  if (e.event == polyhalite_trace_tag) {
    if (!e.trace_tag || !*e.trace_tag) fail(e, "a tag without text");
    return;
  }
  if (is_begin(e.event)) {
    if ((e.event == polyhalite_trace_produce || e.event == polyhalite_trace_consume) &&
        (parent == begun_.end() || parent->second.func != e.func)) {
      fail(e, "it is part of no realization of its Func");
    }
    begun_[last_] = {e.event, e.func, e.parent_id, true,
                     std::vector<int32_t>(e.coordinates, e.coordinates + e.dimensions)};
    return;
  }
  if (parent == begun_.end() || parent->second.event != begin_of(e.event) ||
      parent->second.func != e.func) {
    return fail(e, "its parent is not its begin");
  }
  parent->second.is_open = false;
  if (e.event == polyhalite_trace_end_realization) {
    stored_.erase(e.parent_id);
    held_.erase(e.parent_id);
  }
}

void TraceCheck::check_access(const polyhalite_trace_event_t &e) {
  const int lanes = e.type.lanes, dims = e.dimensions / (lanes ? lanes : 1);
  if (lanes < 1 || e.dimensions != dims * lanes) return fail(e, "its lanes and places disagree");
  const int realization = realization_of(e.parent_id);
  if (realization == 0) return;
  const Begun &storage = begun_[realization];
  if (storage.func != e.func) return fail(e, "it belongs to another Func's realization");
  const size_t bytes = static_cast<size_t>(e.type.bits + 7) / 8;
  for (int l = 0; l < lanes; l++) {
    Cell cell = {e.value_index};
    bool inside = true;
    for (int d = 0; d < dims; d++) {
      const int32_t at = e.coordinates[d * lanes + l];
      const int32_t min = storage.box[static_cast<size_t>(2 * d)];
      inside = inside && at >= min && at < min + storage.box[static_cast<size_t>(2 * d + 1)];
      cell.push_back(at);
    }
    const std::string value(static_cast<const char *>(e.value) + static_cast<size_t>(l) * bytes,
                            bytes);
    auto &cells = stored_[realization];
    if (e.event == polyhalite_trace_store) {
      if (!inside) return fail(e, "a store outside of the realization");
      // Rows that a tile has too many of may read what a ring no longer holds.
      const auto [held, is_first] = held_[realization].emplace(place_of(e.func, cell), cell);
      if (!is_first && held->second != cell) cells.erase(std::exchange(held->second, cell));
      cells[cell] = value;
      continue;
    }
    // What updates read may change meanwhile; what a select does not take may be anything.
    const auto known = cells.find(cell);
    if (begun_[e.parent_id].event != polyhalite_trace_consume || known == cells.end()) continue;
    if (known->second != value) return fail(e, "a load of what was not stored there last");
  }
}

}  // namespace polyhalite::test
