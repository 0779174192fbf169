#include "codegen/c_source/c_writer.h"
#include "lang/abi/polyhalite_runtime.h"
#include "lang/ir/cxx_symbol.h"
#include "lang/ir/expand_intrinsic.h"
#include "lang/ir/expr_text.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/widen_float16.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

const CallNode *as_extern(const Expr &e, const char *name) {
  const CallNode *c = as_call(e);
  return c && c->kind == CallKind::Extern && c->name == name ? c : nullptr;
}

std::string text_of(const Expr &e) { return as_imm(e)->s; }

std::string joined(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &p : parts) text += (text.empty() ? "" : ", ") + p;
  return text;
}

std::string type_number(Type t) {
  return std::to_string(static_cast<polyhalite_type_t>(t).as_u32()) + "u";
}

}  // namespace

std::string CWriter::intrinsic_call(const CallNode &call) {
  const std::string &name = call.name, type = c_value_type(call.type);
  const auto &args = call.args;
  for (const char *hint :
       {intrinsic::kLikely, intrinsic::kLikelyIfInnermost, intrinsic::kMemoizeTag,
        intrinsic::kPromiseClamped, intrinsic::kStrictFloat, intrinsic::kStream}) {
    if (name == hint) return value(args[0]);
  }
  if (name == intrinsic::kPrefetch || name == intrinsic::kStreamFence) return "false";
  if (name == intrinsic::kUserContext) return "ph_context";
  if (name == intrinsic::kTrace) return trace(call);
  if (name == intrinsic::kTraceAccess) return trace_access(call);
  if (name == intrinsic::kPrint || name == intrinsic::kRequire) {
    const std::string v = value(args[1]), holds = value(args[0]);
    for (size_t k = 2; k < args.size(); k++) value(args[k]);
    if (name == intrinsic::kPrint) {
      open("if (" + holds + ") {");
      const std::string items = print_items(call, 1), count = std::to_string(args.size() - 1);
      line("char text[POLYHALITE_PRINT_BYTES];");
      line("polyhalite_format_line(text, " + items + ", " + count + ");");
      line("polyhalite_print(ph_context, text);");
    } else {
      open("if (!(" + holds + ")) {");
      const std::string items = print_items(call, 2), count = std::to_string(args.size() - 2);
      line("return polyhalite_error_requirement_failed(ph_context, " + c_string(function_.name) +
           ", " + c_string(to_text(args[0])) + ", " + items + ", " + count + ");");
    }
    close();
    return v;
  }
  const std::map<std::string, std::string> functions = {
      {intrinsic::kAbs, "ph_abs"},
      {intrinsic::kAbsd, "ph_absd"},
      {intrinsic::kShiftLeft, "ph_shift_left"},
      {intrinsic::kShiftRight, "ph_shift_right"},
      {intrinsic::kPopcount, "ph_popcount"},
      {intrinsic::kCountLeadingZeros, "ph_leading_zeros"},
      {intrinsic::kCountTrailingZeros, "ph_trailing_zeros"},
      {intrinsic::kLimitedProduct, "ph_limited_product"},
      {intrinsic::kFma, "std::fma"}};
  const std::map<std::string, std::string> operators = {{intrinsic::kBitwiseAnd, " & "},
                                                        {intrinsic::kBitwiseOr, " | "},
                                                        {intrinsic::kBitwiseXor, " ^ "}};
  if (const auto op = operators.find(name); op != operators.end()) {
    const std::string a = value(args[0]), b = value(args[1]);
    return keep(type, type + "(" + a + op->second + b + ")");
  }
  if (name == intrinsic::kBitwiseNot) {
    return keep(type,
                call.type.is_bool() ? "!" + value(args[0]) : type + "(~" + value(args[0]) + ")");
  }
  if (const auto f = functions.find(name); f != functions.end()) {
    std::vector<std::string> values;
    for (const Expr &arg : args) values.push_back(value(arg));
    return keep(type, type + "(" + f->second + "(" + joined(values) + "))");
  }
  if (const Expr meaning = expand_intrinsic(call); meaning.defined()) {
    kept_.push_back(meaning);
    return value(meaning);
  }
  return buffer_fact(call);
}

std::string CWriter::buffer_fact(const CallNode &call) {
  const std::string &name = call.name, argument = arguments_.at(text_of(call.args.at(0)));
  if (name == intrinsic::kBufferIsNull) return "(" + argument + " == nullptr)";
  if (name == intrinsic::kBufferPointer) return argument;
  if (name == intrinsic::kBufferHost) return "uint64_t(uintptr_t(" + argument + "->host))";
  if (name == intrinsic::kBufferHostIsNull) return "(" + argument + "->host == nullptr)";
  if (name == intrinsic::kBufferIsQuery) return argument + "->is_bounds_query()";
  if (name == intrinsic::kBufferDeviceDirty) return argument + "->device_dirty()";
  if (name == intrinsic::kBufferDimIsNull) return "(" + argument + "->dim == nullptr)";
  if (name == intrinsic::kBufferType) return argument + "->type.as_u32()";
  if (name == intrinsic::kBufferDimensions) return argument + "->dimensions";
  internal_check(false, ("intrinsic '" + name + "' has no meaning in flat loop IR").c_str());
  return "";
}

