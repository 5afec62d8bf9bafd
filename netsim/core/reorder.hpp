// Packets that came before one that is missing, held at the receiver: a bit for each of the next so many of a flow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace netsim {

class Reorder {
public:
  Reorder(std::size_t flows, std::uint32_t packets)
      : packets_(packets), words_((packets + 63) / 64), came_(flows * words_, 0), asks_(flows * words_, 0) {}

  // Whether a packet so far beyond the one that is missing is held.
  bool holds(std::uint32_t beyond) const { return beyond < packets_; }
  void hold(std::uint32_t flow, std::uint32_t psn, bool ack) {
    came_[word(flow, psn)] |= bit(psn);
    if (ack)
      asks_[word(flow, psn)] |= bit(psn);
  }
  // The next packet of the flow, if it is held: it is delivered now, and may have asked for an ACK.
  bool take(std::uint32_t flow, std::uint32_t psn, bool &ack) {
    if (packets_ == 0 || (came_[word(flow, psn)] & bit(psn)) == 0)
      return false;
    ack |= (asks_[word(flow, psn)] & bit(psn)) != 0;
    came_[word(flow, psn)] &= ~bit(psn);
    asks_[word(flow, psn)] &= ~bit(psn);
    return true;
  }

private:
  std::size_t word(std::uint32_t flow, std::uint32_t psn) const { return flow * words_ + psn / 64 % words_; }
  static std::uint64_t bit(std::uint32_t psn) { return std::uint64_t{1} << psn % 64; }

  std::uint32_t packets_;
  std::size_t words_;
  std::vector<std::uint64_t> came_, asks_;
};

} // namespace netsim
