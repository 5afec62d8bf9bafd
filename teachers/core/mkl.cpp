// What MKL, within PyTorch, is told of the processor's maker: teachers/sums.py says why.
#include <nanobind/nanobind.h>

#include <atomic>

namespace {

std::atomic<bool> intel{true};
std::atomic<bool> asked{false};

int answer() {
  asked = true;
  return intel ? 1 : 0;
}

} // namespace

// MKL's names, not ours. Its calls of them come here where this library is global in the process before MKL is loaded.
extern "C" {
__attribute__((visibility("default"))) int mkl_serv_intel_cpu() { return answer(); }
__attribute__((visibility("default"))) int mkl_serv_intel_cpu_true() { return answer(); }
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
      "Tell MKL that Intel made the processor, or that it did not; what it was told first, once it has asked.");
}
