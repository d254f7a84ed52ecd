"""Iceberg Java as an oracle: fetches its libraries by Maven once, runs Java programs from their source."""

import filecmp
import json
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = os.path.join(HERE, "..", "..", "build", "oracle-java", "lib")


def missing(may_fetch):
    """Why Java cannot be asked, or None. `may_fetch`: get its libraries (some 50 MB) if they are not there."""
    if not shutil.which("java"):
        return "java is not installed"
    pom, stamp = os.path.join(HERE, "java", "pom.xml"), os.path.join(LIBRARIES, "pom.xml")
    if os.path.exists(stamp) and filecmp.cmp(pom, stamp, shallow=False):
        return None
    if not may_fetch or not shutil.which("mvn"):
        return "the libraries of Iceberg Java are not in build/oracle-java (make interop fetches them)"
    command = ["mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies", "-DoutputDirectory=" + os.path.abspath(LIBRARIES)]
    done = subprocess.run(command, capture_output=True, timeout=600)
    if done.returncode != 0:
        return "mvn: " + done.stdout.decode(errors="replace")[-300:]
    shutil.copy(pom, stamp)
    return None


def command(source, *arguments):
    """What runs a Java program from its source."""
    return ["java", "-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", LIBRARIES + "/*", source, *arguments]


def read(metadata_files):
    """{metadata file: {"rows": N or an error's text, "snapshots": [[id, manifests]]} or {"error": text}}"""
    program = command(os.path.join(HERE, "java", "ManifestOracle.java"), "read")
    done = subprocess.run(program, input="".join(path + "\n" for path in metadata_files).encode(), capture_output=True, timeout=900)
    if done.returncode != 0:
        raise RuntimeError("ManifestOracle: " + done.stderr.decode(errors="replace")[-1000:])
    return {result.pop("metadata"): result for result in map(json.loads, done.stdout.decode().splitlines())}
