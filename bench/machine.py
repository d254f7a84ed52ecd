"""On what machine, with what compiler, was it measured? Facts for the result document, and how much is free now."""

import os
import platform
import shutil
import subprocess


def facts(build_folder):
    """`build_folder` is the CMake build of the frazil that is measured."""
    cpu = _pairs("/proc/cpuinfo", ":")
    return {
        "cpu_model": cpu.get("model name") or platform.processor() or platform.machine(),
        "cores": cores(),
        "cpu_flags": sorted(cpu.get("flags", cpu.get("Features", "")).split()),
        "memory_bytes": _memory("MemTotal"),
        "kernel": platform.release(),
        "os": _pairs("/etc/os-release", "=").get("PRETTY_NAME", platform.system()).strip('"'),
        "compiler": _compiler(build_folder),
        "load_average": round(os.getloadavg()[0], 2),
    }


def cores():
    return len(os.sched_getaffinity(0))


def memory_available_bytes():
    """What a new process can have; of the cgroup too, where one limits us."""
    free = _memory("MemAvailable")
    try:
        with open("/sys/fs/cgroup/memory.max") as most, open("/sys/fs/cgroup/memory.current") as current:
            free = min(free, int(most.read()) - int(current.read()))
    except (OSError, ValueError):  # no cgroup v2, or "max"
        pass
    return free


def disk_free_bytes(folder):
    return shutil.disk_usage(folder).free


def _memory(name):
    return int(_pairs("/proc/meminfo", ":").get(name, "0").split()[0]) * 1024


def _compiler(build_folder):
    """First line of the compiler's --version; the build type beside it."""
    cache = _pairs(os.path.join(build_folder, "CMakeCache.txt"), "=")
    compiler = cache.get("CMAKE_CXX_COMPILER:FILEPATH") or cache.get("CMAKE_CXX_COMPILER:STRING")
    if not compiler:
        return None
    try:
        version = subprocess.run([compiler, "--version"], capture_output=True, text=True, timeout=10).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    return f"{version.splitlines()[0]}, {cache.get('CMAKE_BUILD_TYPE:STRING', '')}" if version else None


def _pairs(path, separator):
    """{name: value} of a file of lines; the first of each name."""
    pairs = {}
    try:
        with open(path) as lines:
            for line in lines:
                name, found, value = line.partition(separator)
                if found:
                    pairs.setdefault(name.strip(), value.strip())
    except OSError:
        pass
    return pairs
