// Random numbers: how they are distributed, and what makes them differ.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "apps/onnx/emit_library.h"
#include "apps/onnx/item_session.h"
#include "polyhalite_runtime.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx::random_test {
namespace {

using Numbers = std::vector<double>;

double mean_of(const Numbers &v) {
  double sum = 0;
  for (double x : v) sum += x;
  return sum / static_cast<double>(v.size());
}
double correlation(const Numbers &a, const Numbers &b) {
  const double ma = mean_of(a), mb = mean_of(b);
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); i++) {
    ab += (a[i] - ma) * (b[i] - mb);
    aa += (a[i] - ma) * (a[i] - ma);
    bb += (b[i] - mb) * (b[i] - mb);
  }
  return ab / std::sqrt(aa * bb);
}
// Of Kolmogorov, times the root of the count: above 1.95 once in a thousand samples.
double distance(Numbers v, const std::function<double(double)> &below) {
  std::sort(v.begin(), v.end());
  const double n = static_cast<double>(v.size());
  double most = 0;
  for (size_t i = 0; i < v.size(); i++) {
    const double f = below(v[i]), at = static_cast<double>(i);
    most = std::max({most, f - at / n, (at + 1) / n - f});
  }
  return most * std::sqrt(n);
}
double bell(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }
double line(double x) { return std::clamp(x, 0.0, 1.0); }

CompileOptions with_seed(uint64_t seed) {
  CompileOptions options;
  options.random = std::make_shared<RandomSource>(seed);
  return options;
}

// One node that makes `y` of 100,000 elements.
ModelBuilder one(const std::string &op, std::vector<Message> attributes,
                 const std::vector<int64_t> &shape = {100, 1000}) {
  ModelBuilder b(22);
  attributes.push_back(ints_attribute("shape", shape));
  b.node(op, {}, {"y"}, attributes).output("y");
  return b;
}
Numbers drawn(Session *s) { return numbers(s->run({}).at("y")); }

TEST(onnx_random, numbers_are_distributed_as_the_operators_say) {
  constexpr int kTypes[] = {1, 10, 11, 16};  // float32, float16, float64, bfloat16
  for (int type : kTypes) {
    SCOPED_TRACE(type);
    // Steps of 16 bits are wider than the distance of so many numbers.
    const double steps = type == 16 ? 2.5 : type == 10 ? 0.35 : 0;
    Session uniform(one("RandomUniform", {int_attribute("dtype", type)}).load(), with_seed(1));
    Session normal(one("RandomNormal", {int_attribute("dtype", type)}).load(), with_seed(2));
    const Constant whole = uniform.run({}).at("y");
    EXPECT_EQ(whole.type(), static_cast<ElementType>(type));
    EXPECT_EQ(whole.shape(), (std::vector<int64_t>{100, 1000}));
    const Numbers u = numbers(whole), n = drawn(&normal);
    EXPECT_LT(distance(u, line), 1.95 + steps);
    EXPECT_LT(distance(n, bell), 1.95 + steps);
    EXPECT_GE(*std::min_element(u.begin(), u.end()), 0);
    EXPECT_LT(*std::max_element(u.begin(), u.end()), 1);
    Numbers squares, fourths;
    for (double x : n) {
      squares.push_back(x * x);
      fourths.push_back(x * x * x * x);
    }
    EXPECT_NEAR(mean_of(n), 0, 0.015);
    EXPECT_NEAR(mean_of(squares), 1, 0.02);
    EXPECT_NEAR(mean_of(fourths), 3, 0.15);
    EXPECT_GT(*std::max_element(n.begin(), n.end()), 3.8);
    EXPECT_LT(*std::min_element(n.begin(), n.end()), -3.8);
  }
}