// An array of polyhalite_print_item_t.
std::string CWriter::print_items(const CallNode &call, size_t first) {
  std::vector<std::string> items;
  for (size_t k = first; k < call.args.size(); k++) {
    const Expr &e = call.args[k];
    Type t = e.type();
    std::string v = value(e);
    if (is_float16(t)) {
      v = (t.is_bfloat() ? "ph_of_bfloat16(" : "ph_of_float16(") + v + ")";
      t = Float(32);
    }
    uint32_t type = static_cast<uint32_t>(t.code()) | static_cast<uint32_t>(t.bits()) << 8;
    if (e->op == Op::StringImm) type |= POLYHALITE_PRINT_TEXT;
    items.push_back("{" + std::to_string(type) + "u, 0, ph_bits(" + v + ")}");
  }
  if (items.empty()) return "nullptr";
  const std::string name = fresh("items");
  line("const polyhalite_print_item_t " + name + "[] = {" + joined(items) + "};");
  return name;
}

std::string CWriter::extern_call(const CallNode &call) {
  const std::string &name = call.name;
  if (name == intrinsic::kExternBounds) return extern_bounds(call);
  if (name == intrinsic::kExternStage || name == intrinsic::kDebugToFile) {
    const bool stage = name == intrinsic::kExternStage;
    const std::string &first = text_of(call.args[0]);
    std::vector<std::string> args, types;
    if (!stage) {
      args = {"ph_context", c_string(first)};
      types = {"void *", "const char *"};
    }
    for (size_t i = 1; i < call.args.size(); i++) {
      types.emplace_back();
      args.push_back(c_argument(call.args[i], &types.back()));
    }
    return stage ? c_function(first, args, types, "polyhalite_error_extern_stage_failed",
                              readable_symbol(first))
                 : c_function("polyhalite_debug_to_file", args, types,
                              "polyhalite_error_debug_to_file_failed", first);
  }
  const bool is_runtime = name.starts_with("polyhalite_");
  std::vector<std::string> args, types;
  if (is_runtime) args.push_back("ph_context");
  for (const Expr &arg : call.args) {
    const std::string v = value(arg);
    const bool is_text = arg->op == Op::StringImm;
    args.push_back(is_text && is_runtime ? c_string(text_of(arg)) : v);
    types.push_back(c_value_type(arg.type()));
  }
  const std::string type = c_value_type(call.type);
  if (!is_runtime) declared_[name] = type + " " + name + "(" + joined(types) + ")";
  return keep(type, name + "(" + joined(args) + ")");
}

// A polyhalite_buffer_t; its address.
std::string CWriter::buffer(const std::string &host, const std::string &type,
                            const std::vector<std::array<std::string, 3>> &dims) {
  const std::string name = fresh("buffer");
  std::vector<std::string> shape;
  for (const auto &d : dims) shape.push_back("{" + d[0] + ", " + d[1] + ", " + d[2] + ", 0}");
  line("polyhalite_dimension_t " + name + "_dim[] = {" + (dims.empty() ? "{}" : joined(shape)) +
       "};");
  line("polyhalite_buffer_t " + name + "{};");
  line(name + ".host = " + host + ";");
  line(name + ".type = ph_type(" + type + ");");
  line(name + ".dimensions = " + std::to_string(dims.size()) + ";");
  line(name + ".dim = " + name + "_dim;");
  return "&" + name;
}

std::string CWriter::c_argument(const Expr &e, std::string *type) {
  *type = "polyhalite_buffer_t *";
  if (const CallNode *view = as_extern(e, intrinsic::kBufferView)) {
    const LoadNode *first = as_load(view->args[0]);
    internal_check(first != nullptr, "a buffer_view of what is no element");
    const std::string index = value(first->args[0]);
    std::vector<std::array<std::string, 3>> dims;
    for (size_t i = 1; i < view->args.size(); i += 3) {
      const std::string next = value(as_load(view->args[i + 2])->args[0]);
      dims.push_back({value(view->args[i]), value(view->args[i + 1]),
                      "int32_t(" + next + " - " + index + ")"});
    }
    return buffer("(uint8_t *)(" + elements(first->buffer, first->type.element_of(), true) + " + " +
                      index + ")",
                  type_number(first->type.element_of()), dims);
  }
  if (const CallNode *query = as_extern(e, intrinsic::kBufferQuery)) {
    int64_t dimensions = 0;
    is_const_int(query->args[1], &dimensions);
    std::vector<std::array<std::string, 3>> dims;
    std::string stride = "1";
    for (size_t d = 0; d < static_cast<size_t>(dimensions); d++) {
      if (query->args.size() == 2) {
        dims.push_back({"0", "0", "0"});
        continue;
      }
      const std::string extent = value(query->args[3 + 2 * d]);
      dims.push_back({value(query->args[2 + 2 * d]), extent, stride});
      stride = keep("int32_t", "int32_t(uint32_t(" + stride + ") * uint32_t(" + extent + "))");
    }
    return buffer("nullptr", value(query->args[0]), dims);
  }
  *type = c_value_type(e.type());
  return value(e);
}

