"""The compiled part of polyhalite. Written by make_stubs.py."""

from typing import overload as _overload
from typing import Any, Iterable, Union

import numpy
from numpy.typing import DTypeLike

ExprLike = Union["Expr", "Var", "RVar", "RDom", "Param", "FuncRef", "FuncTupleElementRef", int,
                 float, bool, numpy.generic]
LoopLike = Union["Var", "RVar", "RDom"]
TypeLike = Union["Type", DTypeLike]
FuncLike = Union["Func", "ImageParam", "Buffer"]

class Argument:
    """An input of a compiled function."""
    def __init__(self, input: Any) -> None: ...
    @property
    def dimensions(self) -> Any: ...
    def is_buffer(self) -> bool: ...
    def is_input(self) -> bool: ...
    def is_output(self) -> bool: ...
    def is_scalar(self) -> bool: ...
    @property
    def name(self) -> Any: ...
    @property
    def type(self) -> Any: ...

class AutoSchedulerResults:
    """What an auto-scheduler wrote: directives as text, in C++ and in Python, and a report of what was chosen over what."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def report(self) -> Any: ...
    @property
    def schedule_python(self) -> Any: ...
    @property
    def schedule_source(self) -> Any: ...
    @property
    def schedule_text(self) -> Any: ...
    @property
    def target(self) -> Any: ...

class Axis:
    """One axis of an image or output: its shape as expressions.

    What is set is a promise that compiled code may use; it is checked when a pipeline runs.
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def extent(self) -> Expr: ...
    def max(self) -> Expr: ...
    def min(self) -> Expr: ...
    def set_bounds(self, min: ExprLike, extent: ExprLike) -> Axis: ...
    def set_estimate(self, min: ExprLike, extent: ExprLike) -> Axis:
        """What an auto-scheduler may assume."""
    def set_extent(self, extent: Any) -> Axis: ...
    def set_min(self, min: Any) -> Axis:
        """None lifts the promise."""
    def set_stride(self, stride: Any) -> Axis:
        """In elements. The last axis has stride 1 unless None lifts that, for arrays of any strides."""
    def stride(self) -> Expr:
        """In elements."""

class Buffer:
    """An array that pipelines read and write.

    Buffer(array) shares the elements of a numpy array, of an object with __dlpack__ or with the buffer
    protocol, whatever its strides; the array lives as long as the Buffer, its crops and the pipelines
    that use it. Buffer(type, shape) has elements of its own, not initialised. numpy.asarray(buffer) and
    buffer.numpy() share them. buffer[i, j] is an element at coordinates, which count from buffer.mins,
    or with expressions a value of an algorithm.
    """
    def __array__(self, dtype: Any = ..., copy: Any = ...) -> Any: ...
    def __dlpack__(self, **kwargs: Any) -> Any: ...
    def __dlpack_device__(self) -> Any: ...
    def __getitem__(self, key: Any) -> Any: ...
    @_overload
    def __init__(self, array: Any, name: str = ..., copy: bool = ...) -> None: ...
    @_overload
    def __init__(self, type: TypeLike, shape: list[int], name: str = ...) -> None: ...
    def __len__(self) -> int: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...
    def copy(self) -> Buffer:
        """A dense copy with the same mins, shape and order in memory."""
    def crop(self, axis: int, min: int, extent: int) -> None:
        """Keeps [min, min + extent) along the axis, for all handles of this Buffer."""
    def cropped(self, axis: int, min: int, extent: int) -> Buffer:
        """A Buffer of the part [min, min + extent) along the axis, which shares the elements."""
    def defined(self) -> bool: ...
    def dim(self, axis: int) -> BufferAxis: ...
    def dimensions(self) -> int:
        """How many axes."""
    @property
    def dtype(self) -> Any: ...
    def extent(self, axis: int) -> int:
        """Elements along the axis."""
    def fill(self, value: Any) -> Any: ...
    @staticmethod
    def make_bounds_query(type: TypeLike, shape: list[int], name: str = ...) -> Buffer:
        """Without memory: a pipeline writes to its mins and shape what it needs."""
    @staticmethod
    def make_scalar(type: TypeLike, name: str = ...) -> Buffer: ...
    def min(self, axis: int) -> int:
        """The first coordinate along the axis."""
    @property
    def mins(self) -> Any: ...
    def name(self) -> str: ...
    @property
    def ndim(self) -> Any: ...
    def numpy(self) -> Any:
        """A numpy array of the same elements, without a copy."""
    def same_as(self, arg0: Buffer) -> bool: ...
    def set_min(self, mins: list[int]) -> None:
        """Moves the coordinates; elements stay where they are."""
    def set_name(self, name: str) -> None: ...
    @property
    def shape(self) -> Any: ...
    @property
    def size(self) -> Any: ...
    def sliced(self, axis: int, at: int) -> Buffer:
        """The elements at one coordinate, with an axis less."""
    def stride(self, axis: int) -> int:
        """From one element to the next along the axis, in elements."""
    def translated(self, delta: list[int]) -> Buffer:
        """The same elements at other coordinates."""
    def transposed(self, axis1: int, axis2: int) -> Buffer:
        """With two axes exchanged; shares the elements."""
    def type(self) -> Type: ...

