# SPDX-License-Identifier: Apache-2.0
"""Plants what Linux has and POSIX has not."""
import unittest

from tree import TreeCase

SCRIPT = "check_posix"


class CheckPosix(TreeCase):
    def finds(self, *parts):
        status, lines = self.check(SCRIPT)
        self.assertNotEqual(status, 0, lines)
        for part in parts:
            self.assertIn(part, "\n".join(lines))

    def test_posix(self):
        self.plant("src/run/a.c", "#include <string.h>\n"
                                  "char *wf_f(char *p, char **q);\n"
                                  'char *wf_f(char *p, char **q) { return strtok_r(p, ",", q); }\n')
        self.assert_clean(SCRIPT)

    def test_a_function_of_the_c_library_of_linux(self):
        self.plant("src/run/a.c", "#include <string.h>\n"
                                  "char *wf_f(char **p);\n"
                                  'char *wf_f(char **p) { return strsep(p, ","); }\n')
        self.finds("src/run/a.c:5", "strsep")

    def test_a_constant_of_linux(self):
        self.plant("src/base/a.c", "#include <sys/mman.h>\n"
                                   "int wf_f(void);\n"
                                   "int wf_f(void) { return MAP_ANONYMOUS; }\n")
        self.finds("src/base/a.c:5", "MAP_ANONYMOUS")

    def test_a_guard(self):
        text = ("#if defined(__linux__)\n#define _GNU_SOURCE\n#endif\n#include <sched.h>\n"
                "int wf_f(void);\nint wf_f(void)\n{\n%s\treturn sched_getcpu();\n%s}\n")
        self.plant("src/run/a.c", text % ("#if defined(__linux__)\n", "#else\n\treturn 0;\n#endif\n"))
        self.assert_clean(SCRIPT)
        # What is asked for behind a guard is used behind one.
        self.plant("src/run/a.c", text % ("", ""))
        self.finds("sched_getcpu")

    def test_all_of_linux_without_a_guard(self):
        self.plant("src/run/a.c", "#define _GNU_SOURCE\n#include <string.h>\n")
        self.finds("src/run/a.c:3", "not every system has that")

    def test_folders_for_linux(self):
        self.plant("src/live/a.c", "#define _GNU_SOURCE\n#include <sys/epoll.h>\n")
        self.plant("src/cli/live/a.c", "#include <sys/epoll.h>\nint wf_f(void);\n"
                                       "int wf_f(void) { return epoll_create1(0); }\n")
        self.assert_clean(SCRIPT)


if __name__ == "__main__":
    unittest.main()