TEST(onnx_random, parameters_move_and_stretch) {
  const auto plain = one("RandomUniform", {}),
             moved = one("RandomUniform", {real_attribute("low", -3), real_attribute("high", 5)});
  Session a(plain.load(), with_seed(1)), b(moved.load(), with_seed(1));
  const Numbers x = drawn(&a), y = drawn(&b);
  for (size_t i = 0; i < x.size(); i++) ASSERT_NEAR(y[i], 8 * x[i] - 3, 1e-6);
  Session c(one("RandomNormal", {}).load(), with_seed(1)),
      d(one("RandomNormal", {real_attribute("mean", 10), real_attribute("scale", 0.5f)}).load(),
        with_seed(1));
  const Numbers z = drawn(&c), w = drawn(&d);
  for (size_t i = 0; i < z.size(); i++) ASSERT_NEAR(w[i], z[i] / 2 + 10, 2e-6);
}

// Of float64 the last bits are random, too.
TEST(onnx_random, doubles_have_all_of_their_bits) {
  Session s(one("RandomUniform", {int_attribute("dtype", 11)}).load(), with_seed(1));
  Numbers u = drawn(&s), low;
  for (double x : u) low.push_back(std::fmod(x * std::ldexp(1.0, 43), 1.0));
  EXPECT_LT(distance(low, line), 1.95 + 0.35);  // of 2^10 steps
  std::sort(u.begin(), u.end());
  EXPECT_EQ(std::unique(u.begin(), u.end()), u.end());
}

TEST(onnx_random, neighbours_do_not_depend_on_each_other) {
  for (const char *op : {"RandomUniform", "RandomNormal"}) {
    Session s(one(op, {}, {1 << 20}).load(), with_seed(5));
    const Numbers v = drawn(&s);
    for (size_t lag : {1, 2, 3, 4, 7, 8, 16, 64, 1000, 1024, 65536}) {
      const Numbers front(v.begin(), v.end() - static_cast<ptrdiff_t>(lag)),
          back(v.begin() + static_cast<ptrdiff_t>(lag), v.end());
      EXPECT_NEAR(correlation(front, back), 0, 0.005) << op << " " << lag;
    }
  }
  // Pairs and triples fill a square and a cube evenly: chi squared of cells, five deviations wide.
  Session s(one("RandomUniform", {}, {3 << 18}).load(), with_seed(6));
  const Numbers v = drawn(&s);
  for (const size_t size : {2, 3}) {
    const size_t side = size == 2 ? 32 : 10;
    const size_t cells = size == 2 ? side * side : side * side * side;
    std::vector<double> counts(cells);
    for (size_t i = 0; i + size <= v.size(); i += size) {
      size_t cell = 0;
      for (size_t k = 0; k < size; k++)
        cell = cell * side + static_cast<size_t>(v[i + k] * static_cast<double>(side));
      counts[cell]++;
    }
    const double wanted = static_cast<double>(v.size() / size) / static_cast<double>(cells);
    double sum = 0;
    for (double c : counts) sum += (c - wanted) * (c - wanted) / wanted;
    const double freedom = static_cast<double>(cells - 1);
    EXPECT_NEAR(sum, freedom, 5 * std::sqrt(2 * freedom)) << size;
  }
}

TEST(onnx_random, nodes_runs_and_sessions_draw_numbers_of_their_own) {
  ModelBuilder b(22);
  for (const char *name : {"a", "b"}) {
    b.node("RandomNormal", {}, {name}, {ints_attribute("shape", {50000})}).output(name);
  }
  Session first(b.load()), second(b.load());
  std::vector<Numbers> all;
  for (Session *s : {&first, &second}) {
    for (int run = 0; run < 3; run++) {
      const Program::Tensors out = s->run({});
      all.push_back(numbers(out.at("a")));
      all.push_back(numbers(out.at("b")));
    }
  }
  for (size_t i = 0; i < all.size(); i++) {
    for (size_t k = 0; k < i; k++) EXPECT_NEAR(correlation(all[i], all[k]), 0, 0.025);
  }
}

