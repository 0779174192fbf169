// Modules: pipelines lowered once and written to files later.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "lang/messages.h"
#include "polyhalite/polyhalite.h"
#include "support/program.h"

namespace polyhalite::module_test {
namespace {

std::string read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

class ModuleTest : public testing::Test {
 protected:
  ModuleTest() {
    f(x) = x + k;
    g(x) = x * k;
  }

  const test::TemporaryFolder own;
  const std::string folder = own.path();
  const Target target = get_host_target();
  Param<int> k{"k"};
  Var x{"x"};
  Func f{"f"}, g{"g"};
};

TEST_F(ModuleTest, WritesWhatIsAsked) {
  const Module m = f.compile_to_module({k}, "add_k", target);
  EXPECT_EQ(m.name(), "add_k");
  EXPECT_EQ(m.target(), target);
  m.compile({{OutputFileType::object, folder + "/f.o"}, {Emit::c_header, folder + "/f.h"}});
  EXPECT_EQ(read(folder + "/f.o").substr(1, 3), "ELF");
  EXPECT_NE(read(folder + "/f.h").find("add_k("), std::string::npos);
}

TEST_F(ModuleTest, ObjectInMemoryIsTheFiles) {
  const Module m = f.compile_to_module({k}, "", target);
  EXPECT_EQ(m.name(), "f");
  m.compile({{Emit::object, folder + "/f.o"}});
  const Buffer<uint8_t> bytes = m.compile_to_buffer();
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), read(folder + "/f.o"));
}

TEST_F(ModuleTest, LinkedModulesAreOneLibrary) {
  const Module both = link_modules(
      "both", {f.compile_to_module({k}, "f", target), g.compile_to_module({k}, "g", target)});
  both.compile({{Emit::static_library, folder + "/both.a"}});
  const std::string library = read(folder + "/both.a");
  for (const char *member : {"f.o/", "g.o/", "polyhalite_runtime.o/"}) {
    EXPECT_NE(library.find(member), std::string::npos) << member;
  }
  EXPECT_NE(message_of([&] { both.compile_to_buffer(); })
                .find("error: the object of module 'both'\n"
                      "  why: the module has 2 functions, and such a file has one\n"
                      "  fix: write a static library, or compile the modules one by one"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              link_modules("twice", {f.compile_to_module({k}, "f", target),
                                     g.compile_to_module({k}, "f", target)});
            }).find("error: function 'f' is in module 'twice' already"),
            std::string::npos);
  Target other = target;
  other.set_feature(Target::NoAsserts);
  EXPECT_NE(message_of([&] {
              link_modules("m", {f.compile_to_module({k}, "f", target),
                                 g.compile_to_module({k}, "g", other)});
            }).find("error: module 'g' is appended to 'm'"),
            std::string::npos);
}

TEST_F(ModuleTest, RefusedSchedulesHaveNone) {
  RDom r(1, 9, "r");
  f(r) += f(r - 1);
  f.update().parallel(r);
  EXPECT_NE(message_of([&] { f.compile_to_module({k}, "f", target); }), "no error");
  EXPECT_NE(message_of([&] { g.compile_to_module({}, "g", target); }).find("Param 'k'"),
            std::string::npos);
}

TEST_F(ModuleTest, OneFunctionForSeveralTargets) {
  Target plain = target;
  for (Target::Feature feature :
       {Target::AVX512, Target::AVX512_Cannonlake, Target::AVX512_Skylake, Target::AVX512_KNL,
        Target::AVX512_SapphireRapids, Target::AVX512_Zen4, Target::AVX512_Zen5}) {
    plain = plain.without_feature(feature);
  }
  const Target best = plain == target ? target.with_feature(Target::NoBoundsQuery) : target;
  f.compile_to_multitarget_object_files(folder + "/f", {k}, {best, plain}, {"best", "plain"});
  for (const char *name : {"/f-best.o", "/f-plain.o", "/f.o"}) {
    EXPECT_EQ(read(folder + name).substr(1, 3), "ELF") << name;
  }
  f.compile_to_multitarget_static_library(folder + "/lib", {k}, {best, plain});
  EXPECT_EQ(read(folder + "/lib.a").substr(0, 7), "!<arch>");
  EXPECT_NE(read(folder + "/lib.h").find("int f("), std::string::npos);
  EXPECT_NE(message_of([&] {
              f.compile_to_multitarget_object_files(folder + "/f", {k}, {best, plain}, {"one"});
            }).find("compiled for 2 targets with 1 suffixes"),
            std::string::npos);
}

TEST_F(ModuleTest, RuntimeAlone) {
  const auto written = compile_standalone_runtime(
      {{Emit::static_library, folder + "/rt.a"}, {Emit::c_header, folder + "/rt.h"}}, target);
  EXPECT_EQ(written.size(), 1u);
  EXPECT_EQ(read(folder + "/rt.a").substr(0, 7), "!<arch>");
}

TEST_F(ModuleTest, FormsOfText) {
  f.compile_to_lowered_stmt(folder + "/f.html", {k}, HTML, target);
  EXPECT_NE(read(folder + "/f.html").find("<html>"), std::string::npos);
  f.compile_to_lowered_stmt(folder + "/f.stmt", {k}, Text, target);
  EXPECT_EQ(read(folder + "/f.stmt").substr(0, 7), "func f(");
  f.compile_to_conceptual_stmt(folder + "/f.tree", {k});
  EXPECT_EQ(read(folder + "/f.tree").substr(0, 6), "tree 1");
  f.compile_to_conceptual_stmt(folder + "/t.html", {k}, HTML);
  EXPECT_NE(read(folder + "/t.html").find("<html>"), std::string::npos);
}

}  // namespace
}  // namespace polyhalite::module_test
