#include <cinttypes>
#include <cmath>
#include <cstdio>

#include "codegen/c_source/c_writer.h"
#include "lang/ir/widen_float16.h"
#include "polyhalite/buffer_contents.h"
#include "polyhalite/error.h"

namespace polyhalite {

std::string c_value_type(Type t) { return t.is_handle() ? "void *" : c_type(t); }

std::string c_element_type(Type t) {
  if (t.is_bool()) return "uint8_t";
  return t.is_handle() ? "uint64_t" : c_type(t);
}

std::string c_string(const std::string &text) {
  std::string quoted = "\"";
  for (unsigned char c : text) {
    char escape[8];
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += static_cast<char>(c);
    } else if (c < 32 || c > 126 || c == '?') {
      std::snprintf(escape, sizeof(escape), "\\%03o", c);
      quoted += escape;
    } else {
      quoted += static_cast<char>(c);
    }
  }
  return quoted + "\"";
}

std::string CWriter::value(const Expr &e) {
  for (const Scope &s : scopes_) {
    const auto known = s.values.find(e.get());
    if (known != s.values.end()) return known->second;
  }
  internal_check(e.type().is_scalar(), "C source is written of scalars");
  const std::string text = made(e);
  scopes_.back().values[e.get()] = text;
  kept_.push_back(e);
  return text;
}

std::string CWriter::literal(const ImmNode &imm) {
  const Type t = imm.type;
  if (t.is_bool()) return imm.u ? "true" : "false";
  if (t.is_handle()) return "nullptr";
  if (t.is_int()) {
    if (imm.i == INT64_MIN) return "INT64_MIN";
    if (t.bits() == 32 && imm.i == INT32_MIN) return "INT32_MIN";
    const std::string n = std::to_string(imm.i);
    if (t.bits() == 64) return "INT64_C(" + n + ")";
    return t.bits() == 32 ? (imm.i < 0 ? "(" + n + ")" : n) : c_type(t) + "(" + n + ")";
  }
  if (t.is_uint()) {
    const std::string n = std::to_string(imm.u);
    if (t.bits() == 64) return "UINT64_C(" + n + ")";
    return t.bits() == 32 ? n + "u" : c_type(t) + "(" + n + ")";
  }
  if (is_float16(t)) {
    const auto narrow = static_cast<float>(imm.f);
    return "uint16_t(" +
           std::to_string(t.is_bfloat() ? detail::bfloat16_bits(narrow)
                                        : detail::float16_bits(narrow)) +
           ")";
  }
  const std::string limits = "std::numeric_limits<" + c_type(t) + ">::";
  if (std::isnan(imm.f)) return limits + "quiet_NaN()";
  if (std::isinf(imm.f)) return (imm.f < 0 ? "-" : "") + limits + "infinity()";
  char text[64];
  std::snprintf(text, sizeof(text), "%a%s", imm.f, t.bits() == 32 ? "f" : "");
  return std::string("(") + text + ")";
}

std::string CWriter::variable(const VariableNode &v) {
  if (v.kind != VariableKind::BufferField) {
    const auto known = names_.find(v.name);
    if (known == names_.end()) internal_check(false, ("'" + v.name + "' is not bound").c_str());
    return known->second;
  }
  // "NAME.min.0"
  const size_t dot = v.name.rfind('.'), before = v.name.rfind('.', dot - 1);
  const std::string dimension = v.name.substr(dot + 1), buffer = v.name.substr(0, before);
  const std::string field = v.name.substr(before + 1, dot - before - 1);
  if (v.image) {
    const polyhalite_dimension_t d = v.image->dims().at(std::stoul(dimension));
    return std::to_string(field == "min" ? d.min : field == "extent" ? d.extent : d.stride);
  }
  return arguments_.at(buffer) + "->dim[" + dimension + "]." + field;
}

std::string CWriter::let(const LetNode &l) {
  const std::string v = value(l.args[0]);
  push();
  const std::string name = bind(l.name);
  line(c_value_type(l.args[0].type()) + " const " + name + " = " + v + ";");
  const std::string result = value(l.args[1]);
  pop();
  return result;
}

std::string CWriter::load(const LoadNode &l) {
  const Type t = l.type;
  const std::string at = value(l.args[0]);
  std::string element = elements(l.buffer, t, true) + "[" + at + "]";
  if (t.is_bool()) element = "(" + element + " != 0)";
  if (t.is_handle()) element = "reinterpret_cast<void *>(static_cast<uintptr_t>(" + element + "))";
  if (l.args.size() > 1 && !is_true(l.args[1])) {
    element = value(l.args[1]) + " ? " + element + " : " + c_value_type(t) + "()";
  }
  return keep(c_value_type(t), element);
}

