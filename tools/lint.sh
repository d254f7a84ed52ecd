#!/usr/bin/env bash
# The layer check, clang-format on every source, clang-tidy on the sources that changed since FRAZIL_LINT_BASE
# (default: the last commit that is older than a day; without one, everything).
set -euo pipefail
cd "$(dirname "$0")/.."
python3 tools/check_layers.py
git ls-files '*.h' '*.cc' | grep -v '^tests/corpora/' | xargs clang-format-19 --dry-run -Werror
base=${FRAZIL_LINT_BASE:-$(git rev-list -1 --before='24 hours ago' HEAD)}
if [ -n "$base" ]; then
  changed=$(git diff --name-only --diff-filter=d "$base" -- '*.cc')
else
  changed=$(git ls-files '*.cc')
fi
# Tests and benchmarks are formatted and compiled with warnings as errors; clang-tidy's time goes to the product. Peer
# programs are built elsewhere, against other libraries.
changed=$(grep -vE '_(test|bench)\.cc$|^fuzz/|^tests/|^bench/peers/' <<<"$changed" || true)
[ -n "$changed" ] || { echo "lint: no sources changed"; exit 0; }
[ -e build/lint/compile_commands.json ] || {
  mkdir -p build
  cmake --preset asan -B build/lint -DFRAZIL_SANITIZE= -DFRAZIL_TESTS=OFF >build/lint-configure.log 2>&1 || { cat build/lint-configure.log; exit 1; }
}
echo "lint: clang-tidy on $(wc -l <<<"$changed") files"
xargs -P "$(nproc)" -n 2 clang-tidy-19 --quiet -p build/lint <<<"$changed" 2>&1 | grep -vE '^[0-9]+ warnings? generated|^Suppressed|^Use -header-filter' || [ "${PIPESTATUS[0]}" -eq 0 ]
