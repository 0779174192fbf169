// What goes with a compiled pipeline: metadata, C++ names, several targets behind one function,
// generated sources, the cache. Each is used as a program uses it: compiled, linked and run.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "codegen/driver/compile_cache.h"
#include "codegen/driver/describe_filter.h"
#include "codegen/driver/generated_sources.h"
#include "codegen/llvm/c_header.h"
#include "lang/ir/freeze.h"
#include "lang/output_file.h"
#include "polyhalite/backend.h"
#include "polyhalite/polyhalite.h"
#include "test/codegen/driver/ahead_of_time.h"

namespace polyhalite::ahead_of_time_test {
namespace {

TEST_F(AheadOfTime, MetadataTellsOfTheArguments) {
  backend().emit(*scale(5), "scale", host_,
                 {{Emit::object, path("scale.o")},
                  {Emit::c_header, path("scale.h")},
                  {Emit::function_info_header, path("scale.function_info.h")},
                  {Emit::registration, path("scale.registration.cpp")}});
  EXPECT_EQ(output_of("#include \"scale.h\"\n#include \"scale.function_info.h\"\n"
                      "static_assert(scale_argument_info().size() == 3);\n"
                      "static_assert(scale_argument_info()[2].name == \"result\");\n"
                      "static_assert(scale_argument_info()[0].kind == "
                      "HalideFunctionInfo::InputBuffer);\n"
                      "extern \"C\" void polyhalite_register_argv_and_metadata(int (*f)(void **),\n"
                      "    const polyhalite_filter_metadata_t *m, const char *const *) {\n"
                      "  std::printf(\"registered %s\\n\", m->name);\n}\n",
                      R"(
  const polyhalite_filter_metadata_t *m = scale_metadata();
  std::printf("%d %d %s\n", m->version, m->num_arguments, m->name);
  for (int i = 0; i < m->num_arguments; i++) {
    const polyhalite_filter_argument_t &a = m->arguments[i];
    std::printf("%s %d %d %d/%d", a.name, a.kind, a.dimensions, a.type.code, a.type.bits);
    if (a.scalar_min) std::printf(" min %d", a.scalar_min->u.i32);
    if (a.scalar_max) std::printf(" max %d", a.scalar_max->u.i32);
    if (a.scalar_estimate) std::printf(" estimate %d", a.scalar_estimate->u.i32);
    if (a.buffer_estimates) {
      std::printf(" [%d, %d]", (int)*a.buffer_estimates[0], (int)*a.buffer_estimates[1]);
    }
    std::printf("\n");
  }
  if (scale(&in, 2, &out) != 0) return 1;
  std::printf("%d %d\n", to[0], to[7]);
)",
                      "scale.registration.cpp scale.o"),
            "registered scale\n"
            "1 3 scale\n"
            "in 1 1 1/8 [2, 100]\n"
            "gain 0 0 0/32 min 1 max 9 estimate 4\n"
            "result 2 1 0/32 [0, 50]\n"
            "7 21\n");
}

// Nobody looks at a buffer that the code does not use, nor at a constraint that does not hold.
TEST_F(AheadOfTime, CallersAreTrustedWithoutAsserts) {
  Target trusting = host_.with_feature(Target::NoAsserts).with_feature(Target::NoBoundsQuery);
  ImageParam in(UInt(8), 1, "in"), unused(UInt(8), 1, "unused");
  Var x("x");
  Func zeros("zeros"), f("f");
  zeros(x) = x / 4;
  zeros.compute_root().store_in(MemoryType::Stack);  // the first thing that the code needs
  f(x) = cast<int>(in(x)) + zeros(x % 4);
  in.dim(0).set_bounds(0, 4);
  unused.dim(0).set_bounds(0, in.dim(0).extent());
  auto p = std::make_shared<FrozenPipeline>(
      freeze({f.function()}, {in.parameter().contents(), unused.parameter().contents()}));
  for (const auto &[name, target] : {std::pair("trusting", trusting), std::pair("asking", host_)}) {
    backend().emit(*p, name, target,
                   {{Emit::object, path(name + std::string(".o"))},
                    {Emit::c_header, path(name + std::string(".h"))},
                    {Emit::compiler_log, path(name + std::string(".log"))}});
  }
  auto log = [&](const char *file) { return run(std::string("cat ") + file).first; };
  EXPECT_NE(log("trusting.log")
                .find("\"promises\": [\"promised: what 'trusting' would check of its arguments "
                      "(no_asserts)\"]"),
            std::string::npos);
  EXPECT_NE(log("asking.log").find("\"promises\": []"), std::string::npos);
  EXPECT_EQ(output_of("#include \"trusting.h\"\n#include \"asking.h\"\n"
                      "extern \"C\" void polyhalite_error(void *, const char *m) {\n"
                      "  std::printf(\"%s\\n\", m);\n}\n",
                      R"(
  const int done = trusting(&in, nullptr, &out);
  std::printf("%d %d %d\n", done, to[0], to[7]);
  asking(&in, nullptr, &out);
  asking(&in, &in, &out);
)",
                      "trusting.o asking.o"),
            "0 1 8\n"
            "asking: buffer 'unused' is null; pass a pointer to a polyhalite_buffer_t\n"
            "asking: the extent of dimension 0 of buffer 'in' is 8, but the pipeline was compiled "
            "for 4; pass such a buffer, or lift the constraint of an input with "
            "dim(0).set_extent\n");
}

