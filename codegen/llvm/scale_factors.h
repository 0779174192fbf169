// Constants in products of kernels stand at a factor:
//
//   (x*s)*4   ->   x4*s   where x4 = x*4
//
// NVIDIA's assembler (12.4 to 13.5 were tried, for capabilities from 7.5 on) shares x << k among
// the products (x*s) << k, (x*t) << k and, by mistake, (x*u)*k: with shifts by 2, what should be
// (x*u)*2 is (x*4)*u. With the constant at the factor it finds nothing to share.
#pragma once

namespace llvm {
class FunctionPass;
}  // namespace llvm

namespace polyhalite {

/// For the place right before instructions are selected: all other passes, and the selection
/// itself, would move the constants back outwards. So x4 is a line of PTX that they do not look
/// into.
llvm::FunctionPass *make_scale_factors();

}  // namespace polyhalite