class BufferAxis:
    """One axis of a Buffer."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def extent(self) -> int: ...
    def max(self) -> int: ...
    def min(self) -> int: ...
    def stride(self) -> int:
        """In elements."""

class Callable:
    """A pipeline compiled in process, called like a function.

    Inputs stand in the order that compile_to_callable() was given, then outputs; each may be named.
    Arrays are shared. Several threads may call it.
    """
    def __call__(self, *args: Any, **kwargs: Any) -> None: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def arguments(self) -> list[Argument]: ...

class Cancellation:
    """A request, from any thread, to end compilations."""
    def __init__(self) -> None: ...
    def request(self) -> None: ...
    def requested(self) -> bool: ...

class Derivative:
    """What propagate_adjoints() made.

    d[f] is the derivative of the output by f's pure definition, d[f, i] by its update i; d[image] and
    d[param] by inputs.
    """
    def __getitem__(self, arg0: Any) -> Func: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class DeviceAPI:
    """The device that a loop runs on."""
    None_: DeviceAPI
    Host: DeviceAPI
    Default_GPU: DeviceAPI
    CUDA: DeviceAPI
    OpenCL: DeviceAPI
    Metal: DeviceAPI
    Hexagon: DeviceAPI
    HexagonDma: DeviceAPI
    D3D12Compute: DeviceAPI
    Vulkan: DeviceAPI
    WebGPU: DeviceAPI
    name: str
    value: int
    def __int__(self) -> int: ...

class Emit:
    """What a compilation can write."""
    object: Emit
    static_library: Emit
    c_header: Emit
    assembly: Emit
    bitcode: Emit
    llvm_assembly: Emit
    stmt: Emit
    stmt_html: Emit
    conceptual_stmt: Emit
    schedule: Emit
    algorithm: Emit
    tree: Emit
    function_info_header: Emit
    registration: Emit
    python_extension: Emit
    compiler_log: Emit
    hlpipe: Emit
    conceptual_stmt_html: Emit
    c_source: Emit
    ptx: Emit
    explanation: Emit
    timed_explanation: Emit
    name: str
    value: int
    def __int__(self) -> int: ...

class Expr:
    """A value of an algorithm at a point: an immutable expression.

    Numbers are expressions: Python's int is an int32, its float a float32, numpy's scalars keep their
    types. `/` of integers rounds down, as `//` does. Use &, | and ~ for and, or and not, and select()
    for if: an Expr has no truth value while a program is written.
    """
    def __abs__(self) -> Expr: ...
    def __add__(self, arg0: Any) -> Any: ...
    def __and__(self, arg0: Any) -> Any: ...
    def __bool__(self) -> bool: ...
    def __eq__(self, other: Any) -> Any: ...  # type: ignore[override]
    def __floordiv__(self, arg0: Any) -> Any: ...
    def __ge__(self, arg0: Any) -> Any: ...
    def __gt__(self, arg0: Any) -> Any: ...
    def __init__(self, value: ExprLike) -> None: ...
    def __invert__(self) -> Expr: ...
    def __le__(self, arg0: Any) -> Any: ...
    def __lshift__(self, arg0: Any) -> Any: ...
    def __lt__(self, arg0: Any) -> Any: ...
    def __mod__(self, arg0: Any) -> Any: ...
    def __mul__(self, arg0: Any) -> Any: ...
    def __ne__(self, other: Any) -> Any: ...  # type: ignore[override]
    def __neg__(self) -> Expr: ...
    def __or__(self, arg0: Any) -> Any: ...
    def __pos__(self) -> Expr: ...
    def __pow__(self, arg0: Any) -> Any: ...
    def __radd__(self, arg0: Any) -> Any: ...
    def __rand__(self, arg0: Any) -> Any: ...
    def __rfloordiv__(self, arg0: Any) -> Any: ...
    def __rlshift__(self, arg0: Any) -> Any: ...
    def __rmod__(self, arg0: Any) -> Any: ...
    def __rmul__(self, arg0: Any) -> Any: ...
    def __ror__(self, arg0: Any) -> Any: ...
    def __rpow__(self, arg0: Any) -> Any: ...
    def __rrshift__(self, arg0: Any) -> Any: ...
    def __rshift__(self, arg0: Any) -> Any: ...
    def __rsub__(self, arg0: Any) -> Any: ...
    def __rtruediv__(self, arg0: Any) -> Any: ...
    def __rxor__(self, arg0: Any) -> Any: ...
    def __sub__(self, arg0: Any) -> Any: ...
    def __truediv__(self, arg0: Any) -> Any: ...
    def __xor__(self, arg0: Any) -> Any: ...
    def defined(self) -> bool: ...
    def same_as(self, arg0: Expr) -> bool:
        """Is it the same object, not only an equal one?"""
    def type(self) -> Type: ...

class Func:
    """A stage of a pipeline: a function over integer coordinates.

    f[i, j] = e defines it, f[i, j] += e and further assignments update it, f[i, j] is its value at a
    point. Indices stand as in numpy: f[i, j] is array[i, j], the last index is contiguous in memory and
    the innermost loop unless a schedule says otherwise. Handles share definitions and schedule.
    """
    def __getitem__(self, key: Any) -> FuncRef: ...
    @_overload
    def __init__(self, name: Any = ...) -> None: ...
    @_overload
    def __init__(self, types: Any, dimensions: int, name: str = ...) -> None: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...
    def add_trace_tag(self, text: str) -> Func: ...
    def align_bounds(self, var: LoopLike, modulus: ExprLike, remainder: ExprLike = ...) -> Func:
        """Grows the region: its min is `remainder` modulo `modulus`, its extent a multiple."""
    def align_extent(self, var: LoopLike, modulus: ExprLike) -> Func: ...
    def align_storage(self, dim: LoopLike, alignment: ExprLike) -> Func: ...
    def allow_race_conditions(self) -> Func:
        """Promises that iterations that touch one cell do no harm."""
    def always_partition(self, *args: Any) -> Func: ...
    def always_partition_all(self) -> Func: ...
    def args(self) -> list[Var]:
        """The Vars of the pure definition, as they stand in brackets."""
    def async_(self) -> Func:
        """Productions run in a task beside what consumes them."""
    def atomic(self, override_associativity_test: bool = ...) -> Func:
        """Each update of a cell is one atomic step."""
    def bound(self, var: LoopLike, min: ExprLike, extent: ExprLike) -> Func:
        """Promises that the Func is needed over [min, min + extent) only; checked."""
    def bound_extent(self, var: LoopLike, extent: ExprLike) -> Func: ...
    def bound_storage(self, dim: LoopLike, extent: ExprLike) -> Func: ...
    def change_type(self, type: TypeLike, unproven: bool = ...) -> Func:
        """Computes the values in another type; this Func becomes a cast of them."""
    def clone_in(self, *args: Any) -> Func:
        """A copy of this Func that the consumers read in its place."""
    def compile_jit(self, target: Target = ...) -> None: ...
    def compile_times(self) -> dict:
        """Of the last compilation in process, in seconds."""
    def compile_to(self, files: dict[Emit, str], args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """Writes each file of {Emit.object: path, ...}. `args` are the C function's inputs, by default in order of first use; `name` is its symbol, by default the output's name."""
    def compile_to_assembly(self, file: str, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """Assembly text."""
    def compile_to_bitcode(self, file: str, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """LLVM's bitcode."""
    def compile_to_callable(self, args: list[Argument], target: Target = ...) -> Callable:
        """Compiled as a function of these inputs and the outputs, which are arrays or Buffers."""
    def compile_to_conceptual_stmt(self, file: str, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """The loop tree."""
    def compile_to_file(self, prefix: str, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """PREFIX.o and PREFIX.h."""
    def compile_to_header(self, file: str, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """The C header."""
    def compile_to_llvm_assembly(self, file: str, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """LLVM's text."""
    def compile_to_lowered_stmt(self, file: str, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """The loop IR."""
    def compile_to_module(self, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> Module: ...
    def compile_to_multitarget_static_library(self, prefix: str, args: list[Argument] | None, targets: list[Target]) -> None:
        """Code for each target behind one function, which calls the first that the machine can run."""
    def compile_to_object(self, file: str, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """An object file."""
    def compile_to_static_library(self, prefix: str, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """PREFIX.a and PREFIX.h."""
    def compute_at(self, consumer: Any, loop: Any = ...) -> Func:
        """What an iteration of the consumer's loop needs is computed at its begin. (consumer, loop) or a LoopLevel."""
    def compute_inline(self) -> Func:
        """Computed anew at each use."""
    def compute_root(self) -> Func:
        """Computed in full before its first use."""
    def compute_with(self, leader: Any, loop: Any = ..., align: Any = ...) -> Func:
        """Runs this stage in the loops of another one, from the outermost down to `loop`. `leader` is a Func, a Stage, or a LoopLevel, which names the loop itself. `align`: one strategy, or [(loop, strategy), ...]."""
    def copy_to_device(self, device: DeviceAPI = ...) -> Func: ...
    def copy_to_host(self) -> Func: ...
    def debug_to_file(self, filename: str) -> None:
        """Writes the values to a file when they are whole: .npy, .tif, .mat or raw."""
    def define_extern(self, function: str, params: Any, types: Any, dimensions: int, mangling: NameMangling = ...) -> None:
        """Has the C function compute the values, a box at a time."""
    def defined(self) -> bool: ...
    def dimensions(self) -> int:
        """How many axes; 0 while undefined."""
    def eager_inline(self, *args: Any) -> Func:
        """Puts definitions of pure Funcs in the place of the stage's calls of them."""
    def emit_text(self, what: Emit, args: list[Argument] = ..., target: Target = ...) -> str:
        """A stage of the compilation as text: Emit.algorithm, schedule, tree, conceptual_stmt, stmt, llvm_assembly or assembly. These texts are the same for C++ and Python: dimensions stand innermost first."""
    def explain(self, file: str | None = ..., target: Target = ..., run: bool = ...) -> str | None:
        """A page of HTML that needs no other file, as text or written to `file`: the graph of stages, what each directive did, the loops with sizes and footprints (for the sizes of set_estimates()), dependences drawn on a few instances, proofs, promises and checks, and the code with links between it and the loops. With `run` also the time of each stage: the pipeline runs on made-up inputs for the sizes of set_estimates(). Of a schedule that is refused, the page says why."""
    def extern_function_name(self) -> str: ...
    def fold_storage(self, dim: LoopLike, extent: ExprLike, fold_forward: bool = ...) -> Func:
        """Stores a dimension in a ring of `extent` cells."""
    def fuse(self, inner: LoopLike, outer: LoopLike, fused: LoopLike) -> Func:
        """The opposite of split: one loop over inner and outer."""
    def gpu_blocks(self, *args: Any) -> Func:
        """The loops are the blocks of a kernel, innermost first."""
    def gpu_lanes(self, loop: LoopLike, device: DeviceAPI = ...) -> Func: ...
    def gpu_single_thread(self, device: DeviceAPI = ...) -> Func: ...
    def gpu_threads(self, *args: Any) -> Func:
        """The loops are the threads of a block, innermost first."""
    def gpu_tile(self, *args: Any) -> Func:
        """gpu_tile(x, y, xi, yi, 16, 8): tiles; a tile is a block, its points are the threads."""
    def has_update_definition(self) -> bool: ...
    def hexagon(self, loop: Any = ...) -> Func: ...
    def hoist_storage(self, consumer: Any, loop: Any = ...) -> Func:
        """Memory is taken once outside of the loop. (consumer, loop) or a LoopLevel."""
    def hoist_storage_root(self) -> Func: ...
    def host(self, loop: Any = ...) -> Func: ...
    def in_(self, *args: Any) -> Func:
        """A Func between this one and its consumers, or all of them, to be scheduled."""
    def in_place(self, func: Func) -> Func:
        """Computes this Func in the memory of another one, which it reads."""
    def infer_arguments(self) -> list[Argument]:
        """The inputs in order of first use."""
    def infer_input_bounds(self, where: Any = ..., target: Target = ...) -> None:
        """Sets each ImageParam that has no array to a new one of the shape that is needed."""
    def invalidate_cache(self) -> None:
        """Compiles anew at the next use."""
    def is_extern(self) -> bool: ...
    def legal_alternatives(self, stage: Any, target: Target = ...) -> list[str]:
        """What the schedule may say next about a Func or a Stage of this pipeline: texts for why_not(), which has nothing against them. Of what could be said, any factor and any number of steps, it is a choice. CompileError where the schedule so far is illegal."""
    def memoize(self, key: Any = ...) -> Func:
        """Keeps what a production computes beyond the run."""
    def name(self) -> str: ...
    def never_partition(self, *args: Any) -> Func: ...
    def never_partition_all(self) -> Func: ...
    def num_update_definitions(self) -> int: ...
    def output_buffer(self) -> OutputImageParam:
        """The buffer of this Func as an output: constraints on its shape."""
    def output_buffers(self) -> list[OutputImageParam]: ...
    def outputs(self) -> int:
        """How many values it has at a point."""
    def pack(self, dim: LoopLike, factor: ExprLike) -> Func:
        """Stores a dimension in blocks of `factor` cells, each block dense in memory."""
    def parallel(self, loop: LoopLike, size: Any = ..., tail: TailStrategy = ...) -> Func:
        """With a size: tasks of so many iterations run in parallel."""
    def partition(self, loop: LoopLike, policy: Partition) -> Func:
        """Is the loop cut where guards and clamps inside it hold in its middle?"""
    def prefetch(self, what: Any, at: LoopLike, from_: LoopLike, offset: ExprLike = ..., strategy: PrefetchBoundStrategy = ...) -> Func:
        """At the top of loop `at`, asks the caches for what iteration `from_` + `offset` reads."""
    def print_loop_nest(self) -> None: ...
    def realize(self, where: Any = ..., target: Target = ..., context: Any = ...) -> Any:
        """realize([n, m]) computes the box of this shape, from 0 on, and returns a Buffer, or a tuple of Buffers for several outputs. realize(array) or realize([a, b]) writes to arrays or Buffers that exist, over the coordinates that they have. Compiles for this machine where definitions or directives have changed. CompileError where the pipeline cannot be compiled, RuntimeError where it fails. Other threads run meanwhile."""
    def rename(self, old: LoopLike, new: LoopLike) -> Func: ...
    def reorder(self, *args: Any) -> Func:
        """Innermost first; loops that are not named keep their places."""
    def reorder_storage(self, *args: Any) -> Func:
        """The order of the dimensions in memory, innermost first."""
    def reverse(self, loop: LoopLike) -> Func:
        """Runs the loop's iterations in the opposite order."""
    def ring_buffer(self, extent: ExprLike) -> Func:
        """Hoisted memory holds so many storages, taken in turn."""
    def rvars(self, i: int = ...) -> list[RVar]:
        """The variables of update i's RDom, as it lists them."""
    def serial(self, loop: LoopLike) -> Func: ...
    def set_estimate(self, var: LoopLike, min: ExprLike, extent: ExprLike) -> Func:
        """Bounds that an auto-scheduler may assume."""
    def set_estimates(self, bounds: Any) -> Func:
        """[(min, extent), ...] of the axes."""
    def shift(self, loop: LoopLike, offset: ExprLike) -> Func:
        """Counts the loop from another number on: loop + offset."""
    def skew(self, loop: LoopLike, by: LoopLike, skewed: Any, factor: Any = ...) -> Func:
        """skew(loop, by, skewed, factor): counts loop by loop + factor*by; skew(loop, by, factor) keeps its name. A stencil's loops, skewed by its loop over time, may be tiled and run in wavefronts."""
    def specialize(self, condition: ExprLike) -> Stage:
        """A branch of the stage for runs where the condition over Params and shapes holds, to be scheduled."""
    def specialize_fail(self, message: str) -> None:
        """Runs where no branch's condition holds end with an error."""
    def split(self, old: LoopLike, outer: LoopLike, inner: LoopLike, factor: ExprLike, tail: TailStrategy = ...) -> Func:
        """old -> outer*factor + inner. `outer` or `inner` may repeat the name of `old`."""
    def store_at(self, consumer: Any, loop: Any = ...) -> Func:
        """(consumer, loop) or a LoopLevel."""
    def store_in(self, memory: MemoryType) -> Func: ...
    def store_root(self) -> Func: ...
    def stream_loads(self, *args: Any) -> Func:
        """Reads of these, or of all, leave no trace in the caches."""
    def stream_stores(self) -> Func:
        """Stores go past the caches."""
    def tensorize(self, *args: Any) -> Func:
        """tensorize(m, n, k, instruction): the innermost loops are one instruction, of a warp or of a processor, whose dot products have no m."""
    def tile(self, *args: Any, **kwargs: Any) -> Func:
        """tile(x, y, xi, yi, 8, 4): splits x and y and orders the loops xi, yi, x, y, innermost first. tile(x, y, xo, yo, xi, yi, 8, 4) names the outer loops; lists take any number of dimensions: tile([x, y], [xo, yo], [xi, yi], [8, 4]). The tail stands last."""
    def trace_loads(self) -> Func: ...
    def trace_realizations(self) -> Func: ...
    def trace_stores(self) -> Func: ...
    def type(self) -> Type: ...
    def types(self) -> list[Type]: ...
    def unroll(self, loop: LoopLike, factor: Any = ..., tail: TailStrategy = ...) -> Func:
        """The whole loop, of constant extent; with a factor, its inner part after a split."""
    def update(self, i: int = ...) -> Stage:
        """Update definition i, to be scheduled. Directives on the Func mean its pure definition."""
    def update_args(self, i: int = ...) -> list[Expr]: ...
    def update_value(self, i: int = ...) -> Expr: ...
    def update_values(self, i: int = ...) -> Tuple: ...
    def value(self) -> Expr:
        """The right-hand side of the pure definition."""
    def values(self) -> Tuple: ...
    def vectorize(self, loop: LoopLike, factor: Any = ..., tail: TailStrategy = ...) -> Func:
        """The whole loop, of constant extent; with a factor, its inner part after a split."""
    def why_not(self, directives: str, target: Target = ...) -> Any | None:
        """What compiling would say if these directives stood behind the schedule so far: a Diagnostic, with the instances that they would break, or None where they are legal. One directive a line, in the text form of a Schedule: "f.update(0).parallel(r)", "f.vectorize(x, 8)". Nothing is changed. A text that is broken, and names that are not there, are answered by a Diagnostic as well."""

class FuncRef:
    """f[i, j]: a value, or what an assignment defines."""
    def __abs__(self) -> Expr: ...
    def __add__(self, arg0: Any) -> Any: ...
    def __and__(self, arg0: Any) -> Any: ...
    def __bool__(self) -> bool: ...
    def __eq__(self, other: Any) -> Any: ...  # type: ignore[override]
    def __floordiv__(self, arg0: Any) -> Any: ...
    def __ge__(self, arg0: Any) -> Any: ...
    def __getitem__(self, i: int) -> FuncTupleElementRef: ...
    def __gt__(self, arg0: Any) -> Any: ...
    def __iadd__(self, arg0: Any) -> Any: ...
    def __imul__(self, arg0: Any) -> Any: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __invert__(self) -> Expr: ...
    def __isub__(self, arg0: Any) -> Any: ...
    def __itruediv__(self, arg0: Any) -> Any: ...
    def __le__(self, arg0: Any) -> Any: ...
    def __len__(self) -> int: ...
    def __lshift__(self, arg0: Any) -> Any: ...
    def __lt__(self, arg0: Any) -> Any: ...
    def __mod__(self, arg0: Any) -> Any: ...
    def __mul__(self, arg0: Any) -> Any: ...
    def __ne__(self, other: Any) -> Any: ...  # type: ignore[override]
    def __neg__(self) -> Expr: ...
    def __or__(self, arg0: Any) -> Any: ...
    def __pos__(self) -> Expr: ...
    def __pow__(self, arg0: Any) -> Any: ...
    def __radd__(self, arg0: Any) -> Any: ...
    def __rand__(self, arg0: Any) -> Any: ...
    def __rfloordiv__(self, arg0: Any) -> Any: ...
    def __rlshift__(self, arg0: Any) -> Any: ...
    def __rmod__(self, arg0: Any) -> Any: ...
    def __rmul__(self, arg0: Any) -> Any: ...
    def __ror__(self, arg0: Any) -> Any: ...
    def __rpow__(self, arg0: Any) -> Any: ...
    def __rrshift__(self, arg0: Any) -> Any: ...
    def __rshift__(self, arg0: Any) -> Any: ...
    def __rsub__(self, arg0: Any) -> Any: ...
    def __rtruediv__(self, arg0: Any) -> Any: ...
    def __rxor__(self, arg0: Any) -> Any: ...
    def __setitem__(self, i: int, value: Any) -> None: ...
    def __sub__(self, arg0: Any) -> Any: ...
    def __truediv__(self, arg0: Any) -> Any: ...
    def __xor__(self, arg0: Any) -> Any: ...
    def type(self) -> Type: ...

class FuncTupleElementRef:
    """f[i, j][k]."""
    def __abs__(self) -> Expr: ...
    def __add__(self, arg0: Any) -> Any: ...
    def __and__(self, arg0: Any) -> Any: ...
    def __bool__(self) -> bool: ...
    def __eq__(self, other: Any) -> Any: ...  # type: ignore[override]
    def __floordiv__(self, arg0: Any) -> Any: ...
    def __ge__(self, arg0: Any) -> Any: ...
    def __gt__(self, arg0: Any) -> Any: ...
    def __iadd__(self, arg0: Any) -> Any: ...
    def __imul__(self, arg0: Any) -> Any: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __invert__(self) -> Expr: ...
    def __isub__(self, arg0: Any) -> Any: ...
    def __itruediv__(self, arg0: Any) -> Any: ...
    def __le__(self, arg0: Any) -> Any: ...
    def __lshift__(self, arg0: Any) -> Any: ...
    def __lt__(self, arg0: Any) -> Any: ...
    def __mod__(self, arg0: Any) -> Any: ...
    def __mul__(self, arg0: Any) -> Any: ...
    def __ne__(self, other: Any) -> Any: ...  # type: ignore[override]
    def __neg__(self) -> Expr: ...
    def __or__(self, arg0: Any) -> Any: ...
    def __pos__(self) -> Expr: ...
    def __pow__(self, arg0: Any) -> Any: ...
    def __radd__(self, arg0: Any) -> Any: ...
    def __rand__(self, arg0: Any) -> Any: ...
    def __rfloordiv__(self, arg0: Any) -> Any: ...
    def __rlshift__(self, arg0: Any) -> Any: ...
    def __rmod__(self, arg0: Any) -> Any: ...
    def __rmul__(self, arg0: Any) -> Any: ...
    def __ror__(self, arg0: Any) -> Any: ...
    def __rpow__(self, arg0: Any) -> Any: ...
    def __rrshift__(self, arg0: Any) -> Any: ...
    def __rshift__(self, arg0: Any) -> Any: ...
    def __rsub__(self, arg0: Any) -> Any: ...
    def __rtruediv__(self, arg0: Any) -> Any: ...
    def __rxor__(self, arg0: Any) -> Any: ...
    def __sub__(self, arg0: Any) -> Any: ...
    def __truediv__(self, arg0: Any) -> Any: ...
    def __xor__(self, arg0: Any) -> Any: ...
    def index(self) -> int: ...
    def type(self) -> Type: ...

class ImageParam(OutputImageParam):
    """An array input of a pipeline.

    ImageParam(type, axes, name); image[i, j] reads it, image.set(array) says what realize() passes.
    """
    def __getitem__(self, key: Any) -> Expr: ...
    def __init__(self, type: TypeLike, dimensions: int, name: str = ...) -> None: ...
    def get(self) -> Any:
        """None while nothing is set."""
    def in_(self, *args: Any) -> Func:
        """A Func that reads the image, to be scheduled: the consumers, or every one, read it in place of the image."""
    def reset(self) -> None: ...
    def set(self, image: Any) -> None:
        """A Buffer, or an array that it shares."""
    def trace_loads(self) -> None: ...

class JITUserContext:
    """Handlers for one or several calls.

    print(text) takes what pipelines print (sys.stdout without it), error(message) the message of a
    failed call, which then returns as if nothing had happened, trace(event) a dict for each trace event.
    What a handler raises ends the call and is raised by it.
    """
    def __init__(self, print: Any = ..., error: Any = ..., trace: Any = ...) -> None: ...
    @property
    def error(self) -> Any: ...
    @property
    def print(self) -> Any: ...
    @property
    def trace(self) -> Any: ...

class LoopAlignStrategy:
    """How compute_with lines up two loops of different bounds."""
    AlignStart: LoopAlignStrategy
    AlignEnd: LoopAlignStrategy
    NoAlign: LoopAlignStrategy
    Auto: LoopAlignStrategy
    name: str
    value: int
    def __int__(self) -> int: ...

class LoopLevel:
    """A place for compute_at and store_at.

    LoopLevel(func, loop) is a loop of a Func's stage. Copies share the place, and set() gives all of them
    another one until a pipeline that has it is compiled.
    """
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, func: FuncLike, loop: LoopLike, stage: int = ...) -> None: ...
    def defined(self) -> bool: ...
    @staticmethod
    def inlined() -> LoopLevel: ...
    @staticmethod
    def root() -> LoopLevel:
        """Outside of all loops."""
    def set(self, other: LoopLevel) -> None: ...

class MemoryType:
    """Where a Func's values are kept."""
    Auto: MemoryType
    Heap: MemoryType
    Stack: MemoryType
    Register: MemoryType
    GPUShared: MemoryType
    GPUTexture: MemoryType
    LockedCache: MemoryType
    VTCM: MemoryType
    AMXTile: MemoryType
    name: str
    value: int
    def __int__(self) -> int: ...

class Module:
    """Pipelines compiled for files, by their C functions' names."""
    def __init__(self, name: str, target: Target) -> None: ...
    def append(self, other: Module) -> None: ...
    def compile(self, files: dict[Emit, str]) -> None: ...
    def name(self) -> str: ...
    def target(self) -> Target: ...

class NameMangling:
    """How symbols of external functions are made."""
    Default: NameMangling
    C: NameMangling
    CPlusPlus: NameMangling
    name: str
    value: int
    def __int__(self) -> int: ...

class OutputImageParam:
    """The buffer of an output or of an input: its shape as expressions."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def defined(self) -> bool: ...
    def dim(self, axis: int) -> Axis: ...
    def dimensions(self) -> int:
        """How many axes."""
    def extent(self, axis: int) -> Expr: ...
    def host_alignment(self) -> int: ...
    def name(self) -> str: ...
    def set_estimates(self, bounds: Any) -> Any:
        """[(min, extent), ...], for auto-schedulers."""
    def set_host_alignment(self, bytes: int) -> Any:
        """Promises the alignment of the first element: a power of 2."""
    @property
    def shape(self) -> Any: ...
    def type(self) -> Type: ...

class Param:
    """A scalar input of a pipeline.

    Param(type, name, value): `type` is a Type or a dtype, the value the one that realize() passes.
    """
    def __abs__(self) -> Expr: ...
    def __add__(self, arg0: Any) -> Any: ...
    def __and__(self, arg0: Any) -> Any: ...
    def __bool__(self) -> bool: ...
    def __eq__(self, other: Any) -> Any: ...  # type: ignore[override]
    def __floordiv__(self, arg0: Any) -> Any: ...
    def __ge__(self, arg0: Any) -> Any: ...
    def __gt__(self, arg0: Any) -> Any: ...
    def __init__(self, type: TypeLike, name: str = ..., value: Any = ..., min: Any = ..., max: Any = ...) -> None: ...
    def __invert__(self) -> Expr: ...
    def __le__(self, arg0: Any) -> Any: ...
    def __lshift__(self, arg0: Any) -> Any: ...
    def __lt__(self, arg0: Any) -> Any: ...
    def __mod__(self, arg0: Any) -> Any: ...
    def __mul__(self, arg0: Any) -> Any: ...
    def __ne__(self, other: Any) -> Any: ...  # type: ignore[override]
    def __neg__(self) -> Expr: ...
    def __or__(self, arg0: Any) -> Any: ...
    def __pos__(self) -> Expr: ...
    def __pow__(self, arg0: Any) -> Any: ...
    def __radd__(self, arg0: Any) -> Any: ...
    def __rand__(self, arg0: Any) -> Any: ...
    def __rfloordiv__(self, arg0: Any) -> Any: ...
    def __rlshift__(self, arg0: Any) -> Any: ...
    def __rmod__(self, arg0: Any) -> Any: ...
    def __rmul__(self, arg0: Any) -> Any: ...
    def __ror__(self, arg0: Any) -> Any: ...
    def __rpow__(self, arg0: Any) -> Any: ...
    def __rrshift__(self, arg0: Any) -> Any: ...
    def __rshift__(self, arg0: Any) -> Any: ...
    def __rsub__(self, arg0: Any) -> Any: ...
    def __rtruediv__(self, arg0: Any) -> Any: ...
    def __rxor__(self, arg0: Any) -> Any: ...
    def __sub__(self, arg0: Any) -> Any: ...
    def __truediv__(self, arg0: Any) -> Any: ...
    def __xor__(self, arg0: Any) -> Any: ...
    def get(self) -> Any: ...
    def max_value(self) -> Expr: ...
    def min_value(self) -> Expr: ...
    def name(self) -> str: ...
    def set(self, value: Any) -> None:
        """The value that realize() passes. CompileError where the type does not hold it."""
    def set_estimate(self, value: Any) -> None:
        """What an auto-scheduler may assume."""
    def set_max_value(self, max: Any) -> None: ...
    def set_min_value(self, min: Any) -> None: ...
    def set_range(self, min: Any, max: Any) -> None:
        """Checked when the pipeline runs."""
    def type(self) -> Type: ...

class Partition:
    """Is a loop cut into a steady state and its ends?"""
    Auto: Partition
    Never: Partition
    Always: Partition
    name: str
    value: int
    def __int__(self) -> int: ...

class Pipeline:
    """One or several output Funcs, compiled together: Pipeline([f, g])."""
    def __init__(self, outputs: Any) -> None: ...
    def add_requirement(self, arg0: ExprLike, *args: Any) -> None:
        """Checked before a run computes anything; the message's texts and values are the error's."""
    def apply_autoscheduler(self, name: str, target: Target = ..., **kwargs: Any) -> AutoSchedulerResults:
        """Has the auto-scheduler of this name write directives to the Funcs."""
    def compile_jit(self, target: Target = ...) -> None: ...
    def compile_times(self) -> dict:
        """Of the last compilation in process, in seconds."""
    def compile_to(self, files: dict[Emit, str], args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """Writes each file of {Emit.object: path, ...}. `args` are the C function's inputs, by default in order of first use; `name` is its symbol, by default the output's name."""
    def compile_to_assembly(self, file: str, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """Assembly text."""
    def compile_to_bitcode(self, file: str, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """LLVM's bitcode."""
    def compile_to_callable(self, args: list[Argument], target: Target = ...) -> Callable:
        """Compiled as a function of these inputs and the outputs, which are arrays or Buffers."""
    def compile_to_conceptual_stmt(self, file: str, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """The loop tree."""
    def compile_to_file(self, prefix: str, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """PREFIX.o and PREFIX.h."""
    def compile_to_header(self, file: str, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """The C header."""
    def compile_to_llvm_assembly(self, file: str, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """LLVM's text."""
    def compile_to_lowered_stmt(self, file: str, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """The loop IR."""
    def compile_to_module(self, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> Module: ...
    def compile_to_multitarget_static_library(self, prefix: str, args: list[Argument] | None, targets: list[Target]) -> None:
        """Code for each target behind one function, which calls the first that the machine can run."""
    def compile_to_object(self, file: str, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """An object file."""
    def compile_to_static_library(self, prefix: str, args: list[Argument] | None = ..., name: str = ..., target: Target = ...) -> None:
        """PREFIX.a and PREFIX.h."""
    def emit_text(self, what: Emit, args: list[Argument] = ..., target: Target = ...) -> str:
        """A stage of the compilation as text: Emit.algorithm, schedule, tree, conceptual_stmt, stmt, llvm_assembly or assembly. These texts are the same for C++ and Python: dimensions stand innermost first."""
    def explain(self, file: str | None = ..., target: Target = ..., run: bool = ...) -> str | None:
        """A page of HTML that needs no other file, as text or written to `file`: the graph of stages, what each directive did, the loops with sizes and footprints (for the sizes of set_estimates()), dependences drawn on a few instances, proofs, promises and checks, and the code with links between it and the loops. With `run` also the time of each stage: the pipeline runs on made-up inputs for the sizes of set_estimates(). Of a schedule that is refused, the page says why."""
    def infer_arguments(self) -> list[Argument]:
        """The inputs in order of first use."""
    def infer_input_bounds(self, where: Any = ..., target: Target = ...) -> None:
        """Sets each ImageParam that has no array to a new one of the shape that is needed."""
    def invalidate_cache(self) -> None:
        """Compiles anew at the next use."""
    def legal_alternatives(self, stage: Any, target: Target = ...) -> list[str]:
        """What the schedule may say next about a Func or a Stage of this pipeline: texts for why_not(), which has nothing against them. Of what could be said, any factor and any number of steps, it is a choice. CompileError where the schedule so far is illegal."""
    def outputs(self) -> list[Func]: ...
    def print_loop_nest(self) -> None: ...
    def realize(self, where: Any = ..., target: Target = ..., context: Any = ...) -> Any:
        """realize([n, m]) computes the box of this shape, from 0 on, and returns a Buffer, or a tuple of Buffers for several outputs. realize(array) or realize([a, b]) writes to arrays or Buffers that exist, over the coordinates that they have. Compiles for this machine where definitions or directives have changed. CompileError where the pipeline cannot be compiled, RuntimeError where it fails. Other threads run meanwhile."""
    def trace_pipeline(self) -> None: ...
    def why_not(self, directives: str, target: Target = ...) -> Any | None:
        """What compiling would say if these directives stood behind the schedule so far: a Diagnostic, with the instances that they would break, or None where they are legal. One directive a line, in the text form of a Schedule: "f.update(0).parallel(r)", "f.vectorize(x, 8)". Nothing is changed. A text that is broken, and names that are not there, are answered by a Diagnostic as well."""

class PrefetchBoundStrategy:
    """What a prefetch does beyond the bounds of what it fetches."""
    Clamp: PrefetchBoundStrategy
    GuardWithIf: PrefetchBoundStrategy
    NonFaulting: PrefetchBoundStrategy
    name: str
    value: int
    def __int__(self) -> int: ...

class RDom:
    """A reduction domain: the loops that an update runs over.

    RDom([(min, extent), ...], name): nested loops in the order in which they are written, the last one
    innermost; r[0], r[1]... or r.x, r.y, r.z, r.w are their variables in the same order. RDom(image)
    runs over all points of an ImageParam or a Buffer, image[r[0], r[1], ...].
    """
    def __abs__(self) -> Expr: ...
    def __add__(self, arg0: Any) -> Any: ...
    def __and__(self, arg0: Any) -> Any: ...
    def __bool__(self) -> bool: ...
    def __eq__(self, other: Any) -> Any: ...  # type: ignore[override]
    def __floordiv__(self, arg0: Any) -> Any: ...
    def __ge__(self, arg0: Any) -> Any: ...
    def __getitem__(self, axis: int) -> RVar: ...
    def __gt__(self, arg0: Any) -> Any: ...
    def __init__(self, domain: Any, name: str = ...) -> None: ...
    def __invert__(self) -> Expr: ...
    def __le__(self, arg0: Any) -> Any: ...
    def __len__(self) -> int: ...
    def __lshift__(self, arg0: Any) -> Any: ...
    def __lt__(self, arg0: Any) -> Any: ...
    def __mod__(self, arg0: Any) -> Any: ...
    def __mul__(self, arg0: Any) -> Any: ...
    def __ne__(self, other: Any) -> Any: ...  # type: ignore[override]
    def __neg__(self) -> Expr: ...
    def __or__(self, arg0: Any) -> Any: ...
    def __pos__(self) -> Expr: ...
    def __pow__(self, arg0: Any) -> Any: ...
    def __radd__(self, arg0: Any) -> Any: ...
    def __rand__(self, arg0: Any) -> Any: ...
    def __rfloordiv__(self, arg0: Any) -> Any: ...
    def __rlshift__(self, arg0: Any) -> Any: ...
    def __rmod__(self, arg0: Any) -> Any: ...
    def __rmul__(self, arg0: Any) -> Any: ...
    def __ror__(self, arg0: Any) -> Any: ...
    def __rpow__(self, arg0: Any) -> Any: ...
    def __rrshift__(self, arg0: Any) -> Any: ...
    def __rshift__(self, arg0: Any) -> Any: ...
    def __rsub__(self, arg0: Any) -> Any: ...
    def __rtruediv__(self, arg0: Any) -> Any: ...
    def __rxor__(self, arg0: Any) -> Any: ...
    def __sub__(self, arg0: Any) -> Any: ...
    def __truediv__(self, arg0: Any) -> Any: ...
    def __xor__(self, arg0: Any) -> Any: ...
    def dimensions(self) -> int: ...
    def name(self) -> str:
        """Of the variable of a one-dimensional domain."""
    def type(self) -> Type: ...
    @property
    def w(self) -> Any: ...
    def where(self, condition: ExprLike) -> None:
        """Keeps only the points where the condition holds; calls add up."""
    @property
    def x(self) -> Any: ...
    @property
    def y(self) -> Any: ...
    @property
    def z(self) -> Any: ...

class RVar:
    """A variable of a reduction domain, or the name of a loop that splitting one makes."""
    def __abs__(self) -> Expr: ...
    def __add__(self, arg0: Any) -> Any: ...
    def __and__(self, arg0: Any) -> Any: ...
    def __bool__(self) -> bool: ...
    def __eq__(self, other: Any) -> Any: ...  # type: ignore[override]
    def __floordiv__(self, arg0: Any) -> Any: ...
    def __ge__(self, arg0: Any) -> Any: ...
    def __gt__(self, arg0: Any) -> Any: ...
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, name: str) -> None: ...
    def __invert__(self) -> Expr: ...
    def __le__(self, arg0: Any) -> Any: ...
    def __lshift__(self, arg0: Any) -> Any: ...
    def __lt__(self, arg0: Any) -> Any: ...
    def __mod__(self, arg0: Any) -> Any: ...
    def __mul__(self, arg0: Any) -> Any: ...
    def __ne__(self, other: Any) -> Any: ...  # type: ignore[override]
    def __neg__(self) -> Expr: ...
    def __or__(self, arg0: Any) -> Any: ...
    def __pos__(self) -> Expr: ...
    def __pow__(self, arg0: Any) -> Any: ...
    def __radd__(self, arg0: Any) -> Any: ...
    def __rand__(self, arg0: Any) -> Any: ...
    def __rfloordiv__(self, arg0: Any) -> Any: ...
    def __rlshift__(self, arg0: Any) -> Any: ...
    def __rmod__(self, arg0: Any) -> Any: ...
    def __rmul__(self, arg0: Any) -> Any: ...
    def __ror__(self, arg0: Any) -> Any: ...
    def __rpow__(self, arg0: Any) -> Any: ...
    def __rrshift__(self, arg0: Any) -> Any: ...
    def __rshift__(self, arg0: Any) -> Any: ...
    def __rsub__(self, arg0: Any) -> Any: ...
    def __rtruediv__(self, arg0: Any) -> Any: ...
    def __rxor__(self, arg0: Any) -> Any: ...
    def __sub__(self, arg0: Any) -> Any: ...
    def __truediv__(self, arg0: Any) -> Any: ...
    def __xor__(self, arg0: Any) -> Any: ...
    def extent(self) -> Expr:
        """How many values its range has."""
    def min(self) -> Expr:
        """Where its range begins."""
    def name(self) -> str: ...
    def type(self) -> Type: ...

class Stage:
    """One definition of a Func, to be scheduled."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def allow_race_conditions(self) -> Stage:
        """Promises that iterations that touch one cell do no harm."""
    def always_partition(self, *args: Any) -> Stage: ...
    def always_partition_all(self) -> Stage: ...
    def atomic(self, override_associativity_test: bool = ...) -> Stage:
        """Each update of a cell is one atomic step."""
    def compute_with(self, leader: Any, loop: Any = ..., align: Any = ...) -> Stage:
        """Runs this stage in the loops of another one, from the outermost down to `loop`. `leader` is a Func, a Stage, or a LoopLevel, which names the loop itself. `align`: one strategy, or [(loop, strategy), ...]."""
    def dump_argument_list(self) -> str: ...
    def eager_inline(self, *args: Any) -> Stage:
        """Puts definitions of pure Funcs in the place of the stage's calls of them."""
    def fission(self, around: LoopLike, part: Any = ...) -> Stage:
        """fission(part) or fission(around, part): takes the values of a Tuple's update apart. Inside of loop `around`, or outside of all loops, the new loop `part` runs the loops once for each."""
    def fuse(self, inner: LoopLike, outer: LoopLike, fused: LoopLike) -> Stage:
        """The opposite of split: one loop over inner and outer."""
    def gpu_blocks(self, *args: Any) -> Stage:
        """The loops are the blocks of a kernel, innermost first."""
    def gpu_lanes(self, loop: LoopLike, device: DeviceAPI = ...) -> Stage: ...
    def gpu_single_thread(self, device: DeviceAPI = ...) -> Stage: ...
    def gpu_threads(self, *args: Any) -> Stage:
        """The loops are the threads of a block, innermost first."""
    def gpu_tile(self, *args: Any) -> Stage:
        """gpu_tile(x, y, xi, yi, 16, 8): tiles; a tile is a block, its points are the threads."""
    def hexagon(self, loop: Any = ...) -> Stage: ...
    def hoist_invariants(self) -> list[Func]:
        """Takes factors that are the same in all steps of a reduction out of it; returns the Funcs that this makes."""
    def host(self, loop: Any = ...) -> Stage: ...
    def loops(self) -> list[str]:
        """The loops after all directives so far, innermost first."""
    def name(self) -> str: ...
    def never_partition(self, *args: Any) -> Stage: ...
    def never_partition_all(self) -> Stage: ...
    def parallel(self, loop: LoopLike, size: Any = ..., tail: TailStrategy = ...) -> Stage:
        """With a size: tasks of so many iterations run in parallel."""
    def partition(self, loop: LoopLike, policy: Partition) -> Stage:
        """Is the loop cut where guards and clamps inside it hold in its middle?"""
    def prefetch(self, what: Any, at: LoopLike, from_: LoopLike, offset: ExprLike = ..., strategy: PrefetchBoundStrategy = ...) -> Stage:
        """At the top of loop `at`, asks the caches for what iteration `from_` + `offset` reads."""
    def rename(self, old: LoopLike, new: LoopLike) -> Stage: ...
    def reorder(self, *args: Any) -> Stage:
        """Innermost first; loops that are not named keep their places."""
    def reverse(self, loop: LoopLike) -> Stage:
        """Runs the loop's iterations in the opposite order."""
    def rfactor(self, r: Any, v: Any = ...) -> Func:
        """rfactor(r.x, u) or rfactor([(r.x, u), ...]): splits an associative update into partial results and their merging. Returns the Func that holds partial results."""
    def scan(self, blocks: LoopLike, v: Var) -> Func:
        """Runs a scan in blocks: `blocks` is the outer part of a split of its loop. Returns the Func of the blocks' totals."""
    def serial(self, loop: LoopLike) -> Stage: ...
    def shift(self, loop: LoopLike, offset: ExprLike) -> Stage:
        """Counts the loop from another number on: loop + offset."""
    def skew(self, loop: LoopLike, by: LoopLike, skewed: Any, factor: Any = ...) -> Stage:
        """skew(loop, by, skewed, factor): counts loop by loop + factor*by; skew(loop, by, factor) keeps its name. A stencil's loops, skewed by its loop over time, may be tiled and run in wavefronts."""
    def specialize(self, condition: ExprLike) -> Stage:
        """A branch of the stage for runs where the condition over Params and shapes holds, to be scheduled."""
    def specialize_fail(self, message: str) -> None:
        """Runs where no branch's condition holds end with an error."""
    def split(self, old: LoopLike, outer: LoopLike, inner: LoopLike, factor: ExprLike, tail: TailStrategy = ...) -> Stage:
        """old -> outer*factor + inner. `outer` or `inner` may repeat the name of `old`."""
    def stream_loads(self, *args: Any) -> Stage:
        """Reads of these, or of all, leave no trace in the caches."""
    def stream_stores(self) -> Stage:
        """Stores go past the caches."""
    def tensorize(self, *args: Any) -> Stage:
        """tensorize(m, n, k, instruction): the innermost loops are one instruction, of a warp or of a processor, whose dot products have no m."""
    def tile(self, *args: Any, **kwargs: Any) -> Stage:
        """tile(x, y, xi, yi, 8, 4): splits x and y and orders the loops xi, yi, x, y, innermost first. tile(x, y, xo, yo, xi, yi, 8, 4) names the outer loops; lists take any number of dimensions: tile([x, y], [xo, yo], [xi, yi], [8, 4]). The tail stands last."""
    def unroll(self, loop: LoopLike, factor: Any = ..., tail: TailStrategy = ...) -> Stage:
        """The whole loop, of constant extent; with a factor, its inner part after a split."""
    def unscheduled(self) -> None:
        """Says that the stage has no schedule on purpose."""
    def vectorize(self, loop: LoopLike, factor: Any = ..., tail: TailStrategy = ...) -> Stage:
        """The whole loop, of constant extent; with a factor, its inner part after a split."""

class StmtOutputFormat:
    """Members:

      Text

      HTML
    """
    Text: StmtOutputFormat
    HTML: StmtOutputFormat
    name: str
    value: int
    def __int__(self) -> int: ...

class TailStrategy:
    """What a split does where its factor does not divide the extent."""
    RoundUp: TailStrategy
    GuardWithIf: TailStrategy
    Predicate: TailStrategy
    PredicateLoads: TailStrategy
    PredicateStores: TailStrategy
    ShiftInwards: TailStrategy
    ShiftInwardsAndBlend: TailStrategy
    RoundUpAndBlend: TailStrategy
    Auto: TailStrategy
    name: str
    value: int
    def __int__(self) -> int: ...

class Target:
    """The machine that code is made for.

    Target("x86-64-linux-avx2-fma"): architecture, bits, system, then features in any order. "host" is
    this machine. CompileError for a text that names an unknown part.
    """
    def __eq__(self, other: Any) -> bool: ...  # type: ignore[override]
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, text: str) -> None: ...
    @_overload
    def __init__(self, os: TargetOS, arch: TargetArch, bits: int, features: Iterable = ...) -> None: ...
    @property
    def arch(self) -> Any: ...
    @property
    def bits(self) -> Any: ...
    def features_all_of(self, arg0: Iterable) -> bool: ...
    def features_any_of(self, arg0: Iterable) -> bool: ...
    def has_feature(self, feature: Any) -> bool:
        """A member of TargetFeature or its name."""
    def has_gpu_feature(self) -> bool: ...
    def has_large_buffers(self) -> bool: ...
    def has_unknowns(self) -> bool: ...
    def maximum_buffer_size(self) -> int:
        """In bytes."""
    def natural_vector_size(self, type: TypeLike) -> int:
        """Lanes of a full native vector of this type."""
    @property
    def os(self) -> Any: ...
    def set_feature(self, feature: Any, value: bool = ...) -> None: ...
    def set_features(self, features: Iterable, value: bool = ...) -> None: ...
    def supported(self) -> bool:
        """Whether this library makes code for it."""
    def supports_device_api(self, device: DeviceAPI) -> bool: ...
    def supports_type(self, type: TypeLike) -> bool: ...
    def to_string(self) -> str: ...
    @staticmethod
    def validate_target_string(text: str) -> bool: ...
    @property
    def vector_bits(self) -> Any: ...
    def with_feature(self, feature: Any) -> Target: ...
    def without_feature(self, feature: Any) -> Target: ...

class TargetArch:
    """Members:

      ArchUnknown

      X86

      ARM

      Hexagon

      POWERPC

      WebAssembly

      RISCV
    """
    ArchUnknown: TargetArch
    X86: TargetArch
    ARM: TargetArch
    Hexagon: TargetArch
    POWERPC: TargetArch
    WebAssembly: TargetArch
    RISCV: TargetArch
    name: str
    value: int
    def __int__(self) -> int: ...

class TargetFeature:
    """Members:

      JIT

      Debug

      EnableBacktraces

      NoAsserts

      NoBoundsQuery

      SSE41

      AVX

      AVX2

      AVXVNNI

      FMA

      FMA4

      F16C

      ARMv7s

      NoNEON

      VSX

      POWER_ARCH_2_07

      CUDA

      CUDACapability30

      CUDACapability32

      CUDACapability35

      CUDACapability50

      CUDACapability61

      CUDACapability70

      CUDACapability75

      CUDACapability80

      CUDACapability86

      OpenCL

      CLDoubles

      CLAtomics64

      UserContext

      Profile

      NoRuntime

      Metal

      CPlusPlusMangling

      LargeBuffers

      HVX_128

      HVX_v62

      FuzzFloatStores

      SoftFloatABI

      MSAN

      AVX512

      AVX512_KNL

      AVX512_Skylake

      AVX512_Cannonlake

      AVX512_Zen4

      AVX512_Zen5

      AVX512_SapphireRapids

      TraceLoads

      TraceStores

      TraceRealizations

      TracePipeline

      HVX_v65

      HVX_v66

      HVX_v68

      CLHalf

      StrictFloat

      TSAN

      ASAN

      D3D12Compute

      CheckUnsafePromises

      HexagonDma

      EmbedBitcode

      EnableLLVMLoopOpt

      WasmMvpOnly

      WasmSimd128

      WasmThreads

      WasmBulkMemory

      WebGPU

      SVE

      SVE2

      EGL

      ARMDotProd

      ARMFp16

      LLVMLargeCodeModel

      RVV

      ARMv8a

      ARMv81a

      ARMv82a

      ARMv83a

      ARMv84a

      ARMv85a

      ARMv86a

      ARMv87a

      ARMv88a

      ARMv89a

      SanitizerCoverage

      ProfileByTimer

      SPIRV

      Vulkan

      VulkanInt8

      VulkanInt16

      VulkanInt64

      VulkanFloat16

      VulkanFloat64

      VulkanV10

      VulkanV12

      VulkanV13

      Semihosting

      AVX10_1

      X86APX

      Simulator

      ProfileCounts

      SME2

      SME_SVL128

      SME_SVL256

      SME_SVL512

      SME_SVL1024

      SME_SVL2048

      CUDACapability89

      CUDACapability90

      SM90a
    """
    JIT: TargetFeature
    Debug: TargetFeature
    EnableBacktraces: TargetFeature
    NoAsserts: TargetFeature
    NoBoundsQuery: TargetFeature
    SSE41: TargetFeature
    AVX: TargetFeature
    AVX2: TargetFeature
    AVXVNNI: TargetFeature
    FMA: TargetFeature
    FMA4: TargetFeature
    F16C: TargetFeature
    ARMv7s: TargetFeature
    NoNEON: TargetFeature
    VSX: TargetFeature
    POWER_ARCH_2_07: TargetFeature
    CUDA: TargetFeature
    CUDACapability30: TargetFeature
    CUDACapability32: TargetFeature
    CUDACapability35: TargetFeature
    CUDACapability50: TargetFeature
    CUDACapability61: TargetFeature
    CUDACapability70: TargetFeature
    CUDACapability75: TargetFeature
    CUDACapability80: TargetFeature
    CUDACapability86: TargetFeature
    OpenCL: TargetFeature
    CLDoubles: TargetFeature
    CLAtomics64: TargetFeature
    UserContext: TargetFeature
    Profile: TargetFeature
    NoRuntime: TargetFeature
    Metal: TargetFeature
    CPlusPlusMangling: TargetFeature
    LargeBuffers: TargetFeature
    HVX_128: TargetFeature
    HVX_v62: TargetFeature
    FuzzFloatStores: TargetFeature
    SoftFloatABI: TargetFeature
    MSAN: TargetFeature
    AVX512: TargetFeature
    AVX512_KNL: TargetFeature
    AVX512_Skylake: TargetFeature
    AVX512_Cannonlake: TargetFeature
    AVX512_Zen4: TargetFeature
    AVX512_Zen5: TargetFeature
    AVX512_SapphireRapids: TargetFeature
    TraceLoads: TargetFeature
    TraceStores: TargetFeature
    TraceRealizations: TargetFeature
    TracePipeline: TargetFeature
    HVX_v65: TargetFeature
    HVX_v66: TargetFeature
    HVX_v68: TargetFeature
    CLHalf: TargetFeature
    StrictFloat: TargetFeature
    TSAN: TargetFeature
    ASAN: TargetFeature
    D3D12Compute: TargetFeature
    CheckUnsafePromises: TargetFeature
    HexagonDma: TargetFeature
    EmbedBitcode: TargetFeature
    EnableLLVMLoopOpt: TargetFeature
    WasmMvpOnly: TargetFeature
    WasmSimd128: TargetFeature
    WasmThreads: TargetFeature
    WasmBulkMemory: TargetFeature
    WebGPU: TargetFeature
    SVE: TargetFeature
    SVE2: TargetFeature
    EGL: TargetFeature
    ARMDotProd: TargetFeature
    ARMFp16: TargetFeature
    LLVMLargeCodeModel: TargetFeature
    RVV: TargetFeature
    ARMv8a: TargetFeature
    ARMv81a: TargetFeature
    ARMv82a: TargetFeature
    ARMv83a: TargetFeature
    ARMv84a: TargetFeature
    ARMv85a: TargetFeature
    ARMv86a: TargetFeature
    ARMv87a: TargetFeature
    ARMv88a: TargetFeature
    ARMv89a: TargetFeature
    SanitizerCoverage: TargetFeature
    ProfileByTimer: TargetFeature
    SPIRV: TargetFeature
    Vulkan: TargetFeature
    VulkanInt8: TargetFeature
    VulkanInt16: TargetFeature
    VulkanInt64: TargetFeature
    VulkanFloat16: TargetFeature
    VulkanFloat64: TargetFeature
    VulkanV10: TargetFeature
    VulkanV12: TargetFeature
    VulkanV13: TargetFeature
    Semihosting: TargetFeature
    AVX10_1: TargetFeature
    X86APX: TargetFeature
    Simulator: TargetFeature
    ProfileCounts: TargetFeature
    SME2: TargetFeature
    SME_SVL128: TargetFeature
    SME_SVL256: TargetFeature
    SME_SVL512: TargetFeature
    SME_SVL1024: TargetFeature
    SME_SVL2048: TargetFeature
    CUDACapability89: TargetFeature
    CUDACapability90: TargetFeature
    SM90a: TargetFeature
    name: str
    value: int
    def __int__(self) -> int: ...

class TargetOS:
    """Members:

      OSUnknown

      Linux

      Windows

      OSX

      Android

      IOS

      QuRT

      NoOS

      Fuchsia

      WebAssemblyRuntime
    """
    OSUnknown: TargetOS
    Linux: TargetOS
    Windows: TargetOS
    OSX: TargetOS
    Android: TargetOS
    IOS: TargetOS
    QuRT: TargetOS
    NoOS: TargetOS
    Fuchsia: TargetOS
    WebAssemblyRuntime: TargetOS
    name: str
    value: int
    def __int__(self) -> int: ...

class Tuple:
    """Several values that are computed together: Tuple(a, b).

    Where a Func is defined, a tuple of Python does as well: f[x] = (a, b).
    """
    def __getitem__(self, arg0: int) -> Expr: ...
    def __init__(self, *args: Any) -> None: ...
    def __len__(self) -> int: ...

class Type:
    """The type of a value: a code, a width in bits and lanes.

    Type(dtype) takes what numpy.dtype takes, and bool, int (int32) and float (float32).
    """
    class Code:
        """Members:

      Int

      UInt

      Float

      Handle

      BFloat
    """
        Int: Type.Code
        UInt: Type.Code
        Float: Type.Code
        Handle: Type.Code
        BFloat: Type.Code
        name: str
        value: int
        def __int__(self) -> int: ...
    def __eq__(self, other: Any) -> bool: ...  # type: ignore[override]
    @_overload
    def __init__(self, type: TypeLike) -> None: ...
    @_overload
    def __init__(self, code: Type.Code, bits: int, lanes: int = ...) -> None: ...
    def bits(self) -> int:
        """Of one lane; a bool has one."""
    def bytes(self) -> int:
        """Of one lane in memory."""
    def can_represent(self, other: TypeLike) -> bool:
        """Does the type hold every value of the other?"""
    def code(self) -> Type.Code: ...
    @property
    def dtype(self) -> Any: ...
    def element_of(self) -> Type: ...
    def is_bfloat(self) -> bool: ...
    def is_bool(self) -> bool: ...
    def is_float(self) -> bool: ...
    def is_handle(self) -> bool: ...
    def is_int(self) -> bool:
        """Signed integers."""
    def is_scalar(self) -> bool: ...
    def is_uint(self) -> bool:
        """Unsigned integers; bool is one."""
    def is_vector(self) -> bool: ...
    def lanes(self) -> int: ...
    def max(self) -> Expr:
        """The largest value as a constant; of floats infinity."""
    def min(self) -> Expr:
        """The smallest value as a constant; of floats minus infinity."""
    def narrow(self) -> Type:
        """Half of the bits."""
    def widen(self) -> Type:
        """Twice the bits."""
    def with_bits(self, bits: int) -> Type: ...
    def with_code(self, code: Type.Code) -> Type: ...
    def with_lanes(self, lanes: int) -> Type: ...

class Var:
    """A dimension of a Func, and the name of its loop.

    Two Vars of the same name are the same. Var() makes a name that no other has.
    """
    def __abs__(self) -> Expr: ...
    def __add__(self, arg0: Any) -> Any: ...
    def __and__(self, arg0: Any) -> Any: ...
    def __bool__(self) -> bool: ...
    def __eq__(self, other: Any) -> Any: ...  # type: ignore[override]
    def __floordiv__(self, arg0: Any) -> Any: ...
    def __ge__(self, arg0: Any) -> Any: ...
    def __gt__(self, arg0: Any) -> Any: ...
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, name: str) -> None: ...
    def __invert__(self) -> Expr: ...
    def __le__(self, arg0: Any) -> Any: ...
    def __lshift__(self, arg0: Any) -> Any: ...
    def __lt__(self, arg0: Any) -> Any: ...
    def __mod__(self, arg0: Any) -> Any: ...
    def __mul__(self, arg0: Any) -> Any: ...
    def __ne__(self, other: Any) -> Any: ...  # type: ignore[override]
    def __neg__(self) -> Expr: ...
    def __or__(self, arg0: Any) -> Any: ...
    def __pos__(self) -> Expr: ...
    def __pow__(self, arg0: Any) -> Any: ...
    def __radd__(self, arg0: Any) -> Any: ...
    def __rand__(self, arg0: Any) -> Any: ...
    def __rfloordiv__(self, arg0: Any) -> Any: ...
    def __rlshift__(self, arg0: Any) -> Any: ...
    def __rmod__(self, arg0: Any) -> Any: ...
    def __rmul__(self, arg0: Any) -> Any: ...
    def __ror__(self, arg0: Any) -> Any: ...
    def __rpow__(self, arg0: Any) -> Any: ...
    def __rrshift__(self, arg0: Any) -> Any: ...
    def __rshift__(self, arg0: Any) -> Any: ...
    def __rsub__(self, arg0: Any) -> Any: ...
    def __rtruediv__(self, arg0: Any) -> Any: ...
    def __rxor__(self, arg0: Any) -> Any: ...
    def __sub__(self, arg0: Any) -> Any: ...
    def __truediv__(self, arg0: Any) -> Any: ...
    def __xor__(self, arg0: Any) -> Any: ...
    @staticmethod
    def implicit(n: int) -> Var: ...
    def is_implicit(self) -> bool: ...
    def name(self) -> str: ...
    @staticmethod
    def outermost() -> Var:
        """The place outside of all loops of a stage, for compute_at and its like."""
    def same_as(self, arg0: Var) -> bool: ...
    def type(self) -> Type: ...

_Generator: Any
_OnnxSession: Any
_PendingUpdate: Any
_definitions: Any
_generate_main: Any
_generator_names: Any
_graph_svg: Any
_place: Any
_register_alias: Any
_register_generator: Any
_schedule_text: Any
def BFloat(bits: int, lanes: int = ...) -> Type:
    """The upper half of a float32: BFloat(16)."""
def Bool(lanes: int = ...) -> Type: ...
class BoundaryConditions:
    @staticmethod
    def constant_exterior(source: Any, value: Any, bounds: Any = ...) -> Func:
        """Outside, `value`."""
    @staticmethod
    def mirror_image(source: Any, bounds: Any = ...) -> Func:
        """Copies, every other one mirrored."""
    @staticmethod
    def mirror_interior(source: Any, bounds: Any = ...) -> Func:
        """Mirrored copies whose edges are not doubled."""
    @staticmethod
    def repeat_edge(source: Any, bounds: Any = ...) -> Func:
        """Outside, the nearest point's value."""
    @staticmethod
    def repeat_image(source: Any, bounds: Any = ...) -> Func:
        """Copies, side by side."""
def Float(bits: int, lanes: int = ...) -> Type:
    """IEEE floats of 16, 32 or 64 bits: Float(32)."""
def Handle(lanes: int = ...) -> Type:
    """Pointers."""
def Int(bits: int, lanes: int = ...) -> Type:
    """Signed integers: Int(32)."""
def UInt(bits: int, lanes: int = ...) -> Type:
    """Unsigned integers: UInt(8)."""
_: Var
_0: Var
_1: Var
_2: Var
_3: Var
_4: Var
_5: Var
_6: Var
_7: Var
_8: Var
_9: Var
def abs(x: ExprLike) -> Expr:
    """Of a signed integer, unsigned of the same width."""
def absd(a: Any, b: Any) -> Expr:
    """|a - b| without overflow; unsigned for integers."""
def acos(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def acosh(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def argmax(domain_or_value: Any, value: Any = ..., name: Any = ...) -> Tuple:
    """The coordinates of the first such point, in the RDom's order, and the value."""
def argmin(domain_or_value: Any, value: Any = ..., name: Any = ...) -> Tuple:
    """The coordinates of the first such point, in the RDom's order, and the value."""
def asin(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def asinh(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def atan(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def atan2(a: Any, b: Any) -> Expr:
    """The angle of the point (b, a), in radians."""
def atanh(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def auto_schedule(pipeline: Any, target: Target = ..., **kwargs: Any) -> AutoSchedulerResults:
    """Completes the schedule of a Func or Pipeline: what the program has scheduled stays, the rest is chosen for sizes like the estimates (set_estimates). Options: parallelism, budget ("10s"), beam, seed, measure, records. CompileError where an output has no estimate."""
def bf16(value: Any) -> Expr:
    """The value cast to bfloat16; a number must fit."""
def cast(type: TypeLike, value: Any) -> Expr:
    """The value in another type, as static_cast in C++: floats to integers round towards zero."""
def ceil(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def clamp(value: ExprLike, min: Any, max: Any) -> Expr:
    """The value, or the bound that it lies beyond. The bounds are cast to its type."""
def compile_standalone_runtime(file: str, target: Target) -> None:
    """The runtime as an object."""
def concat_bits(*args: Any) -> Expr:
    """Unsigned integers side by side in a wider one, the first one lowest."""
def cos(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def cosh(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def count_leading_zeros(x: ExprLike) -> Expr:
    """Of 0 the width."""
def count_trailing_zeros(x: ExprLike) -> Expr:
    """Of 0 the width."""
def create_callable_from_generator(target: Target, name: str, params: dict[str, str] = ...) -> Callable: ...
def deserialize_pipeline(source: Any) -> Pipeline:
    """From a file's name, or from bytes."""
def div_round_to_zero(a: Any, b: Any) -> Expr:
    """Division as in C; 0 where b is 0."""
def erf(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def exp(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def extern_call(arg0: TypeLike, arg1: str, *args: Any) -> Expr:
    """extern_call(result_type, name, args...): the value of a C function of the process."""
def extract_bits(type: TypeLike, value: ExprLike, lsb: ExprLike) -> Expr:
    """The bits of the value from bit `lsb` on."""
def f16(value: Any) -> Expr:
    """The value cast to float16; a number must fit."""
def f32(value: Any) -> Expr:
    """The value cast to float32; a number must fit."""
def f64(value: Any) -> Expr:
    """The value cast to float64; a number must fit."""
def fast_cos(x: ExprLike) -> Expr:
    """Of float32, quicker and less exact than its model."""
def fast_exp(x: ExprLike) -> Expr:
    """Of float32, quicker and less exact than its model."""
def fast_integer_divide(a: Any, b: Any) -> Expr:
    """By an unsigned b of up to 32 bits."""
def fast_integer_modulo(a: Any, b: Any) -> Expr:
    """By an unsigned b of up to 32 bits."""
def fast_inverse(x: ExprLike) -> Expr:
    """Of float32, quicker and less exact than its model."""
def fast_inverse_sqrt(x: ExprLike) -> Expr:
    """Of float32, quicker and less exact than its model."""
def fast_log(x: ExprLike) -> Expr:
    """Of float32, quicker and less exact than its model."""
def fast_pow(a: Any, b: Any) -> Expr:
    """Of float32, quicker and less exact than its model."""
def fast_sin(x: ExprLike) -> Expr:
    """Of float32, quicker and less exact than its model."""
def floor(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def fract(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def gather(*args: Any) -> Expr: ...
def get_host_target() -> Target:
    """The machine this runs on."""
def get_jit_target_from_environment() -> Target:
    """PH_JIT_TARGET or HL_JIT_TARGET, else the host, with the feature jit."""
def get_target_from_environment() -> Target:
    """PH_TARGET or HL_TARGET, else the host."""
def halving_add(a: Any, b: Any) -> Expr:
    """(a + b)/2 without overflow, rounded down."""
def halving_sub(a: Any, b: Any) -> Expr:
    """(a - b)/2, rounded down, which wraps."""
def hypot(a: Any, b: Any) -> Expr:
    """sqrt(a*a + b*b)."""
def i16(value: Any) -> Expr:
    """The value cast to int16; a number must fit."""
def i16_sat(value: ExprLike) -> Expr:
    """The value of int16 that is nearest."""
def i32(value: Any) -> Expr:
    """The value cast to int32; a number must fit."""
def i32_sat(value: ExprLike) -> Expr:
    """The value of int32 that is nearest."""
def i64(value: Any) -> Expr:
    """The value cast to int64; a number must fit."""
def i64_sat(value: ExprLike) -> Expr:
    """The value of int64 that is nearest."""
def i8(value: Any) -> Expr:
    """The value cast to int8; a number must fit."""
def i8_sat(value: ExprLike) -> Expr:
    """The value of int8 that is nearest."""
def is_finite(x: ExprLike) -> Expr:
    """A bool."""
def is_inf(x: ExprLike) -> Expr:
    """A bool."""
def is_nan(x: ExprLike) -> Expr:
    """A bool."""
def lambda_(*args: Any) -> Func:
    """lambda_(i, j, e) is f in f[i, j] = e."""
def lerp(zero: Any, one: Any, weight: ExprLike) -> Expr:
    """Linear interpolation: `zero` where weight is 0, `one` where it is 1 or the largest value of its unsigned type."""
def likely(x: ExprLike) -> Expr:
    """The value itself, and a hint: loops are cut so that the branch, min, max or clamp around it takes it in their middle."""
def likely_if_innermost(x: ExprLike) -> Expr:
    """likely() where no loop is inside the one that would be cut."""
def link_modules(name: str, modules: list[Module]) -> Module: ...
def load_plugin(name: str) -> None:
    """Loads a library that registers auto-schedulers."""
def log(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def max(*args: Any) -> Expr:
    """The largest of two or more values."""
def maximum(domain_or_value: Any, value: Any = ..., name: Any = ...) -> Expr:
    """Over the RDom that occurs in the value, or over the one that stands first. The name may be a Func, which is then defined and can be scheduled."""
def memoize_tag(arg0: ExprLike, *args: Any) -> Expr:
    """The result, which a memoized Func takes to be a function of the keys alone."""
def min(*args: Any) -> Expr:
    """The smallest of two or more values."""
def minimum(domain_or_value: Any, value: Any = ..., name: Any = ...) -> Expr:
    """Over the RDom that occurs in the value, or over the one that stands first. The name may be a Func, which is then defined and can be scheduled."""
def mod_round_to_zero(a: Any, b: Any) -> Expr:
    """The remainder as in C; 0 where b is 0."""
def mul_shift_right(a: ExprLike, b: Any, q: Any) -> Expr:
    """a*b in twice the width, shifted right by q, as the nearest value of a's type."""
def mux(id: ExprLike, values: Any) -> Any:
    """values[id]; the last one where id is out of range."""
def popcount(x: ExprLike) -> Expr:
    """How many bits are set."""
def pow(a: Any, b: Any) -> Expr:
    """a to the power of b. Constant integer powers are products."""
def print(arg0: ExprLike, *args: Any) -> Expr:
    """The first value; wherever it is computed all of them are printed."""
def print_when(arg0: ExprLike, arg1: ExprLike, *args: Any) -> Expr:
    """print() where the condition holds."""
def product(domain_or_value: Any, value: Any = ..., name: Any = ...) -> Expr:
    """Over the RDom that occurs in the value, or over the one that stands first. The name may be a Func, which is then defined and can be scheduled."""
def propagate_adjoints(output: FuncLike, adjoint: Any = ..., bounds: Any = ...) -> Derivative:
    """Derivatives of the sum of adjoint*output over the bounds; of an output without axes, with adjoint 1."""
def pure_extern_call(arg0: TypeLike, arg1: str, *args: Any) -> Expr:
    """extern_call() of a function that is pure."""
def random_float(seed: Any = ...) -> Expr:
    """In [0, 1): equal in every run, whatever the schedule."""
def random_int(seed: Any = ...) -> Expr: ...
def random_uint(seed: Any = ...) -> Expr: ...
def reinterpret(type: TypeLike, value: ExprLike) -> Expr:
    """The same bits as another type of the same width."""
def require(arg0: ExprLike, arg1: ExprLike, *args: Any) -> Expr:
    """The value; where the condition does not hold, the run ends with an error that has the message."""
def round(x: ExprLike) -> Expr:
    """To the nearest integer, halves to the even one."""
def rounding_halving_add(a: Any, b: Any) -> Expr:
    """(a + b)/2, halves rounded up."""
def rounding_mul_shift_right(a: ExprLike, b: Any, q: Any) -> Expr:
    """mul_shift_right with halves rounded up."""
def rounding_shift_left(a: Any, b: Any) -> Expr:
    """Wraps."""
def rounding_shift_right(a: Any, b: Any) -> Expr:
    """Halves are rounded up."""
def saturating_add(a: Any, b: Any) -> Expr:
    """The sum, or what of its type is nearest."""
def saturating_cast(type: TypeLike, value: ExprLike) -> Expr:
    """The value of the type that is nearest. NaN becomes 0."""
def saturating_sub(a: Any, b: Any) -> Expr:
    """The difference, or what of its type is nearest."""
def saturating_sum(domain_or_value: Any, value: Any = ..., name: Any = ...) -> Expr:
    """Over the RDom that occurs in the value, or over the one that stands first. The name may be a Func, which is then defined and can be scheduled."""
def scatter(*args: Any) -> Expr:
    """Several cells of one update: f[scatter(a, b)] = gather(u, v) writes u to f[a], v to f[b]."""
def select(*args: Any) -> Any:
    """select(c0, v0, c1, v1, ..., otherwise): the first value whose condition holds. Values may be tuples; all are evaluated."""
@_overload
def serialize_pipeline(pipeline: Pipeline, file: str) -> None:
    """serialize_pipeline(*args, **kwargs) An algorithm with its schedule as a text file."""
@_overload
def serialize_pipeline(pipeline: Pipeline) -> bytes:
    """serialize_pipeline(*args, **kwargs) An algorithm with its schedule as a text file."""
def set_verification(wanted: str) -> None:
    """"full" proves the lowered loops of every later compilation a second time against the algorithm, "passes" checks the loop IR after each pass, "none" leaves it at the proof of the schedule. Where a check fails, the compilation raises InternalError. PH_VERIFY in the environment says the same."""
def sin(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def sinh(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def sqrt(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def strict_float(x: ExprLike) -> Expr:
    """The value with floats computed exactly as written: no contraction, no reassociation."""
def sum(domain_or_value: Any, value: Any = ..., name: Any = ...) -> Expr:
    """Over the RDom that occurs in the value, or over the one that stands first. The name may be a Func, which is then defined and can be scheduled."""
def tan(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def tanh(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def target_arch_is(arch: TargetArch) -> Expr: ...
def target_bits() -> Expr: ...
def target_has_feature(feature: Any) -> Expr: ...
def target_natural_vector_size(type: TypeLike) -> Expr: ...
def target_os_is(os: TargetOS) -> Expr: ...
def trunc(x: ExprLike) -> Expr:
    """Of a float, in its type; other numbers are cast to float32."""
def u16(value: Any) -> Expr:
    """The value cast to uint16; a number must fit."""
def u16_sat(value: ExprLike) -> Expr:
    """The value of uint16 that is nearest."""
def u32(value: Any) -> Expr:
    """The value cast to uint32; a number must fit."""
def u32_sat(value: ExprLike) -> Expr:
    """The value of uint32 that is nearest."""
def u64(value: Any) -> Expr:
    """The value cast to uint64; a number must fit."""
def u64_sat(value: ExprLike) -> Expr:
    """The value of uint64 that is nearest."""
def u8(value: Any) -> Expr:
    """The value cast to uint8; a number must fit."""
def u8_sat(value: ExprLike) -> Expr:
    """The value of uint8 that is nearest."""
def undef(type: TypeLike) -> Expr:
    """No value: a definition writes nothing where its value would be made from one."""
def unsafe_promise_clamped(value: ExprLike, min: Any, max: Any) -> Expr:
    """The value, which is promised to lie in [min, max]."""
def verification() -> str:
    """"none", "passes" or "full": what set_verification() or PH_VERIFY says."""
version: str
def widen_right_add(a: Any, b: Any) -> Expr:
    """b has half of a's width; the result has a's type."""
def widen_right_mul(a: Any, b: Any) -> Expr:
    """b has half of a's width; the result has a's type."""
def widen_right_sub(a: Any, b: Any) -> Expr:
    """b has half of a's width; the result has a's type."""
def widening_add(a: Any, b: Any) -> Expr:
    """In a type of twice the width, which loses nothing."""
def widening_mul(a: Any, b: Any) -> Expr:
    """In a type of twice the width, which loses nothing."""
def widening_shift_left(a: Any, b: Any) -> Expr:
    """a of twice the width, shifted by b."""
def widening_shift_right(a: Any, b: Any) -> Expr:
    """a of twice the width, shifted by b."""
def widening_sub(a: Any, b: Any) -> Expr:
    """In a type of twice the width, which loses nothing."""