TEST(onnx_random, numbers_with_a_seed_are_those_of_all_sessions) {
  auto with = [](float seed) {
    return one("RandomNormal", {real_attribute("seed", seed)}, {1000});
  };
  Session first(with(7).load()), second(with(7).load()), other(with(8).load());
  const Numbers one_run = drawn(&first), next_run = drawn(&first);
  EXPECT_EQ(drawn(&second), one_run);
  EXPECT_EQ(drawn(&second), next_run);
  EXPECT_NEAR(correlation(one_run, next_run), 0, 0.15);
  EXPECT_NEAR(correlation(one_run, drawn(&other)), 0, 0.15);
}

// Other lengths of a sequence have Sessions of their own.
TEST(onnx_random, runs_of_other_lengths_draw_anew) {
  ModelBuilder b(22);
  b.input_of("s", ModelBuilder::sequence_of(ModelBuilder::tensor_type({1000})));
  b.node("Constant", {}, {"first"}, {int_attribute("value_int", 0)});
  b.node("SequenceAt", {"s", "first"}, {"x"});
  b.node("RandomNormalLike", {"x"}, {"y"}, {real_attribute("seed", 3)}).output("y");
  ItemSession session(b.load());
  const Constant x = floats({1000}, std::vector<float>(1000));
  std::vector<Numbers> runs;
  for (size_t count : {1, 2, 1}) {
    const Items out = session.run({{"s", std::vector<Constant>(count, x)}});
    runs.push_back(numbers(std::get<Constant>(out.at("y"))));
  }
  EXPECT_NEAR(correlation(runs[0], runs[1]), 0, 0.15);
  EXPECT_NEAR(correlation(runs[0], runs[2]), 0, 0.15);
}

TEST(onnx_random, schedules_and_engines_draw_the_same) {
  ModelBuilder b(22);
  b.node("RandomUniform", {}, {"y"}, {ints_attribute("shape", {7, 300, 129})}).output("y");
  b.node("RandomNormal", {}, {"n"}, {ints_attribute("shape", {7, 41})}).node("Abs", {"n"}, {"z"});
  b.output("z");
  std::vector<Program::Tensors> results;
  for (int way = 0; way < 4; way++) {
    CompileOptions options = with_seed(9);
    options.optimize = way != 2;
    if (way == 3) options.engine = Engine::Interpreter;
    polyhalite_set_num_threads(way == 1 ? 1 : 2);
    results.push_back(Session(b.load(), options).run({}));
  }
  polyhalite_set_num_threads(0);
  for (const Program::Tensors &r : results) {
    EXPECT_TRUE(r.at("y").same(results[0].at("y")));
    const Numbers a = numbers(r.at("z")), wanted = numbers(results[0].at("z"));
    for (size_t i = 0; i < a.size(); i++) ASSERT_NEAR(a[i], wanted[i], 1e-5);
  }
}

// Shapes follow operands, which are read no further; the same program serves all sizes.
TEST(onnx_random, open_sizes_follow_the_operand) {
  ModelBuilder b(22);
  b.input("x", {2, "t", 5}).input("k", {"n"}, 7);
  b.node("RandomNormalLike", {"x"}, {"noise"});
  b.node("Mul", {"noise", "x"}, {"y"}).output("y");
  b.node("RandomUniformLike", {"k"}, {"u"}, {int_attribute("dtype", 11)}).output("u");
  Session s(b.load(), with_seed(3));
  std::shared_ptr<const Program> program;
  for (int64_t t : {4000, 1, 700}) {
    const std::vector<float> x(static_cast<size_t>(10 * t), 2);
    const std::vector<int64_t> k(static_cast<size_t>(t));
    const auto *bytes = reinterpret_cast<const uint8_t *>(k.data());
    const Program::Tensors in = {
        {"x", floats({2, t, 5}, x)},
        {"k", Constant::of_bytes(ElementType::Int64, {t}, {bytes, bytes + 8 * t})}};
    if (!program) program = s.program_for(in);
    EXPECT_EQ(s.program_for(in), program);
    const Program::Tensors out = s.run(in);
    EXPECT_EQ(out.at("y").shape(), (std::vector<int64_t>{2, t, 5}));
    EXPECT_EQ(out.at("u").type(), ElementType::Float64);
    EXPECT_EQ(out.at("u").shape(), (std::vector<int64_t>{t}));
    if (t > 1) {
      EXPECT_LT(distance(numbers(out.at("y")), [](double v) { return bell(v / 2); }), 1.95);
      EXPECT_LT(distance(numbers(out.at("u")), line), 1.95);
    }
  }
}

