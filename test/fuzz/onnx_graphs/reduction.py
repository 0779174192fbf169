"""Makes a failing case small: nodes go while the failure stays of the same sort."""

import copy
import pickle

import numpy
import onnx
import trial
from case import element_type
from onnx import AttributeProto, helper


def reduce(case, seconds=trial.SECONDS):
    """The smallest failing case found, and its outcome; (None, outcome) where the case does not fail."""
    outcome = trial.run(lambda: case, seconds)
    if not outcome.failed:
        return None, outcome
    fails = lambda candidate: trial.run(lambda: candidate, seconds).sort == outcome.sort
    values = all_values(case, seconds)
    improved = True
    while improved:
        improved = False
        for candidate in candidates(case, values):
            if size(candidate) < size(case) and fails(candidate):
                case, improved = candidate, True
                break
    return case, trial.run(lambda: case, seconds)


def size(case):
    """What becomes less with each step: nodes, outputs, open sizes."""
    graph = case.model.graph
    unknown = sum(not d.dim_value for v in graph.input for d in v.type.tensor_type.shape.dim)
    return len(graph.node), len(graph.output), unknown


def all_values(case, seconds):
    """What onnxruntime has for each value, as far as it runs the model."""
    def work(write):
        probe = copy.deepcopy(case)
        names = [n for node in probe.model.graph.node for n in node.output if n]
        known = {o.name for o in probe.model.graph.output}
        probe.model.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names if n not in known)
        write(b"+" + pickle.dumps(trial.run_peer(probe, names)))

    data, _ = trial.in_child(work, seconds)
    return pickle.loads(data[1:]) if data.startswith(b"+") else {}


def candidates(case, values):
    """Smaller cases, those that leave most away first."""
    graph = case.model.graph
    if case.expected is None:
        if len(graph.output) > 1:
            for output in graph.output:
                yield with_outputs(case, [output.name])
        for node in graph.node:  # the graph up to here
            names = [n for n in node.output if n]
            if names != [o.name for o in graph.output]:
                yield with_outputs(case, names)
        for index in reversed(range(len(graph.node))):  # its results are inputs
            names = [n for n in graph.node[index].output if n]
            if all(isinstance(values.get(n), numpy.ndarray) for n in names):
                smaller = cut(case, index, {n: values[n] for n in names})
                if smaller.model.graph.output:
                    yield smaller
        for node in graph.node:
            for bypassed in bypasses(case, node, values):
                yield bypassed
    for value in graph.input:
        shape = case.feeds[value.name].shape if value.name in case.feeds else ()
        if [d.dim_value for d in value.type.tensor_type.shape.dim] != list(shape):
            yield with_known_sizes(case, value.name)


def bypasses(case, node, values):
    """An operand of the same shape and type takes the result's place."""
    if len(node.output) != 1 or not isinstance(values.get(node.output[0]), numpy.ndarray):
        return
    result = values[node.output[0]]
    if node.output[0] in [o.name for o in case.model.graph.output]:
        return
    for operand in node.input:
        array = values.get(operand, case.feeds.get(operand))
        if isinstance(array, numpy.ndarray) and (array.shape, array.dtype) == (result.shape, result.dtype):
            smaller = copy.deepcopy(case)
            for other in smaller.model.graph.node:
                for i, name in enumerate(other.input):
                    if name == node.output[0]:
                        other.input[i] = operand
            yield without_dead(smaller)


def with_outputs(case, names):
    smaller = copy.deepcopy(case)
    del smaller.model.graph.output[:]
    smaller.model.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names)
    return without_dead(smaller)


def cut(case, index, results):
    smaller = copy.deepcopy(case)
    graph = smaller.model.graph
    del graph.node[index]
    left = [o for o in graph.output if o.name not in results]
    del graph.output[:]
    graph.output.extend(left)
    for name, array in results.items():
        graph.input.append(helper.make_tensor_value_info(name, element_type(array.dtype), array.shape))
        smaller.feeds[name] = array
    return without_dead(smaller)


def with_known_sizes(case, name):
    smaller = copy.deepcopy(case)
    for value in smaller.model.graph.input:
        if value.name == name:
            x = case.feeds[name]
            value.CopyFrom(helper.make_tensor_value_info(name, element_type(x.dtype), x.shape))
    return smaller


def names_read(node):
    """Operands, and what graphs inside read."""
    names = set(node.input)
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            names.update(o.name for o in attribute.g.output)
            for inner in attribute.g.node:
                names |= names_read(inner)
    return names


def without_dead(case):
    """Nodes, weights and inputs that nothing reads go."""
    graph = case.model.graph
    while True:
        read = {o.name for o in graph.output}.union(*(names_read(n) for n in graph.node))
        live = [n for n in graph.node if read.intersection(n.output)]
        if len(live) == len(graph.node):
            break
        del graph.node[:]
        graph.node.extend(live)
    for list_ in (graph.initializer, graph.input):
        kept = [v for v in list_ if v.name in read]
        del list_[:]
        list_.extend(kept)
    case.feeds = {i.name: case.feeds[i.name] for i in graph.input if i.name in case.feeds}
    return case
