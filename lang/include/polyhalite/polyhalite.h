// Everything that a program which writes algorithms and schedules needs.
#pragma once

#include "polyhalite/backend.h"
#include "polyhalite/boundary_conditions.h"
#include "polyhalite/buffer.h"
#include "polyhalite/callable.h"
#include "polyhalite/error.h"
#include "polyhalite/expr.h"
#include "polyhalite/extern_call.h"
#include "polyhalite/func.h"
#include "polyhalite/inline_reductions.h"
#include "polyhalite/operators.h"
#include "polyhalite/param.h"
#include "polyhalite/pipeline.h"
#include "polyhalite/rdom.h"
#include "polyhalite/target.h"
#include "polyhalite/type.h"
#include "polyhalite/var.h"