// Whose elements nobody reads are not rounded to 16 bits for their shape.
TEST(onnx_random, noise_like_halves_asks_for_no_halves) {
  ModelBuilder b(22);
  b.input("x", {"n"}, 10).node("Abs", {"x"}, {"a"}).node("Neg", {"a"}, {"z"}).output("z");
  b.node("RandomNormalLike", {"a"}, {"y"}).output("y");
  Session s(b.load(), with_seed(8));
  const std::vector<uint8_t> bytes(2 * 20000);
  const Program::Tensors in = {{"x", Constant::of_bytes(ElementType::Float16, {20000}, bytes)}};
  EXPECT_EQ(s.program_for(in)->steps().size(), 3u);  // two results, and a key
  const Constant y = s.run(in).at("y");
  EXPECT_EQ(y.type(), ElementType::Float16);
  EXPECT_LT(distance(numbers(y), bell), 1.95 + 0.35);
}

// Which program it is can be asked without a key, and no run's is spent for it.
TEST(onnx_random, programs_are_found_without_a_key) {
  ModelBuilder b(22);
  b.input("x", {"n"}).input("z", {"m"}).node("Add", {"x", "z"}, {"sum"});
  b.node("RandomNormalLike", {"sum"}, {"y"}, {real_attribute("seed", 3)}).output("y").output("sum");
  const Program::Tensors in = {{"x", floats({3}, {1, 2, 3})}, {"z", floats({1}, {1})}};
  Session asked(b.load()), plain(b.load());
  EXPECT_EQ(asked.program_for(in), asked.program_for(in));
  EXPECT_EQ(numbers(asked.run(in).at("y")), numbers(plain.run(in).at("y")));
}

// As in speech: how long a result is follows from random numbers, which the results have seen too.
TEST(onnx_random, numbers_that_decide_about_sizes_are_the_run_s) {
  ModelBuilder b(22);
  b.input("x", {1}).integers("axis", {0});
  b.node("RandomUniformLike", {"x"}, {"u"}, {real_attribute("low", 1), real_attribute("high", 50)});
  b.node("Cast", {"u"}, {"length"}, {int_attribute("to", 7)}).output("length");
  b.node("Squeeze", {"length", "axis"}, {"end"});
  b.node("Constant", {}, {"zero"}, {int_attribute("value_int", 0)});
  b.node("Constant", {}, {"one"}, {int_attribute("value_int", 1)});
  b.node("Range", {"zero", "end", "one"}, {"places"});
  b.node("RandomNormalLike", {"places"}, {"y"}, {int_attribute("dtype", 1)}).output("y");
  Session s(b.load());
  std::set<int64_t> lengths;
  for (int run = 0; run < 4; run++) {
    const Program::Tensors out = s.run({{"x", floats({1}, {0})}});
    EXPECT_EQ(out.at("y").elements(), out.at("length").integer_at(0));
    lengths.insert(out.at("y").elements());
  }
  EXPECT_GT(lengths.size(), 1u);
}

Message loop_body(const std::string &op) {
  ModelBuilder body(22);
  body.input("turn", {}, 7).input("go", {}, 9).input("s", {500});
  body.node("Identity", {"go"}, {"on"});
  body.node(op, {"s"}, {"noise"}, {real_attribute("seed", 3)});
  body.node("Add", {"s", "noise"}, {"sum"});
  body.output("on").output("sum").output("noise");
  return body.region("body");
}

