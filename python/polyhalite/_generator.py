"""Generators: a pipeline with its inputs, outputs and parameters, compiled ahead of time.

    @ph.generator("brighter")
    class Brighter(ph.Generator):
        amount = ph.GeneratorParam(20)
        input = ph.InputBuffer(ph.UInt(8), 2)
        output = ph.OutputBuffer(ph.UInt(8), 2)

        def generate(self):
            self.output[i, j] = self.input[i, j] + ph.u8(self.amount)

        def schedule(self):
            self.output.vectorize(j, 16)

    if __name__ == "__main__":
        ph.main()

The program's command line is that of generators in C++: see --help.
"""

import sys

from . import _core
from ._errors import CompileError, Diagnostic


_BOOLS = {"true": True, "True": True, "false": False, "False": False}


def _refuse(what, why, fix):
    raise CompileError([Diagnostic(what, why, fix, *_core._place())])


class _Declaration:
    """A member of a generator's class; C++ reads these fields."""

    def __init__(self, role, type=None, dimensions=None, count=None):
        self.role, self.type, self.dimensions, self.count = role, type, dimensions, count


class GeneratorParam(_Declaration):
    """A value that is fixed when the generator runs, by default `default`, set as NAME=VALUE.

    Texts read as the default's type: bool, int, float, str, Type, Target, or a list of numbers.
    `choices` maps words to values; min and max are bounds of numbers.
    """

    def __init__(self, default, min=None, max=None, choices=None):
        super().__init__("param")
        self.default, self.min, self.max = default, min, max
        self.choices = dict(choices) if choices else None

    def check(self, name, value):
        """The value, where it is within the bounds."""
        low = self.min is not None and value < self.min
        high = self.max is not None and value > self.max
        if low or high:
            _refuse(
                f"parameter '{name}' is {value}",
                f"its values lie in [{self.min}, {self.max}]",
                "set it to one of them",
            )
        return value

    def parse(self, name, text):
        """The value that a text of the command line stands for."""
        if self.choices is not None:
            if text not in self.choices:
                words = ", ".join(self.choices)
                _refuse(
                    f"parameter '{name}' is '{text}'",
                    "that is none of its values",
                    f"choose from: {words}",
                )
            return self.choices[text]
        try:
            return self.check(name, self._read(text))
        except (KeyError, ValueError, TypeError) as error:
            if isinstance(error, CompileError):
                raise
            _refuse(
                f"parameter '{name}' is '{text}'",
                f"a value such as {self.text(self.default)} is wanted",
                f"write it as in {name}={self.text(self.default)}",
            )

    def _read(self, text):
        default = self.default
        if isinstance(default, bool):
            return _BOOLS[text]
        if isinstance(default, (int, float, str)):
            return type(default)(text)
        if isinstance(default, (list, tuple)):
            of = type(default[0]) if default else float
            return type(default)(of(word) for word in text.split(",") if word)
        if isinstance(default, _core.Target):
            return _core.Target(text)
        return _core.Type(text)

    def text(self, value):
        """As on the command line."""
        if self.choices is not None:
            for word, choice in self.choices.items():
                if choice == value:
                    return word
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (list, tuple)):
            return ",".join(str(v) for v in value)
        return str(value)


def InputBuffer(type, dimensions, count=None):
    """An array that the C function takes; an ImageParam in generate(). None leaves open what
    configure() or NAME.type and NAME.dim give. With a count, a list of so many."""
    return _Declaration("input_buffer", type, dimensions, count)


def InputFunc(type, dimensions, count=None):
    """As InputBuffer, for generators that other programs call with Funcs; a Func in generate()."""
    return _Declaration("input_func", type, dimensions, count)


def InputScalar(type, default=None, min=None, max=None, count=None):
    """A number that the C function takes; an Expr in generate()."""
    d = _Declaration("input_scalar", type, 0, count)
    d.default, d.min, d.max = default, min, max
    return d


def OutputBuffer(type, dimensions, count=None):
    """An array that the C function writes; a Func in generate(). A tuple of types for several
    values at a point."""
    return _Declaration("output_buffer", type, dimensions, count)


