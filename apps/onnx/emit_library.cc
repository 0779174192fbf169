#include "apps/onnx/emit_library.h"

#include <cctype>
#include <filesystem>
#include <fstream>

namespace polyhalite::onnx {

namespace {

constexpr size_t kWeightAlignment = 64;

std::string identifier(const std::string &text) {
  std::string out;
  for (char c : text) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0]))) out = "m" + out;
  return out;
}

void write_file(const std::string &path, const std::string &bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file.good())
    user_error("'" + path + "' cannot be written", "the disk or the folder refuses",
               "choose another folder");
}

std::vector<int64_t> fixed_shape(const Value &value, const Shape &given) {
  const auto shape = constant_shape(given);
  if (!shape) {
    user_error("'" + value.name + "' has the shape " + to_string(given),
               "a library is made for fixed sizes",
               "give a number for each: --shape NAME=1,3,224,224");
  }
  return *shape;
}
std::vector<int64_t> fixed_shape(const Graph &g, ValueId v) {
  return fixed_shape(g.value(v), *g.value(v).shape);
}

// The header: straight-line C, one block for each call.
class HeaderWriter {
 public:
  HeaderWriter(const Program &p, const std::string &name) : p_(p), g_(p.graph()), name_(name) {
    size_t at = 0;
    for (const Program::Weight &w : p.weights()) {
      offsets_.push_back(at);
      at += (w.bytes + kWeightAlignment - 1) / kWeightAlignment * kWeightAlignment;
    }
    weight_bytes_ = at;
    arena_ = p.arena({});
  }

  size_t weight_offset(size_t i) const { return offsets_[i]; }
  size_t weight_bytes() const { return weight_bytes_; }

  std::string text() {
    const std::string guard = "POLYHALITE_MODEL_" + name_ + "_H";
    std::string s =
        "/* A model compiled by Polyhalite. Map " + name_ + ".weights, give " + name_ +
        "_memory_bytes() bytes\n * of memory (both aligned to 64 bytes), and call " + name_ +
        "_run(). Tensors are dense, the last\n * dimension innermost. */\n#ifndef " + guard +
        "\n#define " + guard +
        "\n\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n"
        "#include \"polyhalite_buffer.h\"\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    for (const Kernel &k : p_.kernels()) s += prototype(k);
    s += "\nstatic inline size_t " + name_ + "_memory_bytes(void) { return " +
         std::to_string(arena_.bytes) + "; }\n";
    s += "static inline size_t " + name_ + "_weights_bytes(void) { return " +
         std::to_string(weight_bytes_) + "; }\n\n";
    s +=
        "static inline void " + name_ +
        "_view(struct polyhalite_buffer_t *b, struct polyhalite_dimension_t *d, const void *host,\n"
        "    int code, int bits, int n, const int32_t *extents) {\n"
        "  int32_t stride = 1;\n  memset((void *)b, 0, sizeof *b);\n"
        "  for (int i = 0; i < n; i++) {\n    d[i].min = 0;\n    d[i].extent = extents[i];\n"
        "    d[i].stride = stride;\n    d[i].flags = 0;\n    stride *= extents[i];\n  }\n"
        "  b->host = (uint8_t *)host;\n  b->dimensions = n;\n  b->dim = d;\n"
        "#ifdef __cplusplus\n  b->type = polyhalite_type_t((polyhalite_type_code_t)code, "
        "(uint8_t)bits);\n"
        "#else\n  b->type.code = (uint8_t)code;\n  b->type.bits = (uint8_t)bits;\n  b->type.lanes "
        "= 1;\n#endif\n}\n\n";
    s += "/* 0, or the code of a kernel that failed.\n";
    for (ValueId v : g_.inputs)
      s += " *   in_" + identifier(g_.value(v).name) + ": " + described(v) + "\n";
    for (size_t i = 0; i < g_.outputs.size(); i++)
      s += " *   out_" + std::to_string(i) + ": " + described(g_.outputs[i]) + "\n";
    s += " */\nstatic inline int " + name_ + "_run(const void *weights, void *memory";
    for (ValueId v : g_.inputs) s += ", const void *in_" + identifier(g_.value(v).name);
    for (size_t i = 0; i < g_.outputs.size(); i++) s += ", void *out_" + std::to_string(i);
    s += ") {\n  int result = 0;\n  (void)weights;\n  (void)memory;\n";
    for (const Step &step : p_.steps()) s += call(step);
    for (size_t i = 0; i < g_.outputs.size(); i++) {
      const std::string from = address(g_.outputs[i]);
      if (from != "out_" + std::to_string(i)) {
        s += "  memcpy(out_" + std::to_string(i) + ", " + from + ", " +
             std::to_string(bytes(g_.outputs[i])) + ");\n";
      }
    }
    s += "  return result;\n}\n\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
    return s;
  }

