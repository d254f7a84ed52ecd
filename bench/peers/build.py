"""Which engines can run here, and with which command? Makes the Python environments and the compiled runners once.

usage: build.py [--peers python|all|name,..] [--cache FOLDER]
       build.py --environment NAME          makes one environment of peers.toml and prints its interpreter

`python` is every engine of the Python environments and those in C and C++; `all` adds Go and Rust. What is there already,
made from the same sources and pins, is kept. Prints one JSON object, also returned by peers():

  {"python": interpreter of the environment `main`, also for data makers, or null
   "engines": [{"engine": NAME, "jobs": [JOB], "command": [..], "versions": {PACKAGE: VERSION}}
               | {"engine": NAME, "jobs": [JOB], "absent": reason}]}

A command takes the words of a measurement: `read --engine NAME --metadata FILE --threads N ...`. Progress goes to
stderr. One missing peer never fails the rest.
"""

import argparse
import fcntl
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PINS = os.path.join(os.path.dirname(HERE), "peers.toml")
CACHE = os.path.join(ROOT, "build", "bench", "peers")


class Absent(Exception):
    """A peer cannot be had; the message says why."""


def say(text):
    print(f"peers: {text}", file=sys.stderr, flush=True)


def run(command, **options):
    """The output of a command; Absent with the last lines of its complaint when it fails."""
    if shutil.which(command[0]) is None:
        raise Absent(f"{command[0]} is not installed")
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        lines = [line for line in (done.stderr or done.stdout).strip().splitlines() if line.strip()]
        raise Absent(f"{os.path.basename(command[0])} {command[1]} failed: {' | '.join(lines[-3:])[:500]}")
    return done.stdout


def pins():
    with open(PINS, "rb") as file:
        return tomllib.load(file)


def requirements(packages):
    return [f"{name}=={version}" for name, version in packages.items()]


def package_name(text):
    """The name that package indexes know: `duckdb_extension_avro` and `pyiceberg[pyarrow]` too."""
    return re.sub(r"[-_.]+", "-", text.split("[")[0]).lower()


# -- Python environments


def environment(name, packages, cache):
    """(interpreter, {package: installed version}) of the environment with these packages, as far as they can be had."""
    folder = os.path.join(cache, "environments", name)
    python = os.path.join(folder, "bin", "python")
    stamp = os.path.join(folder, "requirements.txt")
    wanted = "\n".join([sys.version, *requirements(packages)])
    if not os.path.exists(stamp) or open(stamp).read() != wanted:
        say(f"installs {', '.join(requirements(packages))}")
        shutil.rmtree(folder, ignore_errors=True)
        try:
            venv.create(folder, with_pip=True)
        except (subprocess.CalledProcessError, OSError) as error:
            raise Absent(f"no virtual environment: {error}") from error
        if install(python, requirements(packages)):
            with open(stamp, "w") as file:
                file.write(wanted)
    listed = json.loads(run([python, "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"]))
    return python, {package_name(package["name"]): package["version"] for package in listed}


def interpreter(name, cache=CACHE):
    """The interpreter of an environment of peers.toml, for other work than running peers. Raises Absent."""
    return environment(name, pins()["environments"][name], cache)[0]


def install(python, wanted):
    """Installs all, or else each that can be had; tells if all could."""
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    try:
        run([*pip, *wanted])
        return True
    except Absent as failure:
        say(f"{failure}; tries one after the other")
    for requirement in wanted:
        try:
            run([*pip, requirement])
        except Absent as failure:
            say(f"{requirement}: {failure}")
    return False


# -- compiled programs


def built(folder, output, key, cache, build):
    """The program's path; runs build(path) unless its sources and `key` are those of the program that is there."""
    program = os.path.join(cache, "bin", output)
    digest = hashlib.sha256("\0".join(key).encode())
    for path in sorted(glob.glob(os.path.join(HERE, folder, "**", "*"), recursive=True)):
        if os.path.isfile(path):
            digest.update(os.path.relpath(path, HERE).encode())
            digest.update(open(path, "rb").read())
    stamp = f"{program}.sources"
    if not (os.path.exists(program) and os.path.exists(stamp) and open(stamp).read() == digest.hexdigest()):
        os.makedirs(os.path.dirname(program), exist_ok=True)
        say(f"builds {output}")
        build(program)
        with open(stamp, "w") as file:
            file.write(digest.hexdigest())
    return program