TEST(onnx_random, each_turn_of_a_loop_draws_anew) {
  ModelBuilder b(22);
  b.input("x", {500}).integers("many", {200});
  b.node("Loop", {"many", "", "x"}, {"y", "all"},
         {graph_attribute("body", loop_body("RandomNormalLike"))});
  b.output("y").output("all");
  const Program::Tensors in = {{"x", floats({500}, std::vector<float>(500))}};
  Session s(b.load());
  const Program::Tensors out = s.run(in);
  const Numbers all = numbers(out.at("all"));
  EXPECT_EQ(out.at("all").shape(), (std::vector<int64_t>{200, 500}));
  EXPECT_LT(distance(all, bell), 1.95);
  for (ptrdiff_t lag : {500, 1000, 5000})
    EXPECT_NEAR(correlation({all.begin(), all.end() - lag}, {all.begin() + lag, all.end()}), 0,
                0.02);
  Numbers sums(500);
  for (size_t i = 0; i < all.size(); i++) sums[i % 500] += all[i];
  for (size_t i = 0; i < 500; i++)
    ASSERT_NEAR(out.at("y").number(static_cast<int64_t>(i)), sums[i], 1e-3);
  // The seed is that of all sessions, in each turn.
  EXPECT_EQ(numbers(Session(b.load()).run(in).at("all")), all);
  EXPECT_NEAR(correlation(numbers(s.run(in).at("all")), all), 0, 0.02);
}

TEST(onnx_random, scans_and_branches_within_loops_draw_anew) {
  ModelBuilder yes(22), no(22), step(22), body(22), b(22);
  yes.node("RandomUniform", {}, {"u"}, {ints_attribute("shape", {100})}).output("u");
  no.node("RandomNormal", {}, {"n"}, {ints_attribute("shape", {100})}).output("n");
  step.input("row", {}).node("RandomUniform", {}, {"p"}, {ints_attribute("shape", {100})});
  step.node("Constant", {}, {"half"},
            {Message().text(1, "value_float").real(2, 0.5f).number(20, 1)});
  step.node("Less", {"row", "half"}, {"test"});
  step.node("If", {"test"}, {"q"},
            {graph_attribute("then_branch", yes.region("yes")),
             graph_attribute("else_branch", no.region("no"))});
  step.output("p").output("q");
  body.input("turn", {}, 7).input("go", {}, 9).node("Identity", {"go"}, {"on"});
  body.node("Scan", {"x"}, {"p", "q"},
            {graph_attribute("body", step.region("step")), int_attribute("num_scan_inputs", 1)});
  body.output("on").output("p").output("q");
  b.input("x", {20}).integers("many", {10});
  b.node("Loop", {"many", ""}, {"p", "q"}, {graph_attribute("body", body.region("body"))});
  b.output("p").output("q");
  std::vector<float> x(20);
  for (size_t i = 10; i < 20; i++) x[i] = 1;
  Session s(b.load(), with_seed(11));
  const Program::Tensors out = s.run({{"x", floats({20}, x)}});
  const Numbers p = numbers(out.at("p")), q = numbers(out.at("q"));
  ASSERT_EQ(p.size(), 20000u);
  ASSERT_EQ(q.size(), 20000u);
  EXPECT_LT(distance(p, line), 1.95);
  Numbers uniform, normal;
  for (size_t i = 0; i < q.size(); i++) (i / 100 % 20 < 10 ? uniform : normal).push_back(q[i]);
  EXPECT_LT(distance(uniform, line), 1.95);
  EXPECT_LT(distance(normal, bell), 1.95);
  std::set<double> firsts;
  for (size_t i = 0; i < p.size(); i += 100) firsts.insert({p[i], q[i]});
  EXPECT_EQ(firsts.size(), 400u);
}

