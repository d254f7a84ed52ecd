#!/usr/bin/env python3
"""Holds the #includes under src/frazil to the layers that cmake/layers.cmake declares.

Fails (exit 1, one line a finding: file:line: what) on
  - an include of a layer that the file's layer does not list in DEPENDS (tests and benchmarks: nor in TEST_DEPENDS),
  - DEPENDS on a layer that is not declared before (the list goes from the bottom up), and cycles of layers or headers,
  - a folder with sources that is no layer,
  - a header without #pragma once,
  - a header that other layers reach and that includes more than the standard library and the C headers of the platform,
    or includes <regex> or a stream header: such a header costs everybody above. Headers private to their layer may name
    the library that they wrap, and headers that only tests reach anything,
  - an include of ours by anything but its full path, "frazil/<layer>/<file>",
  - a .cc that does not include its own header first, which shows that the header stands alone.

Usage: check_layers.py [--root DIR]
"""

import argparse
import pathlib
import re
import sys
from dataclasses import dataclass, field

# The C++20 standard library without what is costly to include: <regex>, <iostream> and its relatives.
STANDARD_HEADERS = frozenset(
    """
    algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits
    clocale cmath compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint cstdio
    cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem forward_list functional future
    initializer_list iosfwd iterator latch limits list map memory memory_resource mutex new numbers numeric optional
    queue random ranges ratio scoped_allocator semaphore set shared_mutex source_location span stack stdexcept
    stop_token string string_view system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set
    utility valarray variant vector version
    """.split()
)
COSTLY_STANDARD_HEADERS = frozenset("regex iostream istream ostream fstream sstream iomanip streambuf locale".split())
# C headers of the platform: small, and sometimes what an interface is about.
PLATFORM_HEADERS = ("sys/", "sanitizer/", "pthread.h", "unistd.h", "fcntl.h", "immintrin.h", "arm_neon.h")
# testing/ is test support as a library: its headers may name the test frameworks.
TEST_FRAMEWORKS = ("gtest/", "gmock/", "rapidcheck")
TEST_SUPPORT_LAYER = "testing"

SOURCE_SUFFIXES = (".h", ".cc", ".inc")
# Where else our headers are included.
USER_FOLDERS = ("apps", "bench", "examples", "fuzz", "python", "tests")
DECLARATION = re.compile(r"\bfrazil_layer\s*\(([^)]*)\)")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
PRAGMA_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", re.MULTILINE)
BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
KEYWORDS = ("THREADS", "DEPENDS", "LIBRARIES", "TEST_DEPENDS")


@dataclass
class Layer:
    name: str
    line: int
    depends: list[str] = field(default_factory=list)
    test_depends: list[str] = field(default_factory=list)


@dataclass
class Include:
    line: int
    path: str
    quoted: bool


def read_layers(cmake_text: str) -> list[Layer]:
    """The declarations in their order."""
    text = re.sub(r"#[^\n]*", "", cmake_text)
    layers = []
    for match in DECLARATION.finditer(text):
        words = match.group(1).split()
        if not words:
            continue
        layer = Layer(words[0], text.count("\n", 0, match.start()) + 1)
        lists = {"DEPENDS": layer.depends, "TEST_DEPENDS": layer.test_depends}
        target = None
        for word in words[1:]:
            if word in KEYWORDS:
                target = lists.get(word)
            elif target is not None:
                target.append(word)
        layers.append(layer)
    return layers


def read_includes(text: str) -> list[Include]:
    text = BLOCK_COMMENT.sub(lambda match: "\n" * match.group().count("\n"), text)
    return [
        Include(text.count("\n", 0, match.start()) + 1, match.group(2), match.group(1) == '"')
        for match in INCLUDE.finditer(text)
    ]


def find_cycle(edges: dict[str, list[str]]) -> list[str] | None:
    """One cycle, as [a, b, a]; None if there is none."""
    done: set[str] = set()
    for start in edges:
        path: list[str] = []
        on_path: set[str] = set()
        # (node, its edges not yet walked): a stack of our own, as chains of includes may be long.
        stack = [(start, iter(edges.get(start, ())))] if start not in done else []
        if stack:
            path.append(start)
            on_path.add(start)
        while stack:
            node, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                stack.pop()
                path.pop()
                on_path.remove(node)
                done.add(node)
            elif following in on_path:
                return path[path.index(following) :] + [following]
            elif following not in done:
                stack.append((following, iter(edges.get(following, ()))))
                path.append(following)
                on_path.add(following)
    return None


