// Symbols of C++ functions against those that this compiler gave to the same functions.
#include "lang/ir/cxx_symbol.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "lang/ir/text.h"

#define VISIBLE __attribute__((visibility("default")))

struct PhTestGlobal;

namespace ph_test {
class Inner;
namespace deep {
union Choice;
}
VISIBLE int nothing() { return 1; }
VISIBLE int numbers(bool, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t,
                    float, double) {
  return 2;
}
VISIBLE int pointers(void *, const void *, int32_t *, const int32_t *, const void *, int32_t *,
                     const volatile char *, volatile char *) {
  return 3;
}
VISIBLE int types(Inner *, const Inner *, const deep::Choice *, PhTestGlobal *,
                  const deep::Choice *, const PhTestGlobal *, polyhalite_buffer_t *, Inner *) {
  return 4;
}
namespace deep {
VISIBLE int types(Choice *, Inner *, polyhalite_buffer_t *, polyhalite_buffer_t *) { return 5; }
}  // namespace deep
}  // namespace ph_test

VISIBLE int ph_test_global(float, const float *) { return 6; }

POLYHALITE_DECLARE_POINTEE(Struct, PhTestGlobal);
POLYHALITE_DECLARE_POINTEE(Class, ph_test::Inner);
POLYHALITE_DECLARE_POINTEE(Union, ph_test::deep::Choice);

namespace polyhalite::cxx_symbol_test {
namespace {

template <typename... T>
std::vector<Type> types_of(int (*)(T...)) {
  return {type_of<T>()...};
}

template <typename... T>
std::string compiled_symbol(int (*f)(T...)) {
  Dl_info info;
  const bool found = dladdr(reinterpret_cast<void *>(f), &info) && info.dli_sname;
  return found ? info.dli_sname : "not exported";
}

#define EXPECT_SYMBOL(f) EXPECT_EQ(cxx_symbol(#f, types_of(f), 64), compiled_symbol(f))

TEST(CxxSymbol, IsTheCompilersOwn) {
  EXPECT_SYMBOL(ph_test::nothing);
  EXPECT_SYMBOL(ph_test::numbers);
  EXPECT_SYMBOL(ph_test::pointers);
  EXPECT_SYMBOL(ph_test::types);
  EXPECT_SYMBOL(ph_test::deep::types);
  EXPECT_SYMBOL(::ph_test_global);
}

TEST(CxxSymbol, OfLongNumbersDependsOnTheMachine) {
  EXPECT_EQ(cxx_symbol("f", {Int(64), UInt(64)}, 64), "_Z1flm");
  EXPECT_EQ(cxx_symbol("f", {Int(64), UInt(64)}, 32), "_Z1fxy");
}

TEST(CxxSymbol, OfTheStandardNamespaceIsShort) {
  EXPECT_EQ(cxx_symbol("std::f", {}, 64), "_ZSt1fv");
  EXPECT_EQ(cxx_symbol("std::a::f", {}, 64), "_ZNSt1a1fEv");
}

TEST(CxxSymbol, ReadsAsTheFunctionsName) {
  EXPECT_EQ(readable_symbol("_ZN7ph_test5typesEi"), "ph_test::types");
  EXPECT_EQ(readable_symbol("plain"), "plain");
  EXPECT_EQ(extern_symbol("plain", {Int(32)}, 64), "plain");
  EXPECT_EQ(extern_symbol("::global", {Int(32)}, 64), "_Z6globali");
}

TEST(Pointee, IsKnownOfPointers) {
  EXPECT_EQ(type_of<const float *>().pointee()->to_string(), "const float");
  EXPECT_EQ(type_of<ph_test::deep::Choice volatile *>().pointee()->to_string(),
            "volatile union ph_test::deep::Choice");
  EXPECT_EQ(type_of<void *>().pointee(), nullptr);
  EXPECT_EQ(type_of<const std::string *>().pointee()->to_string(), "const void");
  EXPECT_EQ(type_of<float>().pointee(), nullptr);
  // The values are the same.
  EXPECT_EQ(type_of<const float *>(), Handle());
  EXPECT_EQ(type_of<const float *>().with_lanes(4).pointee()->to_string(), "const float");
}

TEST(Pointee, ReadsBack) {
  for (const char *text : {"const struct a::b", "volatile float", "class x", "union y", "void"}) {
    const Pointee *p = Pointee::parse(text);
    ASSERT_NE(p, nullptr) << text;
    EXPECT_EQ(p->to_string(), text);
    EXPECT_EQ(Pointee::parse(text), p);
  }
  EXPECT_EQ(Pointee::parse(""), nullptr);
  EXPECT_EQ(Pointee::parse("const "), nullptr);
  EXPECT_EQ(Pointee::parse("float *"), nullptr);
}

TEST(Pointee, StandsInAlgorithms) {
  const std::string text =
      "algorithm 1\nparam p: handle64, pointee \"const struct a::b\"\nparam q: handle64\n"
      "f(x) = extern<int32>(`a::f`, p) + extern<int32>(g, q)\noutput f\n";
  const Algorithm a = parse_algorithm(text, "a");
  EXPECT_EQ(to_text(a), text);
  EXPECT_EQ(a.inputs[0].param->type.pointee()->name, "a::b");
  const std::string wrong = "algorithm 1\nparam p: int32, pointee \"float\"\n";
  try {
    parse_algorithm(wrong, "a");
    FAIL();
  } catch (const CompileError &e) {
    EXPECT_STREQ(e.what(),
                 "a:2: error: expected what a handle points to, as in \"const float\", found "
                 "\"float\"");
  }
}

}  // namespace
}  // namespace polyhalite::cxx_symbol_test
