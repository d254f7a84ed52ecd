"""Installs the build into an empty folder and builds a program of somebody else's against it: by find_package, shared and
static, and by pkg-config. usage: install_test.py BUILD_FOLDER"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE.parent / "corpora/iceberg-tables/dremio/v2/orders"
BUILD = pathlib.Path(sys.argv.pop())


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    if result.returncode != 0:
        raise AssertionError(f"{command} gave {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="frazil-install-")
        cls.root = pathlib.Path(cls.folder.name)
        run("cmake", "--install", BUILD, "--prefix", "/opt/frazil", env=os.environ | {"DESTDIR": str(cls.root)})
        cls.prefix = cls.root / "opt/frazil"
        [cls.library] = cls.prefix.glob("lib*/**/libfrazil.so.0")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check_program(self, program, **options):
        self.assertEqual(run(program, TABLE, **options), "600 rows\n")
        missing = subprocess.run([program, self.root / "no_table"], capture_output=True, text=True, **options)
        self.assertEqual(missing.returncode, 3)
        self.assertIn("no_table", missing.stdout)

    def test_find_package(self):
        for kind in "shared", "static":
            with self.subTest(kind):
                build = self.root / kind
                run("cmake", "-S", HERE / "outside", "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DKIND={kind}")
                run("cmake", "--build", build)
                self.check_program(build / "outside")
                needed = run("readelf", "-d", build / "outside")
                self.assertEqual("libfrazil.so.0" in needed, kind == "shared")

    def test_pkg_config(self):
        environment = os.environ | {"PKG_CONFIG_PATH": str(self.library.parent / "pkgconfig")}
        for kind in [], ["--static"]:
            flags = run("pkg-config", "--cflags", "--libs", *kind, "frazil", env=environment).split()
            if kind:
                flags = [f"-l:libfrazil.a" if flag == "-lfrazil" else flag for flag in flags]
            program = self.root / f"outside{len(kind)}"
            run("c++", HERE / "outside/outside.cc", "-o", program, *flags)
            self.check_program(program, env=os.environ | {"LD_LIBRARY_PATH": str(self.library.parent)})

    def test_nothing_but_the_namespace_is_exported(self):
        symbols = run("nm", "-DC", "--defined-only", self.library).splitlines()
        names = [line.split(None, 2)[2] for line in symbols]
        self.assertGreater(len(names), 100)
        others = [name for name in names if not re.match(r"(typeinfo (name )?for |vtable for )?frazil::", name)]
        self.assertEqual(others, [])

    def test_installed_headers_compile_alone(self):
        headers = sorted((self.prefix / "include").rglob("*.h"))
        self.assertIn(self.prefix / "include/frazil/frazil.h", headers)
        source = self.root / "headers.cc"
        source.write_text("".join(f"#include <{h.relative_to(self.prefix / 'include')}>\n" for h in headers))
        run("c++", "-std=c++20", "-fsyntax-only", f"-I{self.prefix / 'include'}", source)


if __name__ == "__main__":
    unittest.main()
