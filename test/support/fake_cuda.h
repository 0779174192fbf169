// A driver of NVIDIA's for machines without one: device memory is host memory that only its calls
// may touch, kernels are functions of the test, every call is counted and can be made to fail.
// Launches have the limits that a card has.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace polyhalite {

class FakeCuda {
 public:
  struct Launch {
    std::string kernel;
    std::array<int, 3> blocks, threads;
    int shared_bytes;
  };
  /// args: the addresses of the parameters' values.
  using HostKernel = std::function<void(const Launch &, void **args)>;

  /// One at a time: the runtime finds it in the place of libcuda.so.1 until it is gone.
  explicit FakeCuda(int cards = 1, int capability = 90);
  ~FakeCuda();
  FakeCuda(const FakeCuda &) = delete;
  FakeCuda &operator=(const FakeCuda &) = delete;

  /// What each kernel does, by its symbol; others do nothing.
  std::map<std::string, HostKernel> kernels;
  HostKernel every_kernel;  // in front of that, or null
  /// What a kernel did that no card allows, as it tells itself; empty: nothing. The card is lost
  /// then, as a real one is: the launch and all calls behind it fail, with this text.
  std::string fault;
  std::vector<Launch> launches;
  std::map<std::string, int> calls;     // by the driver's names
  std::map<std::string, int> failures;  // the result of all further calls of a function
  std::vector<std::string> loaded;      // texts of modules that were taken, in order
  std::function<int(const std::string &ptx)> takes;        // the result of loading a text; null: 0
  std::vector<std::pair<std::string, int>> shared_limits;  // that kernels were given
  int retained_contexts = 0, live_modules = 0, current_card = -1;

  size_t live_blocks() const { return memory_.size(); }
  int called(const std::string &name) const;

  // For the driver's functions.
  int enter(const char *name);
  uint64_t allocate(size_t bytes);
  bool release(uint64_t address);
  bool owns(uint64_t address, size_t bytes) const;
  /// A launch that the card does not take.
  bool refuses(const Launch &launch, const std::string &ptx) const;
  /// The memory that begins there; empty where none does.
  std::vector<uint8_t> contents(uint64_t address) const;
  const int cards, capability;

 private:
  std::map<uint64_t, std::pair<size_t, std::vector<uint8_t>>> memory_;  // bytes that were asked for
};

}  // namespace polyhalite