TEST(onnx_random, bernoulli_is_one_as_often_as_it_says) {
  for (int type : {0, 7, 9, 10, 11}) {
    ModelBuilder b(22);
    b.input("p", {5, "n"});
    b.node("Bernoulli", {"p"}, {"y"},
           type ? std::vector<Message>{int_attribute("dtype", type)} : std::vector<Message>{});
    b.output("y");
    constexpr int64_t kEach = 20000;
    const double chances[] = {0, 0.1, 0.5, 0.9, 1};
    std::vector<float> p;
    for (double c : chances) p.insert(p.end(), kEach, static_cast<float>(c));
    const Constant y = Session(b.load(), with_seed(4)).run({{"p", floats({5, kEach}, p)}}).at("y");
    EXPECT_EQ(y.type(), static_cast<ElementType>(type ? type : 1));
    const Numbers v = numbers(y);
    for (size_t row = 0; row < 5; row++) {
      const auto at = v.begin() + static_cast<ptrdiff_t>(row) * kEach;
      const double part = mean_of({at, at + kEach}), c = chances[row];
      EXPECT_NEAR(part, c, 4 * std::sqrt(c * (1 - c) / kEach)) << type;
    }
    for (double x : v) ASSERT_TRUE(x == 0 || x == 1);
  }
}

TEST(onnx_random, multinomial_follows_the_weights) {
  for (int type : {6, 7}) {
    ModelBuilder b(22);
    b.input("x", {"n", 4});
    b.node("Multinomial", {"x"}, {"y"},
           {int_attribute("sample_size", 20000), int_attribute("dtype", type)});
    b.output("y");
    const double weights[2][4] = {{1, 0, 2, 5}, {0, 3, 3, 0}};
    std::vector<float> x;
    for (const auto &row : weights) {
      for (double w : row) x.push_back(static_cast<float>(w == 0 ? -INFINITY : std::log(w) + 3));
    }
    const Constant y = Session(b.load(), with_seed(5)).run({{"x", floats({2, 4}, x)}}).at("y");
    EXPECT_EQ(y.type(), static_cast<ElementType>(type));
    EXPECT_EQ(y.shape(), (std::vector<int64_t>{2, 20000}));
    for (int64_t row = 0; row < 2; row++) {
      double counts[4] = {}, sum = 0;
      for (double w : weights[row]) sum += w;
      for (int64_t i = 0; i < 20000; i++) counts[y.integer_at(row * 20000 + i)]++;
      for (int c = 0; c < 4; c++) {
        const double p = weights[row][c] / sum;
        EXPECT_NEAR(counts[c] / 20000, p, 4 * std::sqrt(p * (1 - p) / 20000)) << c;
      }
    }
  }
}

// Elements are 0 as often as the ratio says, and others are larger for it; in training only.
TEST(onnx_random, dropout_drops_in_training) {
  ModelBuilder b(22);
  b.input("x", {"n", 1000}).input("training", {}, 9).weights("ratio", {}, {0.25f});
  b.node("Dropout", {"x", "ratio", "training"}, {"y", "mask"}).output("y").output("mask");
  b.initializer(ModelBuilder::tensor<uint8_t>("yes", 9, {}, {1}));
  b.node("Dropout", {"x", "", "yes"}, {"z"}, {int_attribute("seed", 7)}).output("z");
  Session s(b.load(), with_seed(6));
  const std::vector<float> x(100000, 3);
  for (uint8_t training : {0, 1}) {
    const Program::Tensors out =
        s.run({{"x", floats({100, 1000}, x)},
               {"training", Constant::of_bytes(ElementType::Bool, {}, {training})}});
    const Numbers y = numbers(out.at("y")), mask = numbers(out.at("mask")),
                  z = numbers(out.at("z"));
    EXPECT_EQ(out.at("mask").type(), ElementType::Bool);
    EXPECT_NEAR(mean_of(mask), training ? 0.75 : 1, training ? 0.006 : 0);
    for (size_t i = 0; i < y.size(); i++) {
      ASSERT_NEAR(y[i], training ? 4 * mask[i] : 3, 1e-6);
      ASSERT_TRUE(z[i] == 0 || z[i] == 6);
    }
    EXPECT_NEAR(mean_of(z), 3, 0.05);
    if (training) {
      EXPECT_NEAR(correlation(mask, z), 0, 0.015);
    }
  }
}