TEST_F(AheadOfTime, ProfilesAreReportedWhenTheProgramEnds) {
  const Target target = host_.with_feature(Target::Profile).with_feature(Target::ProfileCounts);
  backend().emit(*scale(5), "scale", target,
                 {{Emit::object, path("scale.o")}, {Emit::c_header, path("scale.h")}});
  setenv("PH_PROFILE_JSON", path("profile.json").c_str(), 1);
  const std::string text =
      output_of("#include \"scale.h\"\n#include \"lang/abi/polyhalite_profiler.h\"\n",
                R"(
  for (int i = 0; i < 3; i++) {
    if (scale(&in, 2, &out) != 0) return 1;
  }
  std::printf("%d runs\n", polyhalite_profiler_get_pipeline_state("scale")->runs);
)",
                "scale.o");
  unsetenv("PH_PROFILE_JSON");
  EXPECT_NE(text.find("3 runs\n"), std::string::npos) << text;
  EXPECT_NE(text.find("scale\n total time: "), std::string::npos) << text;
  EXPECT_NE(text.find("runs: 3  time per run: "), std::string::npos) << text;
  EXPECT_NE(text.find("entered: 3 "), std::string::npos) << text;
  std::ifstream json(path("profile.json"));
  std::string line;
  std::getline(json, line);
  EXPECT_EQ(line.rfind("{\"pipelines\": [{\"name\": \"scale\", ", 0), 0u) << line;
  EXPECT_NE(line.find("\"entered\": 3"), std::string::npos) << line;
}

TEST_F(AheadOfTime, TraceEventsGoToTheProgramsHandlerOrAFile) {
  backend().emit(*scale(5), "scale", host_.with_feature(Target::TraceStores),
                 {{Emit::object, path("scale.o")}, {Emit::c_header, path("scale.h")}});
  EXPECT_EQ(output_of("#include \"scale.h\"\n#include \"lang/abi/polyhalite_runtime.h\"\n"
                      "int sum = 0;\n"
                      "int32_t note(void *, const polyhalite_trace_event_t *e) {\n"
                      "  if (e->event == polyhalite_trace_store) sum += *(int32_t *)e->value;\n"
                      "  return 1;\n}\n",
                      R"(
  polyhalite_set_custom_trace(note);
  if (scale(&in, 2, &out) != 0) return 1;
  std::printf("%d\n", sum);
  polyhalite_set_custom_trace(nullptr);
  setenv("PH_TRACE_FILE", "trace.bin", 1);
  if (scale(&in, 2, &out) != 0) return 1;
  if (polyhalite_shutdown_trace() != 0) return 2;
  std::FILE *file = std::fopen("trace.bin", "rb");
  polyhalite_trace_packet_t p;
  int packets = 0;
  while (std::fread(&p, sizeof p, 1, file) == 1) {
    packets++;
    std::fseek(file, static_cast<long>(p.size - sizeof p), SEEK_CUR);
  }
  std::printf("%d packets\n", packets);
)",
                      "scale.o"),
            "112\n11 packets\n");
}

