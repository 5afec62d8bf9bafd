#!/bin/sh
# What must come from the operating system: a C++20 compiler, make, git and a Python 3.11-3.14 that can make virtual
# environments and build extensions. Everything else is in the locks beside this file.
#
#   requirements/system.sh             prints the Python to use; otherwise says what is missing and how to install it, exit 2
#   requirements/system.sh --missing   prints the missing Debian/Ubuntu packages, one a line
set -u

missing=""
reasons=""
python=""

lacks() { # package, reason
    missing="$missing $1"
    reasons="$reasons
  - $2"
}

python_is_supported() {
    "$1" -c 'import sys; raise SystemExit(not (3, 11) <= sys.version_info[:2] < (3, 15))' 2>/dev/null
}

find_python() {
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.14}; do
        if python_is_supported "$candidate"; then
            python=$(command -v "$candidate")
            package=${candidate##*/} # python3 -> python3-venv, python3.12 -> python3.12-venv: Debian's naming
            return
        fi
    done
    lacks python3 "a Python from 3.11 to 3.14 (looked for ${PYTHON:-python3, python3.13, python3.12, python3.11, python3.14})"
}

check_python_parts() {
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        lacks "$package-venv" "$python cannot make virtual environments"
    "$python" -c 'import os, sysconfig; raise SystemExit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' ||
        lacks "$package-dev" "$python has no Python.h, which the native simulator is built with"
}

at_least_2_38() {
    [ "${1%%.*}" -gt 2 ] 2>/dev/null || { [ "${1%%.*}" = 2 ] && [ "${1#*.}" -ge 38 ] 2>/dev/null; }
}

compiles_cxx20() {
    printf '#include <bit>\n#include <concepts>\n#include <span>\nint main() { return std::popcount(std::span<const int>{}.size()); }\n' |
        "$1" -std=c++20 -x c++ -fsyntax-only - 2>/dev/null
}

case $(uname -sm) in
"Linux x86_64") ;;
"Linux aarch64")
    libc=$(getconf GNU_LIBC_VERSION 2>/dev/null)
    if ! at_least_2_38 "${libc#glibc }"; then
        echo "error: a locked package, z3-solver, needs glibc 2.38, and this is ${libc#glibc }; take a newer system" >&2
        exit 2
    fi
    ;;
*)
    echo "error: the locked packages are for Linux on x86_64 and aarch64, this is $(uname -sm)" >&2
    exit 2
    ;;
esac
find_python
[ -z "$python" ] || check_python_parts
compiles_cxx20 "${CXX:-c++}" || lacks g++ "a C++20 compiler (${CXX:-c++} does not compile a C++20 program)"
command -v make >/dev/null || lacks make "make"
command -v git >/dev/null || lacks git "git"

if [ "${1:-}" = --missing ]; then
    for package in $missing; do echo "$package"; done
elif [ -n "$missing" ]; then
    echo "error: the system lacks:$reasons
install it with: sudo apt-get install$missing" >&2
    exit 2
else
    echo "$python"
fi
