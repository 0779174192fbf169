// A whole pipeline as text: its algorithm, with all elements of its constants, and its schedule.
//
//   pipeline 1                version of the format
//   algorithm 1 ...           lang/ir/text.h
//   schedule 1 ...            schedule/schedule_text.h
//   end
#pragma once

#include <string>

#include "lang/ir/freeze.h"

namespace polyhalite {

std::string pipeline_text(const FrozenPipeline &pipeline);

/// Throws CompileError at NAME:LINE, for texts that are cut off too.
FrozenPipeline parse_pipeline_text(const std::string &text, const std::string &name);

}  // namespace polyhalite