TEST_F(AheadOfTime, NamesOfCPlusPlus) {
  const Target target = host_.with_feature(Target::CPlusPlusMangling);
  backend().emit(*scale(1), "outer::inner::scale", target,
                 {{Emit::object, path("scale.o")}, {Emit::c_header, path("scale.h")}});
  EXPECT_EQ(output_of("#include \"scale.h\"\n",
                      "  if (outer::inner::scale(&in, 2, &out) != 0) return 1;\n"
                      "  int gain = 3; void *args[] = {&in, &gain, &out};\n"
                      "  std::printf(\"%d\\n\", to[7]);\n"
                      "  if (outer::inner::scale_argv(args) != 0) return 1;\n"
                      "  std::printf(\"%d %s\\n\", to[7], outer::inner::scale_metadata()->name);\n",
                      "scale.o"),
            "17\n25 scale\n");
}

// f(x) = first(numbers, shape) + extra(x), where extra is an extern stage.
Func with_pointers(Param<const float *> numbers, Param<void *> any) {
  Func f("f"), extra("extra");
  Var x("x");
  extra.define_extern("extra", {any, cast<uint8_t>(3)}, Int(32), {x});
  extra.compute_root();
  f(x) = extern_call(Int(32), "outer::first", {numbers}, {numbers.type()}) + extra(x);
  return f;
}

constexpr const char *kPointerFunctions = R"(
namespace outer { int first(const float *p) { return (int)p[0]; } }
LINKAGE int extra(void *add, uint8_t n, polyhalite_buffer_t *out) {
  for (int i = 0; out->host && i < out->dim[0].extent; i++) ((int32_t *)out->host)[i] = n + *(int *)add;
  return 0;
}
)";

// Calls by the names of C++, and pointers in headers by their types: a const float * is no void *.
TEST_F(AheadOfTime, PointersKeepTheirTypes) {
  for (const bool mangled : {false, true}) {
    Param<const float *> numbers("numbers");
    Param<void *> any("any");
    const Target target = mangled ? host_.with_feature(Target::CPlusPlusMangling) : host_;
    Func f = with_pointers(numbers, any);
    f.compile_to({{Emit::object, path("f.o")}, {Emit::c_header, path("f.h")}}, {numbers, any}, "f",
                 target);
    std::string functions = kPointerFunctions;
    functions.replace(functions.find("LINKAGE"), 7, mangled ? "" : "extern \"C\"");
    EXPECT_EQ(output_of("#include \"f.h\"\n" + functions,
                        "  const float numbers[] = {40.5f};\n  int add = 5;\n"
                        "  if (f(numbers, &add, &out) != 0) return 1;\n"
                        "  std::printf(\"%d %d\\n\", to[0], to[7]);\n",
                        "f.o"),
              "48 48\n");
    std::ifstream header(path("f.h"));
    const std::string text((std::istreambuf_iterator<char>(header)), {});
    EXPECT_NE(text.find("int f(float const *numbers, void *any, struct polyhalite_buffer_t *"),
              std::string::npos)
        << text;
    f.compile_to({{Emit::c_source, path("f_source.cc")}}, {numbers, any}, "f", target);
    const auto [errors, failed] =
        run("c++ -std=c++17 -c -I" POLYHALITE_TEST_DIR "/../../lang/abi f_source.cc");
    EXPECT_EQ(failed, 0) << errors;
  }
}