def cpp_program(description, cache, environments):
    """Compiles against the Arrow C++ that the pyarrow wheel carries."""
    python, installed = environments("main")
    if "pyarrow" not in installed:
        raise Absent("pyarrow is not installed")
    wheel = run([python, "-c", "import pyarrow; print(pyarrow.__path__[0])"]).strip()
    compiler = os.environ.get("CXX", "g++")
    linked = description.get("libraries", ["parquet", "arrow"])
    libraries = [os.path.basename(sorted(glob.glob(f"{wheel}/lib{name}.so.*"))[-1]) for name in linked]
    source = os.path.join(HERE, "cpp", f"{description['output']}.cc")

    def build(program):
        run([compiler, "-std=c++20", "-O2", source, f"-I{wheel}/include", f"-L{wheel}", *(f"-l:{name}" for name in libraries),
             "-pthread", f"-Wl,-rpath,{wheel}", "-o", program])

    return built("cpp", description["output"], [wheel, run([compiler, "--version"])], cache, build)


NANOARROW_SOURCES = {
    "subprojects/arrow-nanoarrow/src/nanoarrow/common": ("array", "array_stream", "schema", "utils"),
    "subprojects/arrow-nanoarrow/src/nanoarrow/ipc": ("codecs", "decoder", "encoder", "reader", "writer"),
    "subprojects/flatcc-*/src/runtime": ("builder", "emitter", "refmap", "verifier"),
}


def nanoarrow_program(description, cache, environments):
    """Compiles nanoarrow, a C library, out of the sources that its Python package is published with."""
    python, _ = environments("main")
    version = description["packages"]["nanoarrow"]
    compiler = os.environ.get("CXX", "g++")
    source = os.path.join(HERE, "cpp", f"{description['output']}.cc")

    def build(program):
        with tempfile.TemporaryDirectory() as folder:
            run([python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", "nanoarrow",
                 "--dest", folder, f"nanoarrow=={version}"])
            with tarfile.open(os.path.join(folder, f"nanoarrow-{version}.tar.gz")) as archive:
                archive.extractall(folder, filter="data")
            root = os.path.join(folder, f"nanoarrow-{version}")
            headers = os.path.join(root, "subprojects", "arrow-nanoarrow", "src")
            configure_nanoarrow(os.path.join(headers, "nanoarrow", "nanoarrow_config.h"), version)
            sources = [
                path
                for pattern, names in NANOARROW_SOURCES.items()
                for name in names
                for path in glob.glob(os.path.join(root, pattern, f"{name}.c"))
            ]
            includes = [f"-I{path}" for path in (headers, *glob.glob(os.path.join(root, "subprojects", "flatcc-*", "include")))]
            codecs = ["-DNANOARROW_IPC_WITH_ZSTD", "-DNANOARROW_IPC_WITH_LZ4"]
            run(["gcc", "-O2", "-DNDEBUG", "-w", *codecs, *includes, "-c", *sources], cwd=folder)
            run([compiler, "-std=c++20", "-O2", source, *glob.glob(os.path.join(folder, "*.o")), *includes, "-lzstd", "-llz4", "-pthread",
                 "-ldl", "-Wl,--wrap=malloc,--wrap=realloc,--wrap=calloc", "-o", program])

    return built("cpp", description["output"], [version, run([compiler, "--version"])], cache, build)


def configure_nanoarrow(header, version):
    """Fills its template, as its own build does."""
    with open(f"{header}.in") as file:
        text = file.read()
    words = dict(zip(("MAJOR", "MINOR", "PATCH"), version.split(".")))
    for name, value in ({f"VERSION_{word}": part for word, part in words.items()} | {"VERSION": version, "NAMESPACE_DEFINE": ""}).items():
        text = text.replace(f"@NANOARROW_{name}@", value)
    with open(header, "w") as file:
        file.write(text)