def check_declarations(layers: list[Layer], file: str) -> list[str]:
    findings = []
    declared = {layer.name for layer in layers}
    before: set[str] = set()
    for layer in layers:
        where = f"{file}:{layer.line}"
        if layer.name in before:
            findings.append(f"{where}: layer '{layer.name}' is declared twice")
        for other in layer.depends:
            if other not in declared:
                findings.append(f"{where}: layer '{layer.name}' depends on '{other}', which is not declared")
            elif other not in before:
                findings.append(
                    f"{where}: layer '{layer.name}' depends upwards on '{other}', which is declared after it"
                )
        for other in layer.test_depends:
            if other not in declared:
                findings.append(f"{where}: tests of '{layer.name}' depend on '{other}', which is not declared")
        before.add(layer.name)
    cycle = find_cycle({layer.name: layer.depends for layer in layers})
    if cycle:
        findings.append(f"{file}: the layers form a cycle: {' -> '.join(cycle)}")
    return findings


class IncludeGraph:
    """Who includes whom, for all sources of the tree: names are paths as includes write them, "frazil/base/error.h";
    files outside of src/ have their path from the root."""

    def __init__(self, root: pathlib.Path, files: list[pathlib.Path]) -> None:
        self.includes: dict[str, list[Include]] = {}
        self.text: dict[str, str] = {}
        self.includers: dict[str, set[str]] = {}
        for file in files:
            name = file.relative_to(root).as_posix().removeprefix("src/")
            text = file.read_text(encoding="utf-8", errors="replace")
            self.text[name] = text
            self.includes[name] = read_includes(text)
            for include in self.includes[name]:
                self.includers.setdefault(include.path, set()).add(name)

    def reached_from(self, header: str) -> set[str]:
        """All files whose compilation reads the header."""
        reached: set[str] = set()
        waiting = [header]
        while waiting:
            for includer in self.includers.get(waiting.pop(), ()):
                if includer not in reached:
                    reached.add(includer)
                    waiting.append(includer)
        return reached

    def only_tests_use(self, name: str) -> bool:
        if is_test(name):
            return True
        sources = [file for file in self.reached_from(name) if not file.endswith(".h")]
        return bool(sources) and all(is_test(file) for file in sources)


def layer_of(name: str) -> str | None:
    """ "base" of "frazil/base/error.h"; None outside of the layers."""
    parts = pathlib.PurePosixPath(name).parts
    return parts[1] if len(parts) > 2 and parts[0] == "frazil" else None


def is_test(name: str) -> bool:
    path = pathlib.PurePosixPath(name)
    return path.stem.endswith(("_test", "_bench")) or path.parts[0] in ("tests", "fuzz", "bench")


def check_header(name: str, graph: IncludeGraph) -> list[str]:
    findings = []
    where = f"src/{name}"
    layer = layer_of(name)
    if not PRAGMA_ONCE.search(BLOCK_COMMENT.sub("", graph.text[name])):
        findings.append(f"{where}:1: #pragma once is missing")

    if graph.only_tests_use(name):
        return findings
    # What nobody includes yet is taken as meant for all.
    reached = graph.reached_from(name)
    outsiders = sorted(file for file in reached if layer_of(file) != layer)
    is_private = bool(reached) and not outsiders
    for include in graph.includes[name]:
        path = include.path
        if include.quoted or path.startswith("frazil/") or path in STANDARD_HEADERS:
            continue
        if path in COSTLY_STANDARD_HEADERS:
            findings.append(f"{where}:{include.line}: <{path}> is costly to include; keep it in the .cc")
            continue
        if is_private or path.startswith(PLATFORM_HEADERS):
            continue
        if layer == TEST_SUPPORT_LAYER and path.startswith(TEST_FRAMEWORKS):
            continue
        reach = f" ({outsiders[0]} reaches it)" if outsiders else ""
        findings.append(
            f"{where}:{include.line}: <{path}> of another library in a header for all{reach}; keep it in the .cc"
        )
    return findings