std::string CWriter::cast(const Expr &e) {
  const Type from = e->args[0].type(), t = e.type();
  const std::string v = value(e->args[0]), type = c_value_type(t);
  if (t.is_handle() || from.is_handle()) {
    if (t == from) return v;
    return keep(type, t.is_handle()
                          ? "reinterpret_cast<void *>(static_cast<uintptr_t>(" + v + "))"
                          : "static_cast<" + type + ">(reinterpret_cast<uintptr_t>(" + v + "))");
  }
  if (t.is_bool()) return keep(type, v + " != 0");
  if (is_float16(t)) {
    return keep(type,
                (t.is_bfloat() ? "ph_bfloat16_of(float(" : "ph_float16_of(float(") + v + "))");
  }
  if (is_float16(from)) {
    return keep(type,
                type + (from.is_bfloat() ? "(ph_of_bfloat16(" : "(ph_of_float16(") + v + "))");
  }
  // Narrow integers wrap, as they do in arithmetic.
  if (from.is_float() && !t.is_float() && t.bits() < 32)
    return keep(type, type + "(int32_t(" + v + "))");
  return keep(type, "static_cast<" + type + ">(" + v + ")");
}

std::string CWriter::arithmetic(const Expr &e) {
  const Type t = e.type();
  const std::string type = c_value_type(t), a = value(e->args[0]), b = value(e->args[1]);
  switch (e->op) {
    case Op::Min:
      return keep(type, a + " < " + b + " ? " + a + " : " + b);
    case Op::Max:
      return keep(type, a + " > " + b + " ? " + a + " : " + b);
    case Op::Div:
      return keep(type, t.is_float() ? a + " / " + b : "ph_div(" + a + ", " + b + ")");
    case Op::Mod:
      if (t.is_float()) return keep(type, a + " - " + b + " * std::floor(" + a + " / " + b + ")");
      return keep(type, "ph_mod(" + a + ", " + b + ")");
    default:
      break;
  }
  const std::string op = std::string(" ") + op_name(e->op) + " ";
  if (t.is_float() || t.is_affine()) return keep(type, a + op + b);
  // What wraps is computed without sign, in no less than 32 bits.
  const std::string wide = t.bits() == 64 ? "uint64_t" : "uint32_t";
  return keep(type, type + "(" + wide + "(" + a + ")" + op + wide + "(" + b + "))");
}

std::string CWriter::made(const Expr &e) {
  const auto &args = e->args;
  switch (e->op) {
    case Op::IntImm:
    case Op::UIntImm:
    case Op::FloatImm:
      return literal(*as_imm(e));
    case Op::StringImm:
      return "(void *)" + c_string(as_imm(e)->s);
    case Op::Variable:
      return variable(*as_variable(e));
    case Op::Cast:
      return cast(e);
    case Op::Reinterpret: {
      const std::string v = value(args[0]);
      return keep(c_value_type(e.type()),
                  "ph_reinterpret<" + c_value_type(e.type()) + ">(" + v + ")");
    }
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Div:
    case Op::Mod:
    case Op::Min:
    case Op::Max:
      return arithmetic(e);
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge: {
      const std::string a = value(args[0]), b = value(args[1]);
      return keep("bool", a + " " + op_name(e->op) + " " + b);
    }
    case Op::And:
    case Op::Or: {
      const std::string a = value(args[0]), b = value(args[1]);
      return keep("bool", a + (e->op == Op::And ? " && " : " || ") + b);
    }
    case Op::Not:
      return keep("bool", "!" + value(args[0]));
    case Op::Select: {
      const std::string c = value(args[0]), a = value(args[1]), b = value(args[2]);
      return keep(c_value_type(e.type()), c + " ? " + a + " : " + b);
    }
    case Op::Let:
      return let(*as_let(e));
    case Op::Load:
      return load(*as_load(e));
    case Op::Call: {
      const CallNode &call = *as_call(e);
      if (call.kind == CallKind::Intrinsic) return intrinsic_call(call);
      return call.kind == CallKind::Math ? math(call) : extern_call(call);
    }
    case Op::Ramp:
    case Op::Broadcast:
    case Op::Shuffle:
      break;
  }
  internal_check(false, "C source is written of scalars");
  return "";
}

std::string CWriter::math(const CallNode &call) {
  std::string name = call.name.starts_with("fast_") ? call.name.substr(5) : call.name;
  const std::string type = c_value_type(call.type);
  if (name == "inverse") return keep(type, type + "(1) / " + value(call.args[0]));
  if (name == "inverse_sqrt") {
    return keep(type, type + "(1) / std::sqrt(" + value(call.args[0]) + ")");
  }
  if (name == "round") name = "nearbyint";  // halves to the even one
  std::string args;
  for (const Expr &arg : call.args) {
    const std::string v = value(arg);
    args += (args.empty() ? "" : ", ") + v;
  }
  return keep(type, "std::" + name + "(" + args + ")");
}

}  // namespace polyhalite
