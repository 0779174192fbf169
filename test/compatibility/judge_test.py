#!/usr/bin/env python3
"""Each way in which a program may end, and what is said of it."""

import unittest

from judge import (CRASHED, INTERNAL, NO_ERROR, OK, SKIPPED, TIMED_OUT, UNMET, WRONG, Ending, judge)

ABORTED = -6
UNCAUGHT = "terminate called after throwing an instance of '{}'\n  what():  f.cpp:3: error: no loop\n"


class OfACorrectnessTest(unittest.TestCase):
    def judge(self, exit_code, output, **more):
        return judge(Ending(exit_code, output), wanted=("Success!",), skips=("\\[SKIP\\]",), **more)

    def test_success(self):
        self.assertEqual(self.judge(0, "3 kernels\nSuccess!\n"), (OK, ""))

    def test_a_device_is_missing(self):
        self.assertEqual(self.judge(0, "[SKIP] no GPU\n"), (SKIPPED, "[SKIP] no GPU"))

    def test_success_is_not_told(self):
        self.assertEqual(self.judge(0, "f(3) = 4\n"), (WRONG, "f(3) = 4"))
        self.assertEqual(self.judge(0, ""), (WRONG, "no output"))

    def test_success_is_told_and_the_exit_code_says_otherwise(self):
        self.assertEqual(self.judge(1, "Success!\n"), (WRONG, "Success!"))

    def test_a_signal(self):
        self.assertEqual(self.judge(-11, "Success!\n"), (CRASHED, "SIGSEGV: Success!"))
        self.assertEqual(self.judge(ABORTED, "x\nError: bounds\ny\n"), (CRASHED, "SIGABRT: Error: bounds"))

    def test_no_end(self):
        self.assertEqual(self.judge(None, "round 1\nround 2\n"), (TIMED_OUT, "round 2"))

    def test_what_must_not_be_said(self):
        self.assertEqual(self.judge(0, "FAILED\nSuccess!\n", unwanted=("FAILED",)),
                         (WRONG, "Success!"))


class OfAnErrorTest(unittest.TestCase):
    def judge(self, exit_code, output):
        return judge(Ending(exit_code, output), will_fail=True, skips=("\\[SKIP\\]",))

    def test_a_user_error(self):
        self.assertEqual(self.judge(ABORTED, UNCAUGHT.format("polyhalite::CompileError")),
                         (OK, "what():  f.cpp:3: error: no loop"))
        self.assertEqual(self.judge(1, "Error: buffer has no host memory\n"),
                         (OK, "Error: buffer has no host memory"))

    def test_no_error(self):
        self.assertEqual(self.judge(0, ""), (NO_ERROR, "no output"))
        self.assertEqual(self.judge(1, "error: a\nSuccess!\n"), (NO_ERROR, "Success!"))

    def test_an_internal_error(self):
        self.assertEqual(self.judge(ABORTED, UNCAUGHT.format("polyhalite::InternalError"))[0],
                         INTERNAL)

    def test_a_crash(self):
        self.assertEqual(self.judge(-11, "error: a\n"), (CRASHED, "SIGSEGV"))
        self.assertEqual(self.judge(ABORTED, UNCAUGHT.format("std::out_of_range")),
                         (CRASHED, "uncaught std::out_of_range"))
        self.assertEqual(self.judge(ABORTED, "f.cpp:7: Assertion failed\n"),
                         (CRASHED, "no message: f.cpp:7: Assertion failed"))

    def test_a_device_is_missing(self):
        self.assertEqual(self.judge(0, "[SKIP] no GPU\n")[0], SKIPPED)


class OfOthers(unittest.TestCase):
    def test_a_tutorial_has_its_exit_code_alone(self):
        self.assertEqual(judge(Ending(0, "")), (OK, ""))
        self.assertEqual(judge(Ending(2, "Error: x\n")), (WRONG, "Error: x"))

    def test_a_warning_must_come(self):
        self.assertEqual(judge(Ending(0, "Warning: a\n"), wanted=("Warning:",))[0], OK)
        self.assertEqual(judge(Ending(0, "Success!\n"), wanted=("Warning:",))[0], WRONG)

    def test_a_measurement_may_fall_short(self):
        self.assertEqual(judge(Ending(1, "too slow\n"), measures=True), (UNMET, "too slow"))
        self.assertEqual(judge(Ending(-11, ""), measures=True)[0], CRASHED)


if __name__ == "__main__":
    unittest.main()
