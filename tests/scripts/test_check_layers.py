# SPDX-License-Identifier: Apache-2.0
"""Plants includes that the layers do not allow, and tables that contradict themselves."""
import unittest

from tree import TreeCase

SCRIPT = "check_layers.py"


class CheckLayers(TreeCase):
    def table(self, *rows):
        self.plant("scripts/layers.txt", "\n".join(["pure = stdint.h", *rows, ""]), head="")

    def test_allowed(self):
        self.plant("src/base/a.c", '#include "base/a.h"\n#include <stdio.h>\n')
        self.plant("src/wire/b.c", '#include "wire/b_priv.h"\n#include <stdint.h>\n'
                                   '#include "base/a.h"\n')
        self.plant("src/fabric/flowctl/c.c", '#include "fabric/flowctl/c.h"\n'
                                             '#include "engine/e.h"\n')
        self.plant("src/engine/e.c", "#include <stdatomic.h>\n#include <pthread.h>\n")
        self.plant("src/api/j.c", '#include <weft/weft.h>\n#include "weft/verbs.h"\n')
        self.plant("src/live/l.c", "#include <sys/socket.h>\n#include <time.h>\n")
        self.plant("src/cli/m.c", '#include "study/study.h"\n')
        self.plant("include/weft/weft.h", "#include <stdint.h>\n#include <weft/verbs.h>\n")
        self.assert_clean(SCRIPT)

    def test_upward(self):
        self.plant("src/base/a.c", '\n#include "wire/b.h"\n')
        self.assert_finds(SCRIPT, "src/base/a.c:4", "base/ may not include wire/")

    def test_same_level(self):
        self.plant("src/wire/a.c", '  #  include   "cc/cc.h"\n')
        self.assert_finds(SCRIPT, "src/wire/a.c:3", "wire/ may not include cc/")

    def test_lower_but_not_in_the_row(self):
        self.plant("src/rdma/a.h", '#include "topo/topo.h"\n')
        self.assert_finds(SCRIPT, "src/rdma/a.h:3", "rdma/ may not include topo/")

    def test_public_headers_from_below(self):
        self.plant("src/rdma/a.c", "#include <weft/weft.h>\n")
        self.assert_finds(SCRIPT, "src/rdma/a.c:3", "rdma/ may not include weft/")

    def test_public_header_with_an_inner_one(self):
        self.plant("include/weft/a.h", '#include "base/a.h"\n')
        self.assert_finds(SCRIPT, "include/weft/a.h:3", "include/weft may not include base/")

    def test_private_header_of_another(self):
        self.plant("src/wire/a.c", '#include "base/pool_priv.h"\n')
        self.assert_finds(SCRIPT, "src/wire/a.c:3", "private to base/")

    def test_system_headers_in_pure_folders(self):
        for folder, header in (("wire", "stdio.h"), ("cc", "math.h"), ("engine", "time.h"),
                               ("sim", "stdlib.h"), ("base", "sys/socket.h")):
            with self.subTest(folder=folder, header=header):
                path = self.plant(f"src/{folder}/a.c", f"#include <{header}>\n")
                self.assert_finds(SCRIPT, f"src/{folder}/a.c:3", f"<{header}>")
                path.unlink()

    def test_header_without_its_folder(self):
        self.plant("src/base/a.c", '#include "a.h"\n')
        self.assert_finds(SCRIPT, "src/base/a.c:3", '"base/a.h"')

    def test_header_by_a_way_around(self):
        self.plant("src/base/a.c", '#include "../wire/a.h"\n')
        self.assert_finds(SCRIPT, "src/base/a.c:3", "by its folder")

    def test_macro(self):
        self.plant("src/base/a.c", "#include HEADER\n")
        self.assert_finds(SCRIPT, "src/base/a.c:3", "cannot be checked")

    def test_unknown_folders(self):
        self.plant("src/base/a.c", '#include "extra/a.h"\n')
        self.assert_finds(SCRIPT, "src/base/a.c:3", "no folder extra/")

    def test_file_in_an_unknown_folder(self):
        self.plant("src/extra/a.c", "")
        self.assert_finds(SCRIPT, "src/extra/a.c:1", "not in scripts/layers.txt")

    def test_right_that_nobody_uses(self):
        self.table("a | 0 | pure | - | stdio.h | -", "b | 1 | any | a | - | -")
        self.plant("src/a/a.c", "#include <stdio.h>\n")
        self.plant("src/b/b.c", '#include "a/a.h"\n')
        self.assertEqual(self.check(SCRIPT, "--rights"), (0, []))
        self.plant("src/a/a.c", "#include <stdint.h>\n")
        self.plant("src/b/b.c", "")
        status, lines = self.check(SCRIPT, "--rights")
        self.assertEqual(status, 1)
        self.assertEqual([line.split(":")[1] for line in lines], ["2", "3"])
        self.assertIn("a/ may include stdio.h, and no file of it does", lines[0])
        self.assertIn("b/ may include a, and no file of it does", lines[1])
        self.assert_clean(SCRIPT)

    def test_link_that_nobody_uses(self):
        self.table("a | 0 | any | - | - | m", "b | 1 | any | a | - | pkg:zlib pkg:other?", "c | 0 | any | - | - | -")
        self.plant("src/a/a.c", "")
        self.plant("src/b/b.c", '#include "a/a.h"\n#include <math.h>\n#include <zlib.h>\n')
        self.assertEqual(self.check(SCRIPT, "--rights"), (0, []))
        self.plant("src/b/b.c", '#include "a/a.h"\n')
        self.plant("src/c/c.c", "#include <math.h>\n#include <zlib.h>\n")
        status, lines = self.check(SCRIPT, "--rights")
        self.assertEqual(status, 1)
        self.assertEqual([line.split(":")[1] for line in lines], ["2", "3"])
        self.assertIn("a/ links m, and neither it", lines[0])
        self.assertIn("b/ links pkg:zlib, and neither it", lines[1])
        self.assert_clean(SCRIPT)

    def test_linux_in_a_folder_for_any_system(self):
        for folder, header in (("run", "sys/epoll.h"), ("results", "sys/eventfd.h"),
                               ("cli", "linux/if.h"), ("scenario", "sys/random.h")):
            with self.subTest(folder=folder, header=header):
                path = self.plant(f"src/{folder}/a.c", f"#include <{header}>\n")
                self.assert_finds(SCRIPT, f"src/{folder}/a.c:3", "for any POSIX system",
                                  f"<{header}>")
                path.unlink()

    def test_a_folder_for_linux_from_one_for_any_system(self):
        self.plant("src/cli/a.c", '#include "live/daemon.h"\n')
        self.assert_finds(SCRIPT, "src/cli/a.c:3", "for any POSIX system", '"live/daemon.h"')
        self.plant("src/cli/a.c", '#include "cli/live/live.h"\n')
        self.assert_finds(SCRIPT, "src/cli/a.c:3", '"cli/live/live.h"')

    def test_folders_for_linux(self):
        self.plant("src/live/a.c", "#include <sys/epoll.h>\n")
        self.plant("src/compat/fd/a.c", "#include <linux/if.h>\n")
        self.plant("src/cli/live/a.c", '#include "live/daemon.h"\n#include <sys/random.h>\n')
        self.assert_clean(SCRIPT)

    def test_table_with_an_upward_use(self):
        self.table("a | 1 | pure | - | - | -", "b | 1 | any | a | - | -")
        status, lines = self.check(SCRIPT)
        self.assertEqual(status, 1)
        self.assertIn("layers.txt:3: b uses a, which is not on a lower level", lines[0])

    def test_table_with_a_use_of_nothing(self):
        self.table("b | 1 | any | a | - | -")
        status, lines = self.check(SCRIPT)
        self.assertEqual(status, 1)
        self.assertIn("b uses a, which no row above it names", lines[0])

    def test_table_with_a_broken_row(self):
        self.table("b | one | any | - | - | -")
        status, lines = self.check(SCRIPT)
        self.assertEqual(status, 1)
        self.assertIn("layers.txt:2: a row is", lines[0])


if __name__ == "__main__":
    unittest.main()
