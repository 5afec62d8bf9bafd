// What MKL, within PyTorch, is told of the processor's maker: teachers/mkl.py says why.
#include <nanobind/nanobind.h>

#include <atomic>

namespace {

std::atomic<bool> intel{true};
std::atomic<bool> asked{false};

int is_intel() {
  asked = true;
  return intel ? 1 : 0;
}

// MKL's kernels for AMD's Zen are of AVX2 and FMA: a processor that has not both takes those that any can run.
bool has_avx2_and_fma() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false; // there is no MKL: nobody asks
#endif
}

int is_zen() {
  asked = true;
  return !intel && has_avx2_and_fma() ? 1 : 0;
}

} // namespace

// MKL's names, not ours. Its calls of them come here where this library is global in the process before MKL is loaded.
// No model is told of either maker's: what processors have they are asked for all the same.
#define SAY(name, what)                                                                                                \
  __attribute__((visibility("default"))) int name() { return what; }
extern "C" {
SAY(mkl_serv_intel_cpu, is_intel())
SAY(mkl_serv_intel_cpu_true, is_intel())
SAY(mkl_serv_cpuiszen, is_zen())
SAY(mkl_serv_cpuisbulldozer, 0)
SAY(mkl_serv_cpuisskl, 0)
SAY(mkl_serv_cpuisclx, 0)
SAY(mkl_serv_cpuiscpx, 0)
SAY(mkl_serv_cpuisicx, 0)
SAY(mkl_serv_cpuisknm, 0)
}

NB_MODULE(_mkl, module) {
  module.doc() = "What MKL, within PyTorch, is told of the processor's maker.";
  module.def(
      "say_intel",
      [](bool yes) {
        if (!asked)
          intel = yes;
        return intel.load();
      },
      nanobind::arg("yes"),
      "Tell MKL that Intel made the processor, or that AMD did; what it was told first, once it has asked.");
  module.def("asked", [] { return asked.load(); }, "Whether MKL has asked.");
}