def OutputFunc(type, dimensions, count=None):
    """The same, for generators whose callers use it as a Func."""
    return _Declaration("output_func", type, dimensions, count)


def OutputScalar(type):
    """A number that the C function writes: a Func without axes, output[()] = e."""
    return _Declaration("output_scalar", type, 0)


class Generator:
    """The base of generators. An object runs once: make it with parameters, bind inputs or leave
    them to be arguments, and ask for its pipeline or its callable.

    Brighter(amount=30, target="host").compile_to_callable()(input, output)
    """

    def __init__(self, target=None, autoscheduler="", **params):
        target = _core.Target() if target is None else target
        if isinstance(target, str):
            target = _core.Target(target)
        self._core = _core._Generator(type(self), self, target, autoscheduler)
        for name, value in params.items():
            self._core.set_param(name, value)

    @classmethod
    def _declarations(cls):
        """(name, declaration) of all members, base classes first."""
        found = {}
        for base in reversed(cls.__mro__):
            for name, value in vars(base).items():
                if isinstance(value, _Declaration):
                    found[name] = value
        return list(found.items())

    # What subclasses have.
    def configure(self):
        """May add inputs and outputs."""

    def generate(self):
        """Defines the outputs."""
        _refuse(
            f"generator {type(self).__name__} has no generate()",
            "nothing says what its outputs are",
            "define generate(self)",
        )

    def schedule(self):
        """Schedules what generate() made."""

    # What generate() and configure() may ask.
    def add_input(self, name, declaration):
        """In configure(): one more input, behind the declared ones."""
        self._core.add_member(name, declaration)

    def add_output(self, name, declaration):
        """In configure(): one more output."""
        self._core.add_member(name, declaration)

    def add_requirement(self, condition, *message):
        """As Pipeline.add_requirement()."""
        self._core.add_requirement(condition, *message)

    def get_target(self):
        """The Target that the code is made for."""
        return self._core.target()

    def natural_vector_size(self, type):
        """Lanes of a full native vector of the type."""
        return self._core.target().natural_vector_size(type)

    def using_autoscheduler(self):
        """Shall schedule() leave everything to an auto-scheduler?"""
        return self._core.using_autoscheduler()

    # What programs ask.
    def bind(self, **inputs):
        """Gives inputs by name: Funcs, arrays, Exprs, numbers, or lists of them."""
        for name, value in inputs.items():
            self._core.bind_input(name, value)
        return self

    def apply(self, *inputs):
        """Runs on these inputs, in declared order. Returns the output Funcs: one, or a tuple."""
        self._core.set_inputs(*inputs)
        outputs = self.build_pipeline().outputs()
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def build_pipeline(self):
        """Runs configure(), generate() and schedule(); the Pipeline of the outputs."""
        return self._core.build_pipeline()

    def arguments(self):
        """The inputs of the C function, in order; after build_pipeline()."""
        return self._core.arguments()

    def compile_to_callable(self):
        """Compiled in process: inputs in declared order, then outputs."""
        return self._core.compile_to_callable()


def generator(name=None):
    """Registers a class under a name, by default its own; ph.Generator is made its base."""

    def register(cls):
        if not issubclass(cls, Generator):
            cls = type(cls.__name__, (cls, Generator), dict(vars(cls), __slots__=()))
        _core._register_generator(name or cls.__name__, cls)
        cls._generator_name = name or cls.__name__
        return cls

    return register


def alias(**aliases):
    """Other names for a registered class with other values of its parameters."""

    def register(cls):
        for name, values in aliases.items():
            texts = {k: _text_of(cls, k, v) for k, v in values.items()}
            _core._register_alias(name, cls._generator_name, texts)
        return cls

    return register


def _text_of(cls, name, value):
    declared = dict(cls._declarations()).get(name)
    return declared.text(value) if isinstance(declared, GeneratorParam) else str(value)


def main(argv=None):
    """The command line of a program of generators: see --help. Ends the process with its code."""
    words = list(sys.argv if argv is None else argv)
    code, output, errors = _core._generate_main(words)
    sys.stdout.write(output)
    sys.stderr.write(errors)
    sys.exit(code)
