// memory: the storage of a run: what each cell holds, and who of concurrent iterations touched it.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "polyhedral/oracle/reference.h"

namespace polyhalite::oracle {

/// Memory that is taken outside of the storages in it.
struct HoistedMemory {
  std::vector<int64_t> extents;
  size_t depth = 0;  // how many concurrent loops were running where it was taken
};

struct Storage {
  int func = -1;
  std::vector<Extent> box;
  const HoistedMemory *memory = nullptr;  // null: its own
  int64_t slot = 0;                       // of the ring in `memory`
  std::vector<int64_t> fold;              // per dimension, 0 or the ring's size; empty: none
  size_t depth = 0;  // how many concurrent loops were running where it was allocated
  std::unordered_map<Coordinates, Content, CoordinatesHash> cells;  // by cell_of()

  bool holds(const Coordinates &at) const;
  /// Where value `value_index` of these coordinates is in `cells`: each has memory of its own.
  Coordinates cell_of(const Coordinates &at, int value_index) const {
    Coordinates cell = in_rings(at);
    cell.push_back(value_index);
    return cell;
  }
  /// What concurrent iterations must not share, and where these coordinates lie in it.
  const void *home() const { return memory ? static_cast<const void *>(memory) : this; }
  Coordinates place(const Coordinates &at, int value_index) const {
    if (!memory) return cell_of(at, value_index);
    const Coordinates cell = in_rings(at);
    int64_t element = 0, stride = 1;
    for (size_t d = 0; d < cell.size(); d++) {
      const bool ring = !fold.empty() && fold[d] > 0;
      element += (ring ? cell[d] : cell[d] - box[d].min) * stride;
      stride *= ring ? fold[d] : box[d].extent;
    }
    return {slot, element, value_index};
  }
  /// Which cell these coordinates have.
  Coordinates in_rings(Coordinates at) const {
    for (size_t d = 0; d < fold.size(); d++) {
      if (fold[d] > 0) at[d] = ((at[d] % fold[d]) + fold[d]) % fold[d];
    }
    return at;
  }
};

/// A running parallel or vector loop.
class ConcurrentLoop {
 public:
  explicit ConcurrentLoop(int loop) : loop_(loop) {}
  int loop() const { return loop_; }
  void set_iteration(int64_t i) { iteration_ = i; }

  struct Clash {
    Point other;
    bool other_writes;
  };
  /// Notes that `p` touches a cell; the iteration that it clashes with, if any. `forgive` says of
  /// an earlier write that both write one value by design.
  template <typename Forgive>
  std::optional<Clash> touch(const void *storage, const Coordinates &at, const Point &p,
                             bool writes, Forgive &&forgive) {
    Touches &t = touches_[storage][at];
    for (const Touch &w : t.writers) {
      if (w.iteration != iteration_ && !(writes && forgive(w.by))) return Clash{w.by, true};
    }
    if (writes) {
      for (const Touch &r : t.readers) {
        if (r.iteration != iteration_) return Clash{r.by, false};
      }
    }
    // Two iterations that read tell all.
    if (writes || t.readers.size() < 2) add(writes ? t.writers : t.readers, p);
    return std::nullopt;
  }

  /// Has the iteration that runs written the cell as `p`?
  bool has_written(const void *storage, const Coordinates &at, const Point &p) {
    const std::vector<Touch> &writers = touches_[storage][at].writers;
    return std::any_of(writers.begin(), writers.end(),
                       [&](const Touch &w) { return w.iteration == iteration_ && w.by == p; });
  }

  /// The same for lanes that take turns: `turn` is the place of `p` in their order, which is not
  /// the order in which they are met here. The instance that has come too early, if any.
  template <typename Forgive>
  std::optional<Clash> take_turn(const void *storage, const Coordinates &at, const Point &p,
                                 bool writes, const Coordinates &turn, const Forgive &forgive) {
    Turns &t = turns_[storage][at];
    if (t.write && turn < t.write->at && !(writes && forgive(t.write->by))) {
      return Clash{t.write->by, true};
    }
    if (writes && t.read && turn < t.read->at) return Clash{t.read->by, false};
    std::optional<Turn> &last = writes ? t.write : t.read;
    if (!last || last->at < turn) last = Turn{turn, p};
    return std::nullopt;
  }

 private:
  struct Touch {
    int64_t iteration;
    Point by;
  };
  struct Touches {
    std::vector<Touch> writers, readers;  // the first of each iteration
  };
  struct Turn {
    Coordinates at;
    Point by;
  };
  struct Turns {
    std::optional<Turn> write, read;  // the last ones
  };
  void add(std::vector<Touch> &list, const Point &p) {
    for (const Touch &t : list) {
      if (t.iteration == iteration_) return;
    }
    list.push_back({iteration_, p});
  }

  int loop_;
  int64_t iteration_ = 0;
  template <typename T>
  using PerCell =
      std::unordered_map<const void *, std::unordered_map<Coordinates, T, CoordinatesHash>>;
  PerCell<Touches> touches_;
  PerCell<Turns> turns_;
};

inline bool Storage::holds(const Coordinates &at) const {
  for (size_t d = 0; d < at.size(); d++) {
    if (at[d] < box[d].min || at[d] >= box[d].min + box[d].extent) return false;
  }
  return true;
}

}  // namespace polyhalite::oracle