 private:
  std::string prototype(const Kernel &k) const {
    size_t buffers = 0;
    for (const Step &s : p_.steps()) {
      if (&p_.kernels()[s.kernel] == &k) buffers = s.inputs.size() + s.outputs.size();
    }
    std::string s = "int " + name_ + "_" + k.name + "(";
    for (size_t i = 0; i < buffers; i++)
      s += (i ? ", " : "") + std::string("struct polyhalite_buffer_t *");
    return s + ");\n";
  }

  std::string described(ValueId v) const {
    return element_name(g_.value(v).type) + to_string(*g_.value(v).shape);
  }

  int64_t bytes(ValueId v) const {
    int64_t n = language_type(g_.value(v).type)->bytes();
    for (int64_t d : fixed_shape(g_, v)) n *= d;
    return n;
  }

  std::string address(ValueId v) const {
    const Place &p = p_.place(v);
    switch (p.kind) {
      case Place::Input:
        return "in_" + identifier(g_.value(g_.inputs[p.index]).name);
      case Place::Output:
        return "out_" + std::to_string(p.index);
      case Place::Weight:
        return "((const uint8_t *)weights + " + std::to_string(offsets_[p.index]) + ")";
      case Place::Arena:
        return "((uint8_t *)memory + " + std::to_string(arena_.offsets.at(p_.root(v))) + ")";
      case Place::Nowhere:
        break;
    }
    internal_check(false, "a value has no place");
    return "";
  }

  std::string call(const Step &step) const {
    std::vector<ValueId> buffers = step.inputs;
    buffers.insert(buffers.end(), step.outputs.begin(), step.outputs.end());
    std::string s = "  { /* " + comment(step.nodes) + " */\n";
    std::string args;
    for (size_t i = 0; i < buffers.size(); i++) {
      const ValueId v = buffers[i];
      const std::vector<int64_t> shape = fixed_shape(g_.value(v), step.buffers[i].shape);
      const Layout &layout = step.buffers[i].layout;
      std::string extents;
      for (size_t k = 0; k < shape.size(); k++) {
        const size_t d = layout.empty() ? shape.size() - 1 - k : static_cast<size_t>(layout[k]);
        extents += (k ? ", " : "") + std::to_string(shape[d]);
      }
      const std::string n = std::to_string(i), rank = std::to_string(shape.size());
      const Type t = *language_type(g_.value(v).type);
      s += "    static const int32_t e" + n + "[] = {" + (extents.empty() ? "0" : extents) + "};\n";
      s += "    struct polyhalite_dimension_t d" + n + "[" + (shape.empty() ? "1" : rank) + "];\n";
      s += "    struct polyhalite_buffer_t b" + n + ";\n";
      s += "    " + name_ + "_view(&b" + n + ", d" + n + ", " + address(v) + ", " +
           std::to_string(static_cast<int>(t.code())) + ", " + std::to_string(t.bits()) + ", " +
           rank + ", e" + n + ");\n";
      args += (i ? ", &b" : "&b") + n;
    }
    return s + "    result = " + name_ + "_" + p_.kernels()[step.kernel].name + "(" + args +
           ");\n    if (result != 0) return result;\n  }\n";
  }

  static std::string comment(const std::string &text) {
    std::string s;
    for (char c : text) s += c == '*' || c == '/' || static_cast<unsigned char>(c) < 32 ? '_' : c;
    return s;
  }

  const Program &p_;
  const Graph &g_;
  const std::string name_;
  std::vector<size_t> offsets_;
  size_t weight_bytes_ = 0;
  ArenaPlan arena_;
};

}  // namespace

LibraryFiles emit_library(const Program &program, const std::string &folder,
                          const std::string &wanted, const Target &target) {
  const std::string name = identifier(wanted);
  for (ValueId v : program.graph().inputs) fixed_shape(program.graph(), v);
  ErrorList problems;
  for (const Step &s : program.steps()) {
    problems.attempt([&] {
      if (!s.host) return;
      user_error("a library has no place for " + program.graph().nodes[s.node].describe(),
                 "what it does follows from elements, and runs between kernels",
                 "run the model with polyhalite run, or export it without the node");
    });
  }
  problems.raise();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::string base = folder + "/" + name;
  const LibraryFiles files{base + ".a", base + ".h", base + ".weights", base + ".txt"};
  std::vector<std::shared_ptr<CompiledForFiles>> parts;
  for (const Kernel &k : program.kernels()) {
    parts.push_back(backend().prepare(k.pipeline, name + "_" + k.name, target));
  }
  if (!parts.empty()) backend().emit_library(parts, files.library);
  HeaderWriter header(program, name);
  write_file(files.header, header.text());
  std::string weights(header.weight_bytes(), '\0');
  for (size_t i = 0; i < program.weights().size(); i++) {
    const Program::Weight &w = program.weights()[i];
    std::copy_n(w.data, w.bytes,
                reinterpret_cast<uint8_t *>(weights.data()) + header.weight_offset(i));
  }
  write_file(files.weights, weights);
  write_file(files.report, program.report());
  return files;
}

}  // namespace polyhalite::onnx
