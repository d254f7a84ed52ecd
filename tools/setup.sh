#!/usr/bin/env bash
# Installs what is missing, through the system's packages: Debian 12, Ubuntu 24.04. Touches nothing when all is there.
# usage: tools/setup.sh build|test|ci|bench|instructions
#   build  compiler, build tools, libraries        test   + GoogleTest, RapidCheck, Python        ci  + clang 19
#   bench  what the checks of the benchmarks' Python parts need, and nothing else: Python, Chromium
#   instructions  build + valgrind
set -euo pipefail
level=${1:-build}
packages=(g++ cmake ninja-build make ccache pkg-config libfmt-dev libsnappy-dev libzstd-dev liblz4-dev
          libbrotli-dev libdeflate-dev zlib1g-dev libxxhash-dev libsqlite3-dev libyaml-dev libcli11-dev)
if [ "$level" = bench ]; then
  packages=(python3 python3-venv)
  # Ubuntu's Chromium is a snap, which can neither be had in a container nor read the report: the check says it skips.
  if [ "$(. /etc/os-release && echo "$ID")" = debian ]; then packages+=(chromium fonts-dejavu-core); fi
elif [ "$level" = instructions ]; then
  packages+=(python3 valgrind)
elif [ "$level" != build ]; then
  packages+=(libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev python3 python3-venv)
fi
if [ "$level" = ci ]; then
  packages+=(clang-19 clang-format-19 clang-tidy-19 libclang-rt-19-dev llvm-19 git)
fi
missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
if ! command -v apt-get >/dev/null; then
  echo "setup: these packages are missing and there is no apt-get to install them: ${missing[*]}" >&2
  exit 1
fi
run=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: run as root or install sudo; missing: ${missing[*]}" >&2; exit 1; }
  run=(sudo)
fi
echo "setup: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${run[@]}" apt-get update -qq
"${run[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