TEST_F(AheadOfTime, StagesArePipelinesOfCPlusPlus) {
  const Target target =
      host_.with_feature(Target::CPlusPlusMangling).with_feature(Target::UserContext);
  Var x("x");
  Param<int> first("first");
  Func leaf("leaf"), stage("stage"), root("root");
  leaf(x) = first + x;
  leaf.compile_to({{Emit::object, path("leaf.o")}}, {first}, "leaf", target);
  stage.define_extern("leaf", {user_context_value(), 30}, Int(32), {x});
  stage.compute_root();
  root(x) = stage(x + 1);
  root.compile_to({{Emit::object, path("root.o")}, {Emit::c_header, path("root.h")}}, {}, "root",
                  target);
  EXPECT_EQ(output_of("#include \"root.h\"\n",
                      "  if (root(nullptr, &out) != 0) return 1;\n"
                      "  std::printf(\"%d %d\\n\", to[0], to[7] + in.dimensions);\n",
                      "root.o leaf.o"),
            "31 39\n");
}

TEST(HeaderOfPointers, DeclaresWhatTheyPointTo) {
  Filter f = make_filter("f", Target("x86-64-linux"));
  auto add = [&](const std::string &name, const char *pointee) {
    FilterArgument a;
    a.name = name;
    a.type = Handle(1, Pointee::parse(pointee));
    f.arguments.push_back(a);
  };
  add("s", "const struct shape");
  add("c", "class deep::node");
  const std::string text = c_header(f);
  for (const char *part :
       {"struct shape;\n#ifdef __cplusplus\nnamespace deep {\nclass node;\n}\n#endif\n",
        "int f(struct shape const *s, class ::deep::node *c);\n",
        "int f(struct shape const *s, void *c);\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST_F(AheadOfTime, NamespacesWithoutMangling) {
  backend().emit(*scale(1), "outer::scale", host_,
                 {{Emit::object, path("scale.o")}, {Emit::c_header, path("scale.h")}});
  EXPECT_EQ(output_of("#include \"scale.h\"\n",
                      "  if (outer::scale(&in, 2, &out) != 0) return 1;\n"
                      "  std::printf(\"%d\\n\", to[7]);\n",
                      "scale.o"),
            "17\n");
}

TEST_F(AheadOfTime, SeveralTargetsAreChosenAtRunTime) {
  const Target plain(host_.os, host_.arch, host_.bits);
  const Target fast = plain.with_feature(Target::NoBoundsQuery);
  backend().emit_multitarget({{scale(100), fast, "fast"}, {scale(200), plain, "plain"}}, "scale",
                             {{Emit::static_library, path("libscale.a")},
                              {Emit::c_header, path("scale.h")},
                              {Emit::stmt, path("scale.stmt")}});
  EXPECT_TRUE(std::filesystem::exists(path("scale-fast.stmt")));
  EXPECT_TRUE(std::filesystem::exists(path("scale-plain.stmt")));
  const std::string program =
      "#include \"scale.h\"\n#include \"lang/abi/polyhalite_target_features.h\"\n"
      "int asked = 0;\n"
      "static int can(int count, const uint64_t *features) {\n"
      "  asked++;\n"
      "  const int f = polyhalite_target_feature_no_bounds_query;\n"
      "  return f / 64 < count && (features[f / 64] >> (f % 64) & 1) ? ANSWER : -1;\n}\n"
      "__attribute__((constructor)) static void setup() {\n"
      "  polyhalite_set_custom_can_use_target_features(can);\n}\n";
  for (const char *answer : {"0", "1"}) {
    std::string declarations = program;
    declarations.replace(declarations.find("ANSWER"), 6, answer);
    EXPECT_EQ(output_of(declarations,
                        "  for (int i = 0; i < 3; i++) if (scale(&in, 1, &out) != 0) return 1;\n"
                        "  std::printf(\"%d %d %s\\n\", to[0], asked, scale_metadata()->name);\n",
                        "libscale.a"),
              std::string(answer[0] == '1' ? "101" : "201") + " 1 scale\n");
  }
  // The default knows this machine.
  EXPECT_EQ(
      output_of("#include \"scale.h\"\n",
                "  if (scale(&in, 1, &out) != 0) return 1;\n  std::printf(\"%d\\n\", to[0]);\n",
                "libscale.a"),
      "101\n");
}

// A function has one algorithm, whichever of its compilations runs.
TEST_F(AheadOfTime, RandomNumbersAreTheSameForEveryTarget) {
  const Target plain(host_.os, host_.arch, host_.bits);
  const auto factory = [&](const std::string &name, const Target &target) {
    Var x("x");
    Func f("f");
    f(x) = random_int() % 1000 + random_int() % 7;
    return f.compile_to_module({}, name, target);
  };
  std::vector<std::string> texts;
  compile_multitarget("f", {{Emit::algorithm, path("f.algorithm")}},
                      {plain.with_feature(Target::NoBoundsQuery), plain}, {"first", "second"},
                      factory);
  for (const char *which : {"f-first.algorithm", "f-second.algorithm"}) {
    std::ifstream file(path(which));
    texts.emplace_back((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }
  EXPECT_FALSE(texts[0].empty());
  EXPECT_EQ(texts[0], texts[1]);
}

// Languages without a preprocessor know the standalone runtime's functions as Halide's.
TEST_F(AheadOfTime, TheStandaloneRuntimeHasHalidesNames) {
  backend().emit_runtime(host_, Emit::object, path("standalone.o"));
  backend().emit_runtime(host_, Emit::c_header, path("standalone.h"));
  write_file(
      path("plain.c"),
      "#include <stddef.h>\n#include <stdio.h>\n#include \"standalone.h\"\n"
      "extern void *halide_malloc(void *, size_t);\nextern void halide_free(void *, void *);\n"
      "extern int halide_set_num_threads(int);\n"
      "void polyhalite_free(void *c, void *p) { printf(\"freed %d\\n\", p != 0); }\n"
      "int main(void) {\n  void *p = halide_malloc(0, 100);\n  halide_free(0, p);\n"
      "  polyhalite_free(0, p);\n"
      "  return halide_set_num_threads(2) < 1 || p == NULL;\n}\n",
      "the test's program");
  const auto [errors, failed] = run("cc -I" POLYHALITE_TEST_DIR
                                    "/../../lang/abi plain.c standalone.o -lm -lpthread -o plain" +
                                    std::string(test::kSanitizers));
  ASSERT_EQ(failed, 0) << errors;
  EXPECT_EQ(run("./plain"), (std::pair<std::string, int>{"freed 1\n", 0}));
  // A static library of a pipeline may stand beside one of Halide's.
  backend().emit(*scale(5), "scale", host_, {{Emit::static_library, path("libscale.a")}});
  EXPECT_EQ(run("nm libscale.a | grep -c ' halide_'").first, "0\n");
}

TEST_F(AheadOfTime, TargetsMustAgreeOnTheArguments) {
  auto other = scale(2);
  other->output_names = {"different"};
  const Target plain(host_.os, host_.arch, host_.bits);
  try {
    backend().emit_multitarget(
        {{other, plain.with_feature(Target::NoAsserts), "a"}, {scale(1), plain, "b"}}, "scale",
        {{Emit::static_library, path("libscale.a")}});
    FAIL();
  } catch (const CompileError &e) {
    EXPECT_NE(std::string(e.what()).find("error: 'scale' has other arguments for target '"),
              std::string::npos)
        << e.what();
  }
}

TEST(FilterNames, AreManglesOfTheItaniumAbi) {
  Filter f = make_filter("A::B::f", Target("x86-64-linux-c_plus_plus_name_mangling"));
  auto add = [&](const std::string &name, FilterArgument::Kind kind, Type t) {
    FilterArgument a;
    a.name = name;
    a.kind = kind;
    a.type = t;
    f.arguments.push_back(a);
  };
  add(kUserContextName, FilterArgument::InputScalar, user_context_type());
  add("a", FilterArgument::InputBuffer, UInt(8));
  add("i", FilterArgument::InputScalar, Int(8));
  add("b", FilterArgument::InputScalar, Bool());
  add("h", FilterArgument::InputScalar, Handle());
  add("d", FilterArgument::InputScalar, Float(64));
  add("g", FilterArgument::OutputBuffer, UInt(8));
  EXPECT_EQ(f.symbol(), "_ZN1A1B1fEPKvP19polyhalite_buffer_tabPvdS4_");
  EXPECT_EQ(f.argv_symbol(), "_ZN1A1B6f_argvEPPv");
  EXPECT_EQ(f.metadata_symbol(), "_ZN1A1B10f_metadataEv");
}

TEST(CompileCacheFolder, KeepsWhatWasCompiled) {
  char name[] = "/tmp/polyhalite_cache_XXXXXX";
  const std::string folder = mkdtemp(name);
  setenv("PH_CACHE_DIR", folder.c_str(), 1);
  {
    const CompileCache cache("key"), same("key"), other("other key");
    ASSERT_TRUE(cache.enabled());
    EXPECT_FALSE(cache.find("object"));
    cache.store("object", std::string("bytes\0more", 10));
    ASSERT_TRUE(same.find("object"));
    EXPECT_EQ(*same.find("object"), std::string("bytes\0more", 10));
    EXPECT_FALSE(same.find("assembly"));
    EXPECT_FALSE(other.find("object"));
    // A broken entry is none.
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
      std::ofstream(entry.path(), std::ios::app) << "damage";
    }
    EXPECT_FALSE(same.find("object"));
    // Entries that were used longest ago make room.
    setenv("PH_CACHE_MB", "1", 1);
    for (int i = 0; i < 5; i++) {
      CompileCache("entry " + std::to_string(i)).store("object", std::string(300 << 10, 'x'));
    }
    EXPECT_FALSE(CompileCache("entry 0").find("object"));
    EXPECT_TRUE(CompileCache("entry 4").find("object"));
    unsetenv("PH_CACHE_MB");
  }
  unsetenv("PH_CACHE_DIR");
  EXPECT_FALSE(CompileCache("key").enabled());
  std::filesystem::remove_all(folder);
}

TEST_F(AheadOfTime, CachedObjectsAreTheSame) {
  const std::string cache = path("cache");
  setenv("PH_CACHE_DIR", cache.c_str(), 1);
  CompileTimes first, second, third;
  auto read = [&](const char *file) {
    std::ifstream in(path(file), std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  };
  backend().emit(*scale(1), "scale", host_, {{Emit::object, path("a.o")}}, &first);
  backend().emit(*scale(1), "scale", host_, {{Emit::object, path("b.o")}}, &second);
  backend().emit(*scale(2), "scale", host_, {{Emit::object, path("c.o")}}, &third);
  unsetenv("PH_CACHE_DIR");
  EXPECT_GT(first.llvm, 0);
  EXPECT_EQ(second.llvm, 0);
  EXPECT_GT(third.llvm, 0);
  EXPECT_EQ(read("a.o"), read("b.o"));
  EXPECT_NE(read("a.o"), read("c.o"));
}

// Bounds that are fixed are estimates too.
TEST(DescribeFilter, EstimatesAreOfFuncsOfTheirBuffersAndOfBounds) {
  ImageParam in(UInt(8), 2, "in");
  in.dim(0).set_bounds(0, 5);
  in.dim(1).set_estimate(1, 7);
  Var x("x"), y("y");
  Func f("f"), g("g");
  f(x, y) = in(x, y);
  f.bound(x, 0, 32);
  f.output_buffer().dim(1).set_bounds(2, 9);
  g(x, y) = Tuple(in(x, y), f(x, y));
  g.set_estimate(x, 3, 4).bound_extent(y, 6);
  g.output_buffers()[1].dim(1).set_estimate(8, 16);
  const FrozenPipeline p = freeze({f.function(), g.function()}, {in.parameter().contents()});
  std::string text;
  for (const FilterArgument &a : describe_filter(p, "fg", get_host_target()).arguments) {
    text += a.name + ":";
    for (const Expr &e : a.bounds_estimates) {
      std::ostringstream number;
      if (e.defined()) number << e;
      text += " " + (e.defined() ? number.str() : "-");
    }
    text += "\n";
  }
  EXPECT_EQ(text,
            "in: 0 5 1 7\n"
            "f: 0 32 2 9\n"
            "g.0: 3 4 - 6\n"
            "g.1: 3 4 8 6\n");
}

}  // namespace
}  // namespace polyhalite::ahead_of_time_test
