// The words of schedules for devices: GPUs and Hexagon DSPs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "polyhalite/choices.h"
#include "polyhalite/tail_strategy.h"
#include "polyhalite/var.h"

namespace polyhalite {

class Stage;

namespace detail {

enum class DeviceWord { Blocks, Threads, Lanes, SingleThread, Hexagon, SmeStreaming, Host };
void record_for_device(const Stage &s, DeviceWord word, const std::vector<VarOrRVar> &loops,
                       DeviceAPI api, const SourceLocation &where);
void record_tensorize(const Stage &s, const std::vector<VarOrRVar> &loops,
                      const std::string &instruction, const SourceLocation &where);

}  // namespace detail

/// Part of Schedulable. Blocks, threads and lanes run on NVIDIA's GPUs, for targets with the
/// feature `cuda`; schedule/DIRECTIVES.md draws them. For other targets, and with other devices,
/// compiling a schedule that has such a word is a CompileError.
template <typename Self>
class DeviceSchedulable {
  using Word = detail::DeviceWord;
  using Loop = const VarOrRVar &;
  static constexpr DeviceAPI kDefault = DeviceAPI::Default_GPU;
  static constexpr TailStrategy kAuto = TailStrategy::Auto;

 public:
  /// The loops are the blocks, threads or lanes of a kernel, x innermost.
  Self &gpu_blocks(Loop x, DeviceAPI api = kDefault) { return mark(Word::Blocks, {x}, api); }
  Self &gpu_blocks(Loop x, Loop y, DeviceAPI api = kDefault) {
    return mark(Word::Blocks, {x, y}, api);
  }
  Self &gpu_blocks(Loop x, Loop y, Loop z, DeviceAPI api = kDefault) {
    return mark(Word::Blocks, {x, y, z}, api);
  }
  Self &gpu_threads(Loop x, DeviceAPI api = kDefault) { return mark(Word::Threads, {x}, api); }
  Self &gpu_threads(Loop x, Loop y, DeviceAPI api = kDefault) {
    return mark(Word::Threads, {x, y}, api);
  }
  Self &gpu_threads(Loop x, Loop y, Loop z, DeviceAPI api = kDefault) {
    return mark(Word::Threads, {x, y, z}, api);
  }
  Self &gpu_lanes(Loop x, DeviceAPI api = kDefault) { return mark(Word::Lanes, {x}, api); }
  /// The whole stage is a kernel of one thread.
  Self &gpu_single_thread(DeviceAPI api = kDefault, Here here = Here()) {
    detail::record_for_device(self().stage_to_schedule(), Word::SingleThread, {}, api, here.where);
    return self();
  }

  /// The innermost loops m, n and k, m outermost, are one matrix instruction, which the 32 lanes of
  /// a warp run together: "mma_m16n8k16_f16_f32" for loops of 16, 8 and 16, and an update f(x, y)
  /// += cast<float>(a(k, y)) * cast<float>(b(x, k)) over float16. Lanes lie innermost, so that
  /// loops over threads around it count warps. On the host: one of the processor, "smmla" for loops
  /// of 2, 2 and 8, "tdpbusd" for 16, 16 and 64.
  Self &tensorize(Loop m, Loop n, Loop k, const std::string &instruction) {
    detail::record_tensorize(self().stage_to_schedule(), {m, n, k}, instruction, m.where);
    return self();
  }
  /// The loops m and n are run by the lanes of a warp, each the elements that it has of the
  /// instruction's result: where that is initialised, or read. On the host: n and k of a dot
  /// product, "vpdpbusd_512".
  Self &tensorize(Loop m, Loop n, const std::string &instruction) {
    detail::record_tensorize(self().stage_to_schedule(), {m, n}, instruction, m.where);
    return self();
  }

  /// Blocks and threads at once.
  Self &gpu(Loop block_x, Loop thread_x, DeviceAPI api = kDefault) {
    return gpu_blocks(block_x, api).gpu_threads(thread_x, api);
  }
  Self &gpu(Loop block_x, Loop block_y, Loop thread_x, Loop thread_y, DeviceAPI api = kDefault) {
    return gpu_blocks(block_x, block_y, api).gpu_threads(thread_x, thread_y, api);
  }
  Self &gpu(Loop block_x, Loop block_y, Loop block_z, Loop thread_x, Loop thread_y, Loop thread_z,
            DeviceAPI api = kDefault) {
    return gpu_blocks(block_x, block_y, block_z, api)
        .gpu_threads(thread_x, thread_y, thread_z, api);
  }

