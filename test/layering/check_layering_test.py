#!/usr/bin/env python3
"""Plants each kind of fault in a small tree and looks for the line that reports it."""

import pathlib
import tempfile
import unittest

from check_layering import check

CLEAN = {
    "lang/include/polyhalite/expr.h": "#include <memory>\n",
    "lang/ir/node.h": '#include "polyhalite/expr.h"\n',
    "schedule/tree.h": '#include "lang/ir/node.h"\n',
    "polyhedral/judge.h": '#include "schedule/tree.h"\n#include <isl/set.h>\n',
    "codegen/lower.cc": '#include "polyhedral/judge.h"\n#include <llvm/IR/Module.h>\n',
    "apps/demo.cc": '#include "codegen/driver/jit.h"\n',
    "codegen/driver/jit.h": "",
}


class CheckLayering(unittest.TestCase):
    def violations(self, planted):
        with tempfile.TemporaryDirectory() as root:
            for name, text in {**CLEAN, **planted}.items():
                path = pathlib.Path(root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check(root)

    def test_clean_tree_passes(self):
        self.assertEqual(self.violations({}), [])

    def test_include_against_the_direction(self):
        self.assertEqual(
            self.violations({"lang/bad.cc": '\n#include "schedule/tree.h"\n'}),
            ["lang/bad.cc:2: lang may not include schedule (schedule/tree.h)"])

    def test_public_header_path_counts_as_lang(self):
        self.assertEqual(
            self.violations({"lang/include/polyhalite/expr.h": '#include "codegen/driver/jit.h"\n'}),
            ["lang/include/polyhalite/expr.h:1: lang may not include codegen/driver "
             "(codegen/driver/jit.h)"])

    def test_only_the_driver_may_include_the_auto_scheduler(self):
        self.assertEqual(
            self.violations({
                "autosched/search.h": "",
                "codegen/driver/jit.h": '#include "autosched/search.h"\n',
                "codegen/pass.h": '#include "autosched/search.h"\n',
            }),
            ["codegen/pass.h:1: codegen may not include autosched (autosched/search.h)"])

    def test_isl_outside_polyhedral(self):
        self.assertEqual(
            self.violations({"schedule/bad.h": "#include <isl/cpp.h>\n"}),
            ["schedule/bad.h:1: isl header isl/cpp.h outside polyhedral/"])

    def test_llvm_outside_codegen(self):
        self.assertEqual(
            self.violations({"polyhedral/bad.h": "#include <llvm-c/Core.h>\n"}),
            ["polyhedral/bad.h:1: LLVM header llvm-c/Core.h outside codegen/"])

    def test_cycle_between_headers(self):
        self.assertEqual(
            self.violations({
                "lang/a.h": '#include "lang/b.h"\n',
                "lang/b.h": '#include "lang/c.h"\n',
                "lang/c.h": '#include "a.h"\n',
            }),
            ["cycle: lang/a.h -> lang/b.h -> lang/c.h -> lang/a.h"])

    def test_missing_header(self):
        self.assertEqual(
            self.violations({"lang/bad.cc": '#include "lang/nowhere.h"\n'}),
            ["lang/bad.cc:1: lang/nowhere.h is in no include folder"])

    def test_empty_tree_is_a_fault(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertIn("no source was found", check(root)[0])


if __name__ == "__main__":
    unittest.main()
