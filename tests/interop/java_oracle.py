"""Iceberg Java as an oracle: fetches its libraries by Maven once, runs tests/interop/java/ManifestOracle.java."""

import glob
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
    if glob.glob(LIBRARIES + "/iceberg-parquet-*.jar"):
        return None
    if not may_fetch or not shutil.which("mvn"):
        return "the libraries of Iceberg Java are not in build/oracle-java (make interop fetches them)"
    command = ["mvn", "-q", "-B", "-f", os.path.join(HERE, "java", "pom.xml"), "dependency:copy-dependencies",
               "-DoutputDirectory=" + os.path.abspath(LIBRARIES)]
    done = subprocess.run(command, capture_output=True, timeout=600)
    return None if done.returncode == 0 else "mvn: " + done.stdout.decode(errors="replace")[-300:]


def read(metadata_files):
    """{metadata file: {"rows": N or an error's text, "snapshots": [[id, manifests]]} or {"error": text}}"""
    command = ["java", "-Xmx1g", "-cp", LIBRARIES + "/*", os.path.join(HERE, "java", "ManifestOracle.java"), "read"]
    done = subprocess.run(command, input="".join(path + "\n" for path in metadata_files).encode(), capture_output=True, timeout=900)
    if done.returncode != 0:
        raise RuntimeError("ManifestOracle: " + done.stderr.decode(errors="replace")[-1000:])
    return {result.pop("metadata"): result for result in map(json.loads, done.stdout.decode().splitlines())}
