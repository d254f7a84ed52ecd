#!/usr/bin/env bash
# Makes the virtual environment with the Python oracles (pyarrow, PyIceberg, DuckDB) and prints its interpreter's path.
# usage: tools/python_env.sh FOLDER REQUIREMENTS     nothing is done when FOLDER was made from the same REQUIREMENTS
# Without a network, or for a Python that they do not support, it prints nothing, says why on stderr, and tests that
# need them print their skip.
set -uo pipefail
folder=$1 requirements=$2
stamp=$folder/requirements.txt
if ! cmp -s "$requirements" "$stamp"; then
  rm -rf "$folder"
  if ! { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"; } >&2; then
    echo "python_env: the Python oracles could not be installed; tests that need them are skipped" >&2
    rm -rf "$folder"
    exit 0
  fi
  cp "$requirements" "$stamp"
fi
echo "$folder/bin/python"
