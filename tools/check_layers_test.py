#!/usr/bin/env python3
"""Tests of check_layers.py: each rule goes red on a made-up tree that breaks it, and green on one that does not."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check_layers  # noqa: E402

LAYERS = """
# base is first; a comment with frazil_layer(nothing) in it
frazil_layer(base LIBRARIES fmt::fmt)
frazil_layer(memory THREADS DEPENDS base LIBRARIES Threads::Threads)
frazil_layer(json DEPENDS base)
frazil_layer(spec DEPENDS base json
             TEST_DEPENDS memory testing)
frazil_layer(testing DEPENDS base memory)
"""

HEADER = "#pragma once\n"

# A tree that keeps to all rules; each test changes one file.
GOOD = {
    "cmake/layers.cmake": LAYERS,
    "src/frazil/base/error.h": HEADER + '#include <string>\n#include "frazil/base/message.h"\n',
    "src/frazil/base/message.h": HEADER + "#include <cstdint>\n",
    "src/frazil/base/message.cc": '#include "frazil/base/message.h"\n\n#include <fmt/format.h>\n#include <regex>\n',
    "src/frazil/base/message_test.cc": '#include "frazil/base/message.h"\n#include <gtest/gtest.h>\n',
    "src/frazil/memory/pool.h": HEADER + '#include <sys/types.h>\n#include "frazil/base/error.h"\n',
    "src/frazil/json/value.h": HEADER + '#include "frazil/base/error.h"\n',
    "src/frazil/json/value.cc": '#include "frazil/json/value.h"\n#include "frazil/json/scanner.h"\n',
    "src/frazil/json/scanner.h": HEADER + "#include <rapidjson/reader.h>\n",
    "src/frazil/spec/schema.h": HEADER + '#include "frazil/json/value.h"\n',
    "src/frazil/spec/schema.cc": '#include "frazil/spec/schema.h"\n#include "frazil/base/error.h"\n',
    "src/frazil/spec/samples.h": HEADER
    + '#include <gtest/gtest.h>\n#include <sstream>\n#include "frazil/memory/pool.h"\n',
    "src/frazil/spec/schema_test.cc": '#include "frazil/spec/schema.h"\n#include "frazil/spec/samples.h"\n'
    '#include "frazil/testing/files.h"\n',
    "src/frazil/testing/files.h": HEADER + '#include <gtest/gtest.h>\n#include "frazil/memory/pool.h"\n',
    "src/frazil/frazil.h": HEADER + '#include "frazil/spec/schema.h"\n',
    "apps/cli/main.cc": '#include "frazil/frazil.h"\n#include <iostream>\n',
}


def check(changes: dict[str, str | None]) -> list[str]:
    """The findings for GOOD with some files replaced, added, or (None) taken away."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**GOOD, **changes}.items():
            if text is not None:
                file = root / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
        return check_layers.check(root)


