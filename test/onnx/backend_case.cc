#include "test/onnx/backend_case.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "apps/onnx/item_file.h"
#include "apps/onnx/item_session.h"

namespace polyhalite::onnx {

namespace fs = std::filesystem;

std::vector<std::string> find_cases(const std::string &root) {
  std::vector<std::string> found;
  if (!fs::is_directory(root)) return found;
  for (const auto &entry : fs::recursive_directory_iterator(root)) {
    const fs::path &p = entry.path();
    if (p.filename() == "model.onnx" && fs::is_directory(p.parent_path() / "test_data_set_0")) {
      found.push_back(p.parent_path().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string compare(const Constant &got, const Constant &wanted, double relative, double absolute) {
  auto shape_text = [](const Constant &c) {
    std::string s = element_name(c.type()) + "[";
    for (int64_t d : c.shape()) s += std::to_string(d) + ",";
    return s + "]";
  };
  if (got.type() != wanted.type() || got.shape() != wanted.shape()) {
    return "got " + shape_text(got) + ", wanted " + shape_text(wanted);
  }
  int64_t wrong = 0, first = -1;
  for (int64_t i = 0; i < got.elements(); i++) {
    bool same;
    if (language_type(got.type())->is_float()) {
      const double a = got.number(i), b = wanted.number(i);
      same = (std::isnan(a) && std::isnan(b)) || a == b ||
             std::fabs(a - b) <= absolute + relative * std::fabs(b);
    } else {
      same = got.integer_at(i) == wanted.integer_at(i);
    }
    if (!same && wrong++ == 0) first = i;
  }
  if (wrong == 0) return "";
  return std::to_string(wrong) + " of " + std::to_string(got.elements()) +
         " elements differ, first element " + std::to_string(first) + ": got " +
         std::to_string(got.number(first)) + ", wanted " + std::to_string(wanted.number(first));
}

std::string compare(const Item &got, const Item &wanted, double relative, double absolute) {
  const auto *tensor = std::get_if<Constant>(&wanted);
  const auto *list = std::get_if<std::vector<Constant>>(&wanted);
  if (got.index() != wanted.index())
    return std::string("wanted ") + (tensor ? "a tensor" : list ? "a sequence" : "nothing");
  if (tensor) return compare(std::get<Constant>(got), *tensor, relative, absolute);
  if (!list) return "";
  const auto &others = std::get<std::vector<Constant>>(got);
  if (others.size() != list->size()) {
    return "got " + std::to_string(others.size()) + " elements, wanted " +
           std::to_string(list->size());
  }
  for (size_t i = 0; i < list->size(); i++) {
    const std::string difference = compare(others[i], (*list)[i], relative, absolute);
    if (!difference.empty()) return "element " + std::to_string(i) + ": " + difference;
  }
  return "";
}

std::string run_case(const std::string &folder, const CompileOptions &options) {
  try {
    ItemSession session(folder + "/model.onnx", options);
    const std::string data = folder + "/test_data_set_0/";
    Items inputs;
    const std::vector<std::string> names = session.input_names();
    for (size_t i = 0; i < names.size(); i++) {
      inputs[names[i]] =
          load_item(data + "input_" + std::to_string(i) + ".pb", session.form(names[i]));
    }
    const Items outputs = session.run(inputs);
    const std::vector<std::string> results = session.output_names();
    for (size_t i = 0; i < results.size(); i++) {
      const Item wanted =
          load_item(data + "output_" + std::to_string(i) + ".pb", session.form(results[i]));
      const std::string difference = compare(outputs.at(results[i]), wanted, 1e-3, 1e-7);
      if (!difference.empty()) return "output '" + results[i] + "': " + difference;
    }
    return "";
  } catch (const std::exception &e) {
    return e.what();
  }
}

}  // namespace polyhalite::onnx