std::string CWriter::c_function(const std::string &name, const std::vector<std::string> &args,
                                const std::vector<std::string> &types, const char *error,
                                const std::string &culprit) {
  if (!name.starts_with("polyhalite_")) declared_[name] = "int " + name + "(" + joined(types) + ")";
  const std::string code = keep("int32_t", name + "(" + joined(args) + ")");
  line("if (" + code + " != 0) return " + error + "(ph_context, " + c_string(function_.name) +
       ", " + c_string(culprit) + ", " + code + ");");
  return code;
}

std::string CWriter::extern_bounds(const CallNode &call) {
  constexpr size_t kFirst = 4;  // behind name, operand, dimension, which end
  int64_t operand = 0, dimension = 0, is_max = 0;
  is_const_int(call.args[1], &operand);
  is_const_int(call.args[2], &dimension);
  is_const_int(call.args[3], &is_max);
  std::vector<std::string> args, types;
  for (size_t i = kFirst; i < call.args.size(); i++) {
    types.emplace_back();
    args.push_back(c_argument(call.args[i], &types.back()));
  }
  const std::string &function = text_of(call.args[0]);
  c_function(function, args, types, "polyhalite_error_bounds_inference_call_failed",
             readable_symbol(function));
  const std::string dim =
      "(" + args[static_cast<size_t>(operand)] + ")->dim[" + std::to_string(dimension) + "]";
  return keep("int32_t", is_max ? dim + ".min + " + dim + ".extent - 1" : dim + ".min");
}

// trace(func, event, parent, value_index, tag, numbers...)
std::string CWriter::trace(const CallNode &call) {
  constexpr size_t kTag = 4, kNumbers = 5;
  std::vector<std::string> numbers;
  for (size_t k = kNumbers; k < call.args.size(); k++) numbers.push_back(value(call.args[k]));
  const std::string code = value(call.args[1]), parent = value(call.args[2]),
                    index = value(call.args[3]), tag = text_of(call.args[kTag]),
                    event = fresh("event");
  if (!numbers.empty()) line("int32_t " + event + "_numbers[] = {" + joined(numbers) + "};");
  line("polyhalite_trace_event_t " + event + "{};");
  line(event + ".func = " + c_string(text_of(call.args[0])) + ";");
  line(event + ".type = ph_type(3u);");
  line(event + ".event = polyhalite_trace_event_code_t(" + code + ");");
  line(event + ".parent_id = " + parent + ";");
  line(event + ".value_index = " + index + ";");
  if (tag.empty() && !numbers.empty()) {
    line(event + ".coordinates = " + event + "_numbers;");
    line(event + ".dimensions = " + std::to_string(numbers.size()) + ";");
  } else if (!tag.empty() && numbers.empty()) {
    line(event + ".trace_tag = " + c_string(tag) + ";");
  } else if (!tag.empty()) {
    line("char " + event + "_tag[" + std::to_string(tag.size() + 1 + 12 * numbers.size()) + "];");
    line("polyhalite_format_trace_tag(" + event + "_tag, " + c_string(tag) + ", " + event +
         "_numbers, " + std::to_string(numbers.size()) + ");");
    line(event + ".trace_tag = " + event + "_tag;");
  }
  return keep("int32_t", "polyhalite_trace(ph_context, &" + event + ")");
}

// trace_access(x, condition, func, event, parent, value_index, coordinates...)
std::string CWriter::trace_access(const CallNode &call) {
  constexpr size_t kFunc = 2, kCoordinates = 6;
  const std::string x = value(call.args[0]), holds = value(call.args[1]);
  std::vector<std::string> coordinates;
  for (size_t k = kCoordinates; k < call.args.size(); k++)
    coordinates.push_back(value(call.args[k]));
  const std::string code = value(call.args[kFunc + 1]), parent = value(call.args[kFunc + 2]),
                    index = value(call.args[kFunc + 3]), event = fresh("event");
  open("if (" + holds + ") {");
  const std::string v = call.type.is_handle() ? "reinterpret_cast<uintptr_t>(" + x + ")" : x;
  line(c_element_type(call.type) + " " + event + "_value = " + v + ";");
  line("int32_t " + event + "_at[] = {" + (coordinates.empty() ? "0" : joined(coordinates)) + "};");
  line("polyhalite_trace_event_t " + event + "{};");
  line(event + ".func = " + c_string(text_of(call.args[kFunc])) + ";");
  line(event + ".value = &" + event + "_value;");
  line(event + ".coordinates = " + event + "_at;");
  line(event + ".type = ph_type(" + type_number(call.type) + ");");
  line(event + ".event = polyhalite_trace_event_code_t(" + code + ");");
  line(event + ".parent_id = " + parent + ";");
  line(event + ".value_index = " + index + ";");
  line(event + ".dimensions = " + std::to_string(coordinates.size()) + ";");
  line("polyhalite_trace(ph_context, &" + event + ");");
  close();
  return x;
}

}  // namespace polyhalite
