/* UCCL's congestion-control slot, decided by rlcc_host.h: put the folder of `cc` before theirs in the include path.
 *
 * Mirrors a boundary, and none of its code: the class and its calls, as of uccl-project/uccl 0221e4da7bdb,
 * include/cc/cc_state.h. Modes are those of rlcc_host.h; `timely` and `swift` are not in this file, and switch control
 * off. One thread acknowledges; any thread records sends and reads the window. No lock, no allocation after init.
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

#include "rlcc_host.h"

#ifndef RLCC_UCCL_TICKS
#include <x86intrin.h>
#define RLCC_UCCL_TICKS() __rdtsc()
#endif

namespace uccl {
namespace cc {

class CongestionControlState {
public:
  enum class Mode : uint8_t { kNone, kObserve, kEnforce };

  CongestionControlState() = default;
  CongestionControlState(Mode mode, double freq_ghz, double link_bw_bps) { init(mode, freq_ghz, link_bw_bps); }

  /* freq_ghz: of the tick counter. The link's rate is in the emitted parameters. */
  void init(Mode mode, double freq_ghz, double /* link_bw_bps */) {
    static const rlcc_params params = RLCC_PARAMS_DEFAULT;

    mode_ = (freq_ghz > 0.25) ? mode : Mode::kNone;
    if (mode_ == Mode::kNone) {
      return;
    }
    ns_q32_ = static_cast<uint64_t>(4294967296.0 / freq_ghz);
    if (!shared_) {
      shared_.reset(new Shared{});
    }
    rlcc_host_start(&host_, &params, (mode_ == Mode::kEnforce) ? RLCC_HOST_ENFORCE : RLCC_HOST_OBSERVE);
    shared_->window.store(host_.window_bytes, std::memory_order_relaxed);
  }

  /* "rlcc" enforces, "rlcc-observe" observes, anything else is off. */
  static Mode parseMode(char const *env_var) {
    char const *const text = std::getenv(env_var);

    if (text == nullptr) {
      return Mode::kNone;
    }
    return (std::strcmp(text, "rlcc") == 0)           ? Mode::kEnforce
           : (std::strcmp(text, "rlcc-observe") == 0) ? Mode::kObserve
                                                      : Mode::kNone;
  }

  bool enabled() const { return mode_ != Mode::kNone; }
  Mode mode() const { return mode_; }

  /* Call when a work request is posted. */
  void recordSendTsc(uint64_t wr_id) {
    if (enabled()) {
      shared_->sent[wr_id % kSends].store(RLCC_UCCL_TICKS(), std::memory_order_release);
    }
  }

  /* Call once a completed work request. One that was not recorded is not timed. */
  void onAck(uint64_t wr_id, size_t acked_bytes) {
    if (!enabled()) {
      return;
    }
    uint64_t const now = RLCC_UCCL_TICKS();
    uint64_t const sent = shared_->sent[wr_id % kSends].exchange(0U, std::memory_order_acq_rel);
    uint64_t const most = std::numeric_limits<uint32_t>::max();
    rlcc_host_completion completion = {};

    completion.now_ns = static_cast<uint32_t>(nanoseconds(now));
    completion.timed = ((sent != 0U) && (now >= sent) && (nanoseconds(now - sent) <= kUntimedNs)) ? 1U : 0U;
    completion.sent_ns = completion.now_ns - static_cast<uint32_t>(nanoseconds(now - sent));
    completion.acked_bytes = static_cast<uint32_t>((acked_bytes < most) ? acked_bytes : most);
    rlcc_host_sent(&host_, completion.acked_bytes); /* the boundary gives a request's bytes only now */
    rlcc_host_acknowledged(&host_, &completion);
    shared_->window.store(host_.window_bytes, std::memory_order_relaxed);
  }

  /* Bytes; 0 where control is off, no limit where it observes. */
  size_t getWindowBytes() const {
    switch (mode_) {
    case Mode::kEnforce:
      return shared_->window.load(std::memory_order_relaxed);
    case Mode::kObserve:
      return std::numeric_limits<size_t>::max() / 2U;
    default:
      return 0U;
    }
  }

  /* Ours: what was counted, and the window that was decided in any mode. */
  rlcc_host_counters const &counters() const { return host_.counters; }
  size_t decidedWindowBytes() const { return enabled() ? shared_->window.load(std::memory_order_relaxed) : 0U; }

private:
  static constexpr size_t kSends = 65536;
  static constexpr uint64_t kUntimedNs = 3000000000U; /* the header's clock wraps at 4.29 s */

  struct Shared {
    std::atomic<uint64_t> sent[kSends]; /* ticks; 0: not recorded */
    std::atomic<uint32_t> window;       /* bytes, as decided last */
  };

  uint64_t nanoseconds(uint64_t ticks) const {
    return (ticks >> 32U) * ns_q32_ + (((ticks & 0xFFFFFFFFU) * (ns_q32_ & 0xFFFFFFFFU)) >> 32U) +
           (ticks & 0xFFFFFFFFU) * (ns_q32_ >> 32U);
  }

  Mode mode_ = Mode::kNone;
  uint64_t ns_q32_ = 0U;           /* ns a tick, 1 / 2^32 */
  std::unique_ptr<Shared> shared_; /* an object can be moved, as theirs */
  rlcc_host host_{};
};

} // namespace cc
} // namespace uccl
