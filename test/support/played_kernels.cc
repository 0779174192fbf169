#include "test/support/played_kernels.h"

#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "codegen/driver/compile.h"
#include "codegen/ir/kernel.h"
#include "codegen/ir/visit.h"
#include "codegen/llvm/device_code.h"
#include "codegen/oracle/interpret_ir.h"
#include "lang/ir/visit.h"
#include "polyhalite/error.h"
#include "polyhalite/float16.h"

namespace polyhalite {

namespace {

Expr scalar_at(Type t, const void *address) {
  int64_t bits = 0;
  std::memcpy(&bits, address, static_cast<size_t>(t.bytes()));
  if (t == Float(32)) {
    float value;
    std::memcpy(&value, address, sizeof value);
    return make_float(t, value);
  }
  if (t == Float(64)) {
    double value;
    std::memcpy(&value, address, sizeof value);
    return make_float(t, value);
  }
  const auto half = static_cast<uint16_t>(bits);
  if (t == Float(16)) return make_float(t, detail::float16_value(half));
  if (t == BFloat(16)) return make_float(t, detail::bfloat16_value(half));
  if (t.is_uint()) return make_int(t, bits);
  const int shift = 64 - t.bits();
  return make_int(t, static_cast<int64_t>(static_cast<uint64_t>(bits) << shift) >> shift);
}

// The kernel with as many blocks and threads as are launched.
Stmt launched(const Stmt &kernel, const FakeCuda::Launch &launch) {
  const Nest blocks = block_nest(kernel);
  Stmt body = blocks.body;
  for (size_t d = 0; d < blocks.loops.size(); d++) {
    const Stmt &l = blocks.loops[d];
    body = make_for(l->name, Expr(0), Expr(launch.blocks[d]), l->loop_kind, body);
  }
  std::vector<Expr> threads;
  for (const int n : launch.threads) threads.emplace_back(n);
  return make_kernel(kernel->name, std::move(threads), body);
}

class PlayedKernel {
 public:
  PlayedKernel(Stmt kernel, bool is_aligned, int64_t dynamic_bytes, InterpretOptions options)
      : kernel_(std::move(kernel)),
        operands_(kernel_operands(kernel_)),
        dynamic_bytes_(dynamic_bytes),
        options_(std::move(options)) {
    if (is_aligned) promised_ = aligned_operands(kernel_, operands_);
  }

  void run(const FakeCuda::Launch &launch, void **args, FakeCuda &card) const {
    try {
      if (launch.shared_bytes != dynamic_bytes_) {
        fault("it is launched with " + std::to_string(launch.shared_bytes) +
              " bytes of shared memory and needs " + std::to_string(dynamic_bytes_));
      }
      interpret(launch, args, card);
    } catch (const std::exception &e) {
      card.fault = std::string("kernel '") + kernel_->name + "': " + e.what();
    }
  }

 private:
  void interpret(const FakeCuda::Launch &launch, void **args, const FakeCuda &card) const {
    Function f;
    f.name = kernel_->name;
    IrArguments values;
    std::vector<polyhalite_buffer_t> buffers(operands_.buffers.size());
    std::vector<Stmt> body, after;
    for (size_t i = 0; i < buffers.size(); i++) {
      const KernelBuffer &b = operands_.buffers[i];
      buffers[i] = *static_cast<polyhalite_buffer_t *>(args[i]);
      check(b.name, buffers[i], card);
      buffers[i].host = reinterpret_cast<uint8_t *>(buffers[i].device);
      f.args.push_back({b.name, true, b.is_written, b.type, buffers[i].dimensions});
      values.buffers[b.name] = &buffers[i];
      body.push_back(make_transfer(Transfer::ToDevice, b.name));
      if (b.is_written) after.push_back(make_transfer(Transfer::DeviceDirty, b.name));
    }
    for (size_t i = 0; i < operands_.scalars.size(); i++) {
      const Expr &e = operands_.scalars[i];
      const std::string &name = as_variable(e)->name;
      const Expr value = scalar_at(e.type(), args[buffers.size() + i]);
      const auto multiple = promised_.fields.find(name);
      int64_t n = 0;
      if (multiple != promised_.fields.end() && is_const_int(value, &n) &&
          n % multiple->second != 0) {
        fault("'" + name + "' is " + std::to_string(n) + ", and was promised to be a multiple of " +
              std::to_string(multiple->second));
      }
      f.args.push_back({name, false, false, e.type(), 0});
      values.scalars[name] = value;
    }
    body.push_back(launched(kernel_, launch));
    body.insert(body.end(), after.begin(), after.end());
    f.body = make_block(body);
    interpret_ir(f, values, options_);
  }

  void check(const std::string &name, const polyhalite_buffer_t &b, const FakeCuda &card) const {
    if (b.number_of_elements() == 0) return;
    const auto bytes = static_cast<int64_t>(b.type.bytes());
    const uint64_t first = b.device + static_cast<uint64_t>(b.begin_offset() * bytes);
    const auto size = static_cast<size_t>((b.end_offset() - b.begin_offset()) * bytes);
    if (!b.device || !card.owns(first, size)) {
      fault("the " + std::to_string(size) + " bytes of '" + name +
            "' are not in memory of the card");
    }
    constexpr uint64_t kAlignment = 16;
    if (promised_.buffers.count(name) && b.device % kAlignment != 0) {
      fault("'" + name + "' is not aligned, and was promised to be");
    }
  }

  [[noreturn]] static void fault(const std::string &what) {
    throw RuntimeError({what, "", "", {}});
  }

  const Stmt kernel_;
  const KernelOperands operands_;
  const int64_t dynamic_bytes_;
  const InterpretOptions options_;
  AlignedOperands promised_;
};

}  // namespace

void play_kernels(const FrozenPipeline &pipeline, const Target &target,
                  const InterpretOptions &options, FakeCuda &card) {
  const std::string &name = pipeline.algorithm.outputs[0];
  const Function lowered =
      lower_pipeline(pipeline, name, target.with_feature(Target::JIT)).function;
  const DeviceCode code = compile_kernels(lowered, target);
  for_each_stmt(lowered.body, [&](const Stmt &s) {
    if (s->kind != StmtKind::Kernel) return;
    const int number = code.numbers.at(s.get());
    auto play = [&](int which, bool is_aligned) {
      const DeviceKernel &k = code.kernels[static_cast<size_t>(which)];
      const auto played = std::make_shared<PlayedKernel>(s, is_aligned, k.dynamic_bytes, options);
      card.kernels[k.symbol] = [played, &card](const FakeCuda::Launch &l, void **args) {
        played->run(l, args, card);
      };
    };
    play(number, false);
    const int aligned = code.kernels[static_cast<size_t>(number)].aligned;
    if (aligned >= 0) play(aligned, true);
  });
}

}  // namespace polyhalite
