// The printed form of loop IR and its parser: to_text(parse_function(t)) == t.
//
//   function ::= "func" NAME "(" argument,* ")" "{" constant* stmt* "}"
//   argument ::= NAME ":" TYPE                                    a scalar
//              | NAME ":" ("input" | "output") TYPE "[" dims "]"  a buffer
//   constant ::= "constant" NAME ":" TYPE "[" (min, extent, stride),* "]" "=" "{" value,* "}"
//   stmt     ::= "for" NAME "in" "(" min "," extent ")" [kind] block
//              | "let" NAME "=" e                                 holds to the end of the block
//              | "allocate" NAME ":" TYPE size [home] ["ring" N]  holds to the end of the block
//              | [how] NAME "(" index,* ")" "=" (e | "{" e,* "}") Provide
//              | [how] NAME "[" index ["if" mask] "]" "=" e       Store
//              | "if" e block ["else" block]
//              | "assert" e "else" e
//              | "evaluate" e
//              | "produce" NAME block
//              | "kernel" NAME "threads" "(" x "," y "," z ")" block
//              | "barrier" | "commit_copies" | "wait_copies" N
//              | "collective" INSTRUCTION "(" (NAME "[" e "]"),* ")"
//              | ("copy_to_device" | "copy_to_host" | "device_dirty" | "host_dirty") NAME
//              | block                            ends a scope before the block around it does
//   how      ::= "stream" | "async"
//   size     ::= "(" min, extent, ... ")" | "[" elements "]"
//   kind     ::= "parallel" | "vector" | "unrolled" | "gpu_block" | "gpu_thread" | "gpu_lane"
//   block    ::= "{" stmt* "}"
//
// Expressions are those of lang/ir/expr_text.h.
#pragma once

#include <string>

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// Constants of more than 1024 elements print "..." for their values, which does not read back.
std::string to_text(const Function &f);
std::string to_text(const Stmt &s);
/// Throws CompileError at "NAME:LINE".
Function parse_function(const std::string &text, const std::string &name = "loop IR");

}  // namespace polyhalite