// A caller of a library gives the key, as any other input.
TEST(onnx_random, libraries_take_the_key_of_a_run) {
  const Program program(one("RandomNormal", {}).load(), {});
  const LibraryFiles files =
      emit_library(program, testing::TempDir() + "random_library", "noise", get_host_target());
  std::stringstream header;
  header << std::ifstream(files.header).rdbuf();
  EXPECT_NE(header.str().find("in_random_key: uint32[4]"), std::string::npos) << header.str();
}

TEST(onnx_random, sequences_are_not_mapped_at_random) {
  ModelBuilder body(22), b(22);
  body.input("e", {2}).node("RandomNormalLike", {"e"}, {"n"}).output("n");
  b.input("x", {2}).node("SequenceConstruct", {"x", "x"}, {"s"});
  b.node("SequenceMap", {"s"}, {"t"}, {graph_attribute("body", body.region("body"))});
  b.node("SequenceLength", {"t"}, {"y"}).output("y");
  const std::string error = error_of([&] { Session(b.load()).run({{"x", floats({2}, {0, 0})}}); });
  EXPECT_NE(error.find("(SequenceMap, version 17): its body draws random numbers"),
            std::string::npos)
      << error;
}

TEST(onnx_random, files_make_no_keys) {
  ModelBuilder b(22);
  b.import("polyhalite", 1).initializer(ModelBuilder::tensor<uint32_t>("k", 12, {4}, {1, 2, 3, 4}));
  b.node("RandomKey", {"k", "k"}, {"y"}, {}, "polyhalite").output("y");
  const std::string error = error_of([&] { b.load(); });
  EXPECT_NE(error.find("operator polyhalite.RandomKey is not supported"), std::string::npos)
      << error;
}

TEST(onnx_random, bad_attributes_are_refused) {
  auto error = [](const ModelBuilder &b) { return error_of([&] { Session(b.load()).run({}); }); };
  const std::pair<ModelBuilder, const char *> cases[] = {
      {one("RandomNormal", {int_attribute("dtype", 7)}),
       "node 'make_y' (RandomNormal, version 22): its results are int64\n  why: random numbers are "
       "float16, bfloat16, float32 or float64"},
      {one("RandomNormal", {real_attribute("scale", -1)}),
       "scale is -1.000000\n  why: a deviation is at least 0"},
      {one("RandomUniform", {real_attribute("low", 2)}),
       "low is 2.000000 and high 1.000000\n  why: numbers are from low to high"},
      {one("RandomUniform", {}, {-1}), "its result has the shape [-1]"},
      {ModelBuilder(22).node("RandomUniform", {}, {"y"}).output("y"),
       "it has no attribute 'shape'\n  why: nothing else tells its sizes"},
      {ModelBuilder(22).integers("x", {1, 2}).node("RandomNormalLike", {"x"}, {"y"}).output("y"),
       "its results are int64"},
      {ModelBuilder(22)
           .weights("x", {1, 2}, {1, 2})
           .node("Multinomial", {"x"}, {"y"}, {int_attribute("sample_size", 0)})
           .output("y"),
       "node 'make_y' (Multinomial, version 22): sample_size is 0\n  why: it is at least 1"},
      {ModelBuilder(22)
           .weights("x", {1, 2}, {1, 2})
           .node("Multinomial", {"x"}, {"y"}, {int_attribute("dtype", 1)})
           .output("y"),
       "its results are float32\n  why: they are int32 or int64"},
      {ModelBuilder(22).weights("x", {2}, {1, 2}).node("Multinomial", {"x"}, {"y"}).output("y"),
       "operand 0 has rank 1\n  why: it is [batch, classes]"},
      {ModelBuilder(22)
           .weights("x", {2}, {1, 2})
           .weights("r", {}, {1})
           .initializer(ModelBuilder::tensor<uint8_t>("t", 9, {}, {1}))
           .node("Dropout", {"x", "r", "t"}, {"y"})
           .output("y"),
       "its ratio is 1.000000\n  why: it is at least 0 and below 1"}};
  for (const auto &[model, message] : cases)
    EXPECT_NE(error(model).find(message), std::string::npos) << message << "\n" << error(model);
}

}  // namespace
}  // namespace polyhalite::onnx::random_test
