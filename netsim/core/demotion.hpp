// Which class a flow's packets carry, where it is not the same for all of them: a multi-level feedback queue at the
// senders ([AUTO] section 4.1; [PIAS]), or its counterpart that knows sizes.
//
//   sent    a flow begins in class 0 and falls by one when it has sent more than the next limit; it never rises, so
//           that its packets stay in order
//   size    the same of the flow's size, when it begins; then its class stays
//
// Limits may change while flows run. They are whole packets: a packet has the class of the bytes sent before it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "config.hpp"
#include "flow.hpp"

namespace netsim {

class Demotion {
public:
  Demotion(const NetworkConfig &net, const ScenarioConfig &scenario)
      : by_(net.class_by), payload_(net.payload_bytes), planes_(scenario.planes), limits_(net.limits),
        row_(scenario.hosts / scenario.planes, 0), sent_before_(by_ == ClassBy::sent ? scenario.flows.size() : 0) {
    for (std::size_t machine = 0; machine < row_.size() && !limits_.empty(); ++machine)
      row_[machine] = static_cast<std::uint32_t>(machine * limits_.size() / row_.size());
  }

  bool by_sent() const { return by_ == ClassBy::sent; }
  std::size_t levels() const { return limits_.empty() ? 1 : limits_.front().size() + 1; }
  std::span<const std::uint32_t> limits(std::size_t row) const { return limits_[row]; }
  // In bytes, ascending, of all hosts from now on.
  void set(std::span<const std::uint32_t> bytes) {
    for (std::vector<std::uint32_t> &row : limits_)
      std::copy_n(bytes.begin(), std::min(bytes.size(), row.size()), row.begin());
  }

  // The class of a flow of `bytes` that begins now; `klass`: its own, where classes are not set here.
  std::uint8_t begin(std::uint32_t flow, const Sender &s, std::uint64_t bytes, std::uint8_t klass) {
    if (by_ == ClassBy::flow)
      return klass;
    if (by_ == ClassBy::sent) {
      sent_before_[flow] = s.sent_total;
      return 0;
    }
    return first_not_below(limits_of(s), bytes);
  }
  std::uint64_t sent_before(std::uint32_t flow) const { return sent_before_[flow]; }
  // It falls no more: somebody else sets its class.
  void release(std::uint32_t flow) { sent_before_[flow] = kReleased; }
  // .. of one that runs, for the next packet.
  std::uint8_t of(std::uint32_t flow, const Sender &s) const {
    if (sent_before_[flow] == kReleased)
      return s.klass;
    const std::uint64_t bytes = (s.sent_total - sent_before_[flow]) * payload_;
    return std::max(s.klass, first_not_below(limits_of(s), bytes));
  }
  // Packets that carry the class of the next one, 1 at the least.
  std::uint32_t packets_left(std::uint32_t flow, const Sender &s) const {
    const std::vector<std::uint32_t> &limits = limits_of(s);
    if (s.klass >= limits.size() || sent_before_[flow] == kReleased)
      return ~std::uint32_t{0};
    const std::uint64_t limit = limits[s.klass] / payload_ + 1, sent = s.sent_total - sent_before_[flow];
    return limit > sent ? static_cast<std::uint32_t>(limit - sent) : 1;
  }

private:
  static constexpr std::uint64_t kReleased = ~std::uint64_t{0};

  // How many limits are less.
  static std::uint8_t first_not_below(const std::vector<std::uint32_t> &limits, std::uint64_t bytes) {
    return static_cast<std::uint8_t>(std::lower_bound(limits.begin(), limits.end(), bytes) - limits.begin());
  }
  const std::vector<std::uint32_t> &limits_of(const Sender &s) const { return limits_[row_[s.host / planes_]]; }

  ClassBy by_;
  std::uint32_t payload_, planes_;
  std::vector<std::vector<std::uint32_t>> limits_; // bytes
  std::vector<std::uint32_t> row_;                 // of each machine, in `limits_`
  std::vector<std::uint64_t> sent_before_;         // of each flow, packets of its queue pair before it began
};

} // namespace netsim
