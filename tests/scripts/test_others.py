# SPDX-License-Identifier: Apache-2.0
"""Plants a header that does not compile alone, a file without a licence, a machine without sudo."""
import os
import re
import shutil
import unittest

from tree import LICENCE, ROOT, SCRIPTS, TreeCase


class CheckHeaders(TreeCase):
    def setUp(self):
        super().setUp()
        (self.root / "cmake").mkdir()
        shutil.copy(ROOT / "cmake" / "flags.cmake", self.root / "cmake")

    def test_alone(self):
        self.plant("src/base/a.h", "#include <stdint.h>\nuint32_t wf_f(void);\n")
        self.plant("src/wire/b.h", '#include "base/a.h"\nuint32_t wf_g(void);\n')
        self.assert_clean("check_headers")

    def test_not_alone(self):
        self.plant("src/base/a.h", "uint32_t wf_f(void);\n")
        status, lines = self.check("check_headers")
        self.assertNotEqual(status, 0)
        self.assertIn("src/base/a.h:1: does not compile alone (gcc)", lines)

    def test_warnings_are_errors(self):
        self.plant("src/base/a.h", "static inline char wf_f(int i) { return i; }\n")
        self.assertNotEqual(self.check("check_headers")[0], 0)


class CheckSpdx(TreeCase):
    def test_sources(self):
        self.plant("src/base/a.c", "")
        self.plant("src/base/b.c", f"/* {LICENCE} */\n/*\n * b.c - two lines.\n */\n", head="")
        self.plant("tests/cli/a.bats", f"#!/usr/bin/env bats\n# {LICENCE}\n# Tests.\n", head="")
        self.assert_clean("check_spdx.py")

    def test_no_licence(self):
        self.plant("src/base/a.c", "int x;\n", head="")
        self.assert_finds("check_spdx.py", "src/base/a.c:1", LICENCE)

    def test_no_purpose(self):
        self.plant("src/base/a.c", "#include <stdint.h>\n", head=f"/* {LICENCE} */\n\n")
        self.assert_finds("check_spdx.py", "src/base/a.c:2", "what the file is for")


class Setup(TreeCase):
    """Runs setup with a PATH that has only what the test puts there."""

    def machine(self, installed, **programs):
        """Makes a machine with these programs, each a line of shell."""
        tools = self.root / "bin"
        tools.mkdir()
        for name in ("bash", "env", "mktemp", "rm", "cat", "dirname"):
            (tools / name).symlink_to(shutil.which(name))
        programs.setdefault("dpkg_query", f"case '{installed}' in *\" $4 \"*) "
                                          "printf installed ;; *) exit 1 ;; esac")
        programs.setdefault("apt_get", f'echo "$@" >>{self.root}/apt.log')
        for name, line in programs.items():
            path = tools / name.replace("_", "-")
            path.write_text(f"#!{shutil.which('bash')}\n{line}\n")
            path.chmod(0o755)
        return {**os.environ, "PATH": str(tools)}

    # What the script lists, and what it adds where node and npm are not there.
    LISTED = re.search(r"packages=\((.*?)\)", (SCRIPTS / "setup").read_text(), re.S).group(1)
    LISTED_ALL = f" {' '.join(LISTED.split())} "
    NEEDED = f" {' '.join(LISTED.split())} nodejs npm "

    def test_quiet_when_all_is_there(self):
        env = self.machine(self.NEEDED, id="echo 1000")
        self.assertEqual(self.check("setup", env=env), (0, []))
        self.assertFalse((self.root / "apt.log").exists())

    def test_installs_only_what_is_missing(self):
        env = self.machine(self.NEEDED.replace(" cmake ", " "), id="echo 0")
        status, lines = self.check("setup", env=env)
        self.assertEqual((status, lines), (0, ["scripts/setup: installing cmake"]))
        log = (self.root / "apt.log").read_text().splitlines()
        self.assertEqual(log[0], "update")
        self.assertTrue(log[1].endswith(" cmake") and log[1].startswith("install -y "), log)

    def test_test_packages_only_when_asked(self):
        env = self.machine(self.NEEDED, id="echo 0")
        self.assertEqual(self.check("setup", "--test", env=env)[0], 0)
        self.assertIn(" bats ", (self.root / "apt.log").read_text())

    def test_uses_sudo(self):
        env = self.machine("", id="echo 1000", sudo='exec "$@"')
        self.assertEqual(self.check("setup", env=env)[0], 0)
        self.assertIn("update", (self.root / "apt.log").read_text())

    def test_neither_root_nor_sudo(self):
        env = self.machine("", id="echo 1000")
        status, lines = self.check("setup", env=env)
        self.assertEqual(status, 1)
        self.assertIn("there is neither", lines[-1])

    def test_apt_fails(self):
        env = self.machine("", id="echo 0", apt_get="echo no network; exit 100")
        status, lines = self.check("setup", env=env)
        self.assertEqual(status, 1)
        self.assertIn("no network", lines)

    def test_the_page_may_be_missing(self):
        # Of all packages only those of the page cannot be had.
        env = self.machine(self.LISTED_ALL, id="echo 0", apt_get='[ "$1" = update ]')
        status, lines = self.check("setup", env=env)
        self.assertEqual(status, 0, lines)
        self.assertIn("without nodejs npm weft is built without the page of weft report", lines[-1])

    def test_the_page_may_not_be_missing_for_the_tests(self):
        env = self.machine(self.NEEDED.replace(" npm ", " "), id="echo 0", apt_get='[ "$1" = update ]')
        self.assertEqual(self.check("setup", "--test", env=env)[0], 1)

    def test_nobody_can_install_the_page(self):
        env = self.machine(self.LISTED_ALL, id="echo 1000")
        status, lines = self.check("setup", env=env)
        self.assertEqual(status, 0, lines)
        self.assertIn("without the page", lines[-1])

    def elsewhere(self, *programs, known):
        """A machine that is no Debian, on which pkg-config knows some libraries."""
        env = self.machine("", pkg_config=f"case ' {known} ' in *\" $2 \"*) ;; *) exit 1 ;; esac",
                           **{name: "exit 0" for name in programs})
        for name in ("dpkg-query", "apt-get"):
            (self.root / "bin" / name).unlink()
        return env

    def test_another_system_that_lacks_something(self):
        env = self.elsewhere("gcc", "ninja", "python3", known="sqlite3 zlib libibverbs libmicrohttpd")
        status, lines = self.check("setup", env=env)
        self.assertEqual(status, 1, lines)
        self.assertIn("not a Debian system", lines[0])
        self.assertEqual(lines[-2:], ["  the program cmake",
                                      "  the library libfyaml, with its headers"])

    def test_another_system_that_has_all(self):
        env = self.elsewhere("gcc", "ninja", "python3", "cmake",
                             known="libfyaml sqlite3 zlib libibverbs libmicrohttpd")
        self.assertEqual(self.check("setup", env=env), (0, []))

    def test_wrong_option(self):
        self.assertEqual(self.check("setup", "--all")[0], 2)


class Need(TreeCase):
    def test_missing_script(self):
        status, lines = self.check("need", "scripts/run-main")
        self.assertEqual(status, 1)
        self.assertIn("scripts/run-main is not there yet", lines[0])


if __name__ == "__main__":
    unittest.main()