  /// Tiles: a tile is a block, its points are the threads. Without names for the blocks, the outer
  /// loops keep the names x, y and z.
  Self &gpu_tile(Loop x, Loop block_x, Loop thread_x, const Expr &x_size, TailStrategy tail = kAuto,
                 DeviceAPI api = kDefault) {
    return self().split(x, block_x, thread_x, x_size, tail).gpu(block_x, thread_x, api);
  }
  Self &gpu_tile(Loop x, Loop thread_x, const Expr &x_size, TailStrategy tail = kAuto,
                 DeviceAPI api = kDefault) {
    return gpu_tile(x, x, thread_x, x_size, tail, api);
  }
  Self &gpu_tile(Loop x, Loop y, Loop block_x, Loop block_y, Loop thread_x, Loop thread_y,
                 const Expr &x_size, const Expr &y_size, TailStrategy tail = kAuto,
                 DeviceAPI api = kDefault) {
    return self()
        .tile(x, y, block_x, block_y, thread_x, thread_y, x_size, y_size, tail)
        .gpu(block_x, block_y, thread_x, thread_y, api);
  }
  Self &gpu_tile(Loop x, Loop y, Loop thread_x, Loop thread_y, const Expr &x_size,
                 const Expr &y_size, TailStrategy tail = kAuto, DeviceAPI api = kDefault) {
    return gpu_tile(x, y, x, y, thread_x, thread_y, x_size, y_size, tail, api);
  }
  Self &gpu_tile(Loop x, Loop y, Loop z, Loop block_x, Loop block_y, Loop block_z, Loop thread_x,
                 Loop thread_y, Loop thread_z, const Expr &x_size, const Expr &y_size,
                 const Expr &z_size, TailStrategy tail = kAuto, DeviceAPI api = kDefault) {
    return self()
        .tile(std::vector<VarOrRVar>{x, y, z}, {block_x, block_y, block_z},
              {thread_x, thread_y, thread_z}, {x_size, y_size, z_size}, tail)
        .gpu(block_x, block_y, block_z, thread_x, thread_y, thread_z, api);
  }
  Self &gpu_tile(Loop x, Loop y, Loop z, Loop thread_x, Loop thread_y, Loop thread_z,
                 const Expr &x_size, const Expr &y_size, const Expr &z_size,
                 TailStrategy tail = kAuto, DeviceAPI api = kDefault) {
    return gpu_tile(x, y, z, x, y, z, thread_x, thread_y, thread_z, x_size, y_size, z_size, tail,
                    api);
  }

  /// The loop and what is in it run on a Hexagon DSP.
  Self &hexagon(Loop loop = Var::outermost()) { return mark(Word::Hexagon, {loop}, kDefault); }
  /// The loop and what is in it run in the streaming mode of AArch64's matrix extension.
  Self &sme_streaming(Loop loop = Var::outermost()) {
    return mark(Word::SmeStreaming, {loop}, kDefault);
  }
  /// `enable` false: they leave the mode that a loop around has asked for, as host() leaves
  /// devices.
  Self &sme_streaming(bool enable, Loop loop = Var::outermost()) {
    return mark(enable ? Word::SmeStreaming : Word::Host, {loop}, kDefault);
  }
  /// The loop and what is in it run on the processor, which they do without this word as well.
  Self &host(Loop loop = Var::outermost()) { return mark(Word::Host, {loop}, kDefault); }

 protected:
  ~DeviceSchedulable() = default;

 private:
  Self &self() { return static_cast<Self &>(*this); }
  Self &mark(Word word, const std::vector<VarOrRVar> &loops, DeviceAPI api) {
    detail::record_for_device(self().stage_to_schedule(), word, loops, api, loops[0].where);
    return self();
  }
};

}  // namespace polyhalite