def check_file(name: str, graph: IncludeGraph, layers: dict[str, Layer]) -> list[str]:
    findings = check_header(name, graph) if name.endswith(".h") else []
    where = f"src/{name}"
    layer = layers.get(layer_of(name) or "")  # none: src/frazil/frazil.h stands above all
    includes = graph.includes[name]

    allowed = None
    for_tests = graph.only_tests_use(name)
    if layer is not None:
        allowed = {layer.name, *layer.depends, *(layer.test_depends if for_tests else ())}
    for include in includes:
        at = f"{where}:{include.line}"
        if not include.path.startswith("frazil/"):
            if include.quoted:
                findings.append(f'{at}: "{include.path}" is not a full path: write "frazil/<layer>/<file>"')
            continue
        parts = pathlib.PurePosixPath(include.path).parts
        if ".." in parts:
            findings.append(f'{at}: "{include.path}" is not a full path: write "frazil/<layer>/<file>"')
        elif not include.quoted:
            findings.append(f"{at}: <{include.path}> is ours: write it in quotes")
        elif layer is None:
            continue
        elif len(parts) == 2:
            findings.append(f"{at}: layer '{layer.name}' includes \"{include.path}\", which stands above all layers")
        elif parts[1] not in layers:
            findings.append(f"{at}: layer '{layer.name}' includes '{parts[1]}', which is not a layer")
        elif parts[1] not in allowed:
            whose = f"tests of '{layer.name}'" if for_tests else f"layer '{layer.name}'"
            key = "TEST_DEPENDS" if for_tests else "DEPENDS"
            findings.append(
                f"{at}: {whose} may not include '{parts[1]}' ({include.path}): it is not in {key} of cmake/layers.cmake"
            )

    own = own_header(name, graph)
    if own is not None and includes and includes[0].path != own:
        findings.append(f"{where}:{includes[0].line}: include the own header {own} first")
    return findings


def own_header(name: str, graph: IncludeGraph) -> str | None:
    """row_group.h of row_group.cc and row_group_test.cc."""
    if not name.endswith(".cc"):
        return None
    for stem in (name.removesuffix(".cc"), name.removesuffix("_test.cc")):
        if stem + ".h" in graph.includes:
            return stem + ".h"
    return None


def check(root: pathlib.Path) -> list[str]:
    declarations = root / "cmake" / "layers.cmake"
    source_root = root / "src" / "frazil"
    layer_list = read_layers(declarations.read_text(encoding="utf-8"))
    if not layer_list:
        return ["cmake/layers.cmake: no layer is declared"]
    findings = check_declarations(layer_list, "cmake/layers.cmake")
    layers = {layer.name: layer for layer in layer_list}

    files = [
        file
        for folder in (source_root, *(root / name for name in USER_FOLDERS))
        for file in folder.rglob("*")
        if file.suffix in SOURCE_SUFFIXES and file.is_file()
    ]
    graph = IncludeGraph(root, sorted(files))
    ours = [name for name in graph.includes if name.startswith("frazil/")]
    if not ours:
        findings.append("src/frazil: no sources found")
    for name in ours:
        if (layer_of(name) or next(iter(layers))) in layers:
            findings += check_file(name, graph, layers)
    for stranger in sorted({layer_of(name) for name in ours} - {None} - layers.keys()):
        findings.append(f"src/frazil/{stranger}: the folder is not declared as a layer in cmake/layers.cmake")
    headers = {name: [include.path for include in graph.includes[name]] for name in ours if name.endswith(".h")}
    cycle = find_cycle(headers)
    if cycle:
        findings.append(f"src/{cycle[0]}:1: headers include each other: {' -> '.join(cycle)}")
    return findings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root.resolve()
    findings = check(root)
    for finding in findings:
        print(finding)
    if findings:
        print(f"check_layers: {len(findings)} finding{'s' if len(findings) != 1 else ''}")
        return 1
    print("check_layers: the includes keep to the layers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