def go_program(description, cache, _environments):
    def build(program):
        run(["go", "build", "-trimpath", "-mod=readonly", "-o", program, "."], cwd=os.path.join(HERE, "go"))

    return built("go", description["output"], [], cache, build)


def rust_program(description, cache, _environments):
    folder, crate = description["folder"], description["crate"]

    def build(program):
        target = os.path.join(cache, folder)
        run(["cargo", "build", "--release", "--locked"], cwd=os.path.join(HERE, folder), env={**os.environ, "CARGO_TARGET_DIR": target})
        shutil.copy2(os.path.join(target, "release", crate), program)

    with open(os.path.join(HERE, "rust", "src", "figures.rs")) as shared:  # by both crates
        return built(folder, description["output"], [shared.read()], cache, build)


PROGRAMS = {
    "cpp": cpp_program,
    "cpp_ipc": cpp_program,
    "nanoarrow": nanoarrow_program,
    "go": go_program,
    "rust": rust_program,
    "rust_ipc": rust_program,
}
NOT_ASKED_FOR = ("go", "rust", "rust_ipc")  # runners that `python` leaves out
SCRIPTS = {"write": "writer.py", "ipc": "ipc_runner.py"}  # of jobs that have one of their own


# -- engines


def chosen(text, engines):
    """The engines that `--peers` asks for."""
    if text == "all":
        return set(engines)
    if text == "python":
        return {name for name, engine in engines.items() if engine["runner"] not in NOT_ASKED_FOR}
    names = set(text.split(","))
    if unknown := names - set(engines):
        raise ValueError(f"no such peer: {', '.join(sorted(unknown))} (there are {', '.join(engines)})")
    return names


def once(function):
    """Remembers what a function gave, or the Absent that it raised, for each first argument."""
    outcomes = {}

    def call(name, *rest):
        if name not in outcomes:
            try:
                outcomes[name] = function(name, *rest), None
            except Absent as reason:
                say(f"{name}: {reason}")
                outcomes[name] = None, reason
        value, reason = outcomes[name]
        if reason:
            raise reason
        return value

    return call


def peers(which="python", cache=CACHE):
    """What the command prints; see above. Raises ValueError for a name that peers.toml does not know."""
    pinned = pins()
    wanted = chosen(which, pinned["engines"])
    os.makedirs(cache, exist_ok=True)
    with open(os.path.join(cache, ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another run may be making the same
        return made(pinned, wanted, cache)


def made(pinned, wanted, cache):
    environments = once(lambda name: environment(name, pinned["environments"][name], cache))
    programs = once(lambda name: PROGRAMS[name](pinned["programs"][name], cache, environments))

    def described(name, engine):
        if name not in wanted:
            raise Absent("not asked for")
        if engine["runner"] in PROGRAMS:
            return [programs(engine["runner"])], pinned["programs"][engine["runner"]]["packages"]
        python, installed = environments(engine["runner"])
        if missing := [package for package in engine["packages"] if package not in installed]:
            raise Absent(f"{', '.join(missing)} could not be installed")
        script = next((SCRIPTS[job] for job in engine.get("jobs", []) if job in SCRIPTS), "reader.py")
        return [python, os.path.join(HERE, "python", script)], {package: installed[package] for package in engine["packages"]}

    try:
        result = {"python": environments("main")[0], "engines": []}
    except Absent:
        result = {"python": None, "engines": []}
    for name, engine in pinned["engines"].items():
        try:
            command, versions = described(name, engine)
            found = {"command": command, "versions": versions}
        except Absent as reason:
            found = {"absent": str(reason)}
        result["engines"].append({"engine": name, "jobs": engine.get("jobs", ["read", "parquet"]), **found})
    return result


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--peers", default="python")
    parser.add_argument("--cache", default=CACHE)
    parser.add_argument("--environment")
    options = parser.parse_args()
    if options.environment:
        try:
            print(interpreter(options.environment, os.path.abspath(options.cache)))
        except (Absent, KeyError) as error:
            sys.exit(f"peers: no environment {options.environment}: {error}")
        return
    try:
        print(json.dumps(peers(options.peers, os.path.abspath(options.cache)), indent=1))
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
