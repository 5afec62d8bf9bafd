#!/bin/sh
# Prints the Debian/Ubuntu packages, one a line, that are missing and without which tests are skipped: a second compiler
# for the engines, two analysers, a browser, an RV64 emulator, the loader of BPF programs, what ties a process to
# processors. No package of a lock brings them.
set -u

command -v riscv64-unknown-elf-gcc >/dev/null || echo gcc-riscv64-unknown-elf
command -v clang-tidy >/dev/null || echo clang-tidy
command -v frama-c >/dev/null || echo frama-c-base
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || echo chromium
PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep -q 'libbpf\.so\.1' || echo libbpf1
command -v qemu-riscv64 >/dev/null || echo qemu-user
command -v taskset >/dev/null || echo util-linux