class CheckLayersTest(unittest.TestCase):
    def assert_red(self, changes: dict[str, str | None], *expected: str) -> None:
        self.assertEqual(check(changes), list(expected))

    def assert_green(self, changes: dict[str, str | None]) -> None:
        self.assertEqual(check(changes), [])

    def test_a_tree_that_keeps_the_rules_is_green(self):
        self.assert_green({})

    # ---- Edges ----

    def test_an_include_upwards_is_red(self):
        self.assert_red(
            {"src/frazil/base/message.cc": '#include "frazil/base/message.h"\n#include "frazil/memory/pool.h"\n'},
            "src/frazil/base/message.cc:2: layer 'base' may not include 'memory' (frazil/memory/pool.h): "
            "it is not in DEPENDS of cmake/layers.cmake",
        )

    def test_an_undeclared_include_downwards_is_red_though_it_would_link(self):
        self.assert_red(
            {"src/frazil/json/value.cc": '#include "frazil/json/value.h"\n#  include  "frazil/memory/pool.h"\n',
             "src/frazil/json/scanner.h": None},
            "src/frazil/json/value.cc:2: layer 'json' may not include 'memory' (frazil/memory/pool.h): "
            "it is not in DEPENDS of cmake/layers.cmake",
        )

    def test_an_edge_that_only_tests_have_is_red_outside_of_tests(self):
        self.assert_red(
            {"src/frazil/spec/schema.cc": '#include "frazil/spec/schema.h"\n#include "frazil/memory/pool.h"\n'},
            "src/frazil/spec/schema.cc:2: layer 'spec' may not include 'memory' (frazil/memory/pool.h): "
            "it is not in DEPENDS of cmake/layers.cmake",
        )

    def test_a_header_of_tests_is_red_once_the_layer_itself_includes_it(self):
        findings = check(
            {"src/frazil/spec/schema.cc": '#include "frazil/spec/schema.h"\n#include "frazil/spec/samples.h"\n'}
        )
        self.assertEqual(len(findings), 2, findings)
        self.assertIn("src/frazil/spec/samples.h:3: <sstream> is costly to include", findings[0])
        self.assertIn("src/frazil/spec/samples.h:4: layer 'spec' may not include 'memory'", findings[1])

    def test_tests_may_not_include_what_their_layer_does_not_list(self):
        self.assert_red(
            {"src/frazil/base/message_test.cc": '#include "frazil/base/message.h"\n#include "frazil/json/value.h"\n'},
            "src/frazil/base/message_test.cc:2: tests of 'base' may not include 'json' (frazil/json/value.h): "
            "it is not in TEST_DEPENDS of cmake/layers.cmake",
        )

    def test_benchmarks_have_the_edges_of_tests(self):
        self.assert_green({"src/frazil/spec/schema_bench.cc": '#include "frazil/memory/pool.h"\n'})

    def test_a_layer_may_not_include_the_header_above_all(self):
        self.assert_red(
            {"src/frazil/spec/schema.cc": '#include "frazil/spec/schema.h"\n#include "frazil/frazil.h"\n'},
            "src/frazil/spec/schema.cc:2: layer 'spec' includes \"frazil/frazil.h\", which stands above all layers",
        )

    def test_an_include_of_what_is_no_layer_is_red(self):
        self.assert_red(
            {"src/frazil/spec/schema.cc": '#include "frazil/spec/schema.h"\n#include "frazil/utils/x.h"\n'},
            "src/frazil/spec/schema.cc:2: layer 'spec' includes 'utils', which is not a layer",
        )

    def test_a_folder_that_is_no_layer_is_red(self):
        self.assert_red(
            {"src/frazil/utils/x.h": HEADER},
            "src/frazil/utils: the folder is not declared as a layer in cmake/layers.cmake",
        )

    def test_ours_are_included_by_their_full_path_in_quotes(self):
        self.assert_red(
            {"src/frazil/json/value.h": HEADER + '#include "scanner.h"\n#include "../base/error.h"\n'
             '#include "frazil/json/../base/error.h"\n#include <frazil/base/error.h>\n'},
            'src/frazil/json/value.h:2: "scanner.h" is not a full path: write "frazil/<layer>/<file>"',
            'src/frazil/json/value.h:3: "../base/error.h" is not a full path: write "frazil/<layer>/<file>"',
            'src/frazil/json/value.h:4: "frazil/json/../base/error.h" is not a full path: '
            'write "frazil/<layer>/<file>"',
            "src/frazil/json/value.h:5: <frazil/base/error.h> is ours: write it in quotes",
        )

    def test_comments_are_not_includes(self):
        self.assert_green(
            {"src/frazil/base/message.cc": '#include "frazil/base/message.h"\n// #include "frazil/memory/pool.h"\n'
             '/*\n#include "frazil/memory/pool.h"\n*/\n'}
        )

    def test_lines_are_counted_through_comments(self):
        findings = check(
            {"src/frazil/base/message.cc": '/* a\n b */\n#include "frazil/base/message.h"\n'
             '#include "frazil/json/value.h"\n'}
        )
        self.assertTrue(findings[0].startswith("src/frazil/base/message.cc:4:"), findings)

    # ---- Declarations ----

    def test_a_dependency_on_a_later_layer_is_red(self):
        text = LAYERS.replace("frazil_layer(json DEPENDS base)", "frazil_layer(json DEPENDS base spec2)")
        self.assert_red(
            {"cmake/layers.cmake": text + "frazil_layer(spec2 DEPENDS base)\n"},
            "cmake/layers.cmake:5: layer 'json' depends upwards on 'spec2', which is declared after it",
        )

    def test_a_cycle_of_layers_is_red(self):
        self.assert_red(
            {"cmake/layers.cmake": LAYERS.replace("frazil_layer(base ", "frazil_layer(base DEPENDS memory ")},
            "cmake/layers.cmake:3: layer 'base' depends upwards on 'memory', which is declared after it",
            "cmake/layers.cmake: the layers form a cycle: base -> memory -> base",
        )

    def test_a_dependency_on_nothing_is_red(self):
        text = LAYERS.replace("DEPENDS base memory)", "DEPENDS base memory utils TEST_DEPENDS more)")
        self.assert_red(
            {"cmake/layers.cmake": text},
            "cmake/layers.cmake:8: layer 'testing' depends on 'utils', which is not declared",
            "cmake/layers.cmake:8: tests of 'testing' depend on 'more', which is not declared",
        )

    def test_a_second_declaration_is_red(self):
        self.assert_red(
            {"cmake/layers.cmake": LAYERS + "frazil_layer(json DEPENDS base)\n"},
            "cmake/layers.cmake:9: layer 'json' is declared twice",
        )

    def test_an_empty_tree_is_red(self):
        self.assert_red({"cmake/layers.cmake": "# nothing\n"}, "cmake/layers.cmake: no layer is declared")
        nothing = {name: None for name in GOOD if name.startswith("src/")}
        self.assert_red(nothing, "src/frazil: no sources found")

    # ---- Headers ----

    def test_a_header_without_pragma_once_is_red(self):
        for text in ("#include <string>\n", "// #pragma once\n#include <string>\n", "/*\n#pragma once\n*/\n"):
            with self.subTest(text=text):
                self.assert_red(
                    {"src/frazil/base/message.h": text}, "src/frazil/base/message.h:1: #pragma once is missing"
                )

    def test_a_library_in_a_header_that_others_reach_is_red(self):
        for library in ("fmt/format.h", "rapidjson/document.h", "zstd.h", "zlib.h", "sqlite3.h", "curl/curl.h",
                        "gtest/gtest.h"):
            with self.subTest(library=library):
                self.assert_red(
                    {"src/frazil/base/message.h": HEADER + f"#include <{library}>\n"},
                    f"src/frazil/base/message.h:2: <{library}> of another library in a header for all "
                    "(apps/cli/main.cc reaches it); keep it in the .cc",
                )

    def test_a_private_header_is_red_once_another_header_carries_it_out(self):
        self.assert_red(
            {"src/frazil/json/value.h": HEADER + '#include "frazil/json/scanner.h"\n'},
            "src/frazil/json/scanner.h:2: <rapidjson/reader.h> of another library in a header for all "
            "(apps/cli/main.cc reaches it); keep it in the .cc",
        )

    def test_a_library_in_a_header_that_nobody_includes_yet_is_red(self):
        self.assert_red(
            {"src/frazil/json/new.h": HEADER + "#include <rapidjson/reader.h>\n"},
            "src/frazil/json/new.h:2: <rapidjson/reader.h> of another library in a header for all; keep it in the .cc",
        )

    def test_costly_standard_headers_are_red_in_every_header_but_those_of_tests(self):
        for name in ("src/frazil/base/message.h", "src/frazil/json/scanner.h"):
            for costly in ("regex", "iostream", "sstream", "fstream", "iomanip"):
                with self.subTest(name=name, costly=costly):
                    self.assert_red(
                        {name: HEADER + f"#include <{costly}>\n"},
                        f"{name}:2: <{costly}> is costly to include; keep it in the .cc",
                    )

    def test_headers_that_include_each_other_are_red(self):
        self.assert_red(
            {"src/frazil/base/message.h": HEADER + '#include "frazil/base/error.h"\n'},
            "src/frazil/base/error.h:1: headers include each other: "
            "frazil/base/error.h -> frazil/base/message.h -> frazil/base/error.h",
        )

    def test_the_own_header_comes_first(self):
        for name in ("src/frazil/base/message.cc", "src/frazil/base/message_test.cc"):
            with self.subTest(name=name):
                self.assert_red(
                    {name: '#include <string>\n#include "frazil/base/message.h"\n'},
                    f"{name}:1: include the own header frazil/base/message.h first",
                )

    # ---- The program ----

    def test_the_exit_code_and_the_lines_tell(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in GOOD.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            self.assertEqual(self.run_main(root), (0, "check_layers: the includes keep to the layers\n"))
            (root / "src/frazil/base/message.h").write_text("")
            self.assertEqual(
                self.run_main(root),
                (1, "src/frazil/base/message.h:1: #pragma once is missing\ncheck_layers: 1 finding\n"),
            )

    @staticmethod
    def run_main(root: pathlib.Path) -> tuple[int, str]:
        output = io.StringIO()
        arguments = ["check_layers.py", "--root", str(root)]
        with mock.patch.object(sys, "argv", arguments), contextlib.redirect_stdout(output):
            code = check_layers.main()
        return code, output.getvalue()


if __name__ == "__main__":
    unittest.main()
