// Selective repeat at the sender ([IRN] section 3.1; pipe of RFC 6675): which packets beyond the acknowledged ones have
// come, which are missing and not yet repeated. A packet is missing when one that left after it has come; a repeat
// that is lost is found by the timeout.
//
//   acked ........ repeat ........ lost_end ........ next
//         repeated         missing          in flight          less those that have come, a bit each
//
// A packet whose header alone has come, trimmed by a switch, is missing too, wherever it stands: a bit each. Its repeat
// is another: packets that left before it say nothing of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "flow.hpp"

namespace netsim {

class Scoreboard {
public:
  struct Run { // of packets to be repeated
    std::uint32_t psn = 0, packets = 0;
  };

  // `reorder_packets`: a packet is not missing before one comes that is further off than this.
  Scoreboard(std::size_t flows, std::uint32_t reorder_packets, bool trims)
      : reorder_packets_(reorder_packets), rows_(flows), came_(flows * kWords, 0),
        trimmed_(trims ? flows * kWords : 0, 0), again_(trimmed_), trims_(trims ? flows : 0, 0) {}

  // A packet beyond the acknowledged ones has come. Returns whether it is news.
  bool come(Sender &s, std::uint32_t flow, std::uint32_t psn) {
    if (has(flow, psn))
      return false;
    came_[word(flow, psn)] |= bit(psn);
    if (!missing(flow, psn))
      ++s.absent; // a missing one is counted already
    if (!trims_.empty())
      forget(flow, psn);
    settle(s, flow); // it may be the one to be repeated next
    return true;
  }

  // The header alone of a packet has come. Returns whether it is missing now and was not before.
  bool trim(Sender &s, std::uint32_t flow, std::uint32_t psn) {
    if (has(flow, psn) || missing(flow, psn))
      return false;
    forget(flow, psn);
    trimmed_[word(flow, psn)] |= bit(psn);
    ++trims_[flow];
    ++s.absent;
    settle(s, flow);
    return true;
  }

  // Returns how many packets are missing that were not before, after `psn` has come.
  std::uint32_t miss(Sender &s, std::uint32_t flow, std::uint32_t psn) {
    return psn < reorder_packets_ ? 0 : miss_before(s, flow, psn - reorder_packets_);
  }

  // All before `psn` have come. Returns how many of them are news. To be called before the sender's own number moves.
  std::uint32_t acknowledge(Sender &s, std::uint32_t flow, std::uint32_t psn) {
    std::uint32_t news = psn - s.acked_psn;
    Row &row = rows_[flow];
    for (std::uint32_t p = s.acked_psn; s.absent > 0 && p != psn; ++p) {
      const bool came = has(flow, p);
      news -= came;
      s.absent -= came || missing(flow, p);
      came_[word(flow, p)] &= ~bit(p);
    }
    for (std::uint32_t p = s.acked_psn; !trims_.empty() && p != psn; ++p)
      forget(flow, p);
    row.repeat = std::max(row.repeat, psn);
    row.lost_end = std::max(row.lost_end, psn);
    settle(s, flow);
    return news;
  }

  // Nothing was heard for too long: whatever has not come is missing, repeats too.
  void time_out(Sender &s, std::uint32_t flow) {
    for (std::uint32_t p = s.acked_psn; !trims_.empty() && p != s.next_psn; ++p)
      forget(flow, p);
    rows_[flow] = Row{s.acked_psn, s.next_psn};
    s.absent = static_cast<std::uint16_t>(s.next_psn - s.acked_psn);
    settle(s, flow);
  }

  // The next missing packets, at most so many; they are repeated now.
  Run repeat(Sender &s, std::uint32_t flow, std::uint32_t most) {
    Row &row = rows_[flow];
    Run run{row.repeat, 0};
    if (trims(flow)) {
      for (run.psn = s.acked_psn; !is_trimmed(flow, run.psn);)
        ++run.psn;
      for (; run.packets < most && is_trimmed(flow, run.psn + run.packets); ++run.packets) {
        forget(flow, run.psn + run.packets);
        again_[word(flow, run.psn + run.packets)] |= bit(run.psn + run.packets);
      }
    } else {
      for (; run.packets < most && row.repeat < row.lost_end && !has(flow, row.repeat) && !again(flow, row.repeat);
           ++run.packets)
        ++row.repeat;
    }
    s.absent = static_cast<std::uint16_t>(s.absent - run.packets);
    settle(s, flow);
    return run;
  }

  // Whether switches trim: then an acknowledgement always has something to forget.
  bool trims() const { return !trims_.empty(); }

  // Whether a packet that has left and is not acknowledged has neither come nor is missing.
  bool under_way(std::uint32_t flow, std::uint32_t psn) const { return !has(flow, psn) && !missing(flow, psn); }

private:
  static constexpr std::uint32_t kWords = kMostHeld / 64;
  struct Row {
    std::uint32_t repeat = 0, lost_end = 0;
  };

  std::uint32_t miss_before(Sender &s, std::uint32_t flow, std::uint32_t end) {
    Row &row = rows_[flow];
    std::uint32_t missing = 0;
    for (std::uint32_t p = std::max(row.lost_end, s.acked_psn); p < end; ++p) {
      missing += !has(flow, p) && !is_trimmed(flow, p) && !again(flow, p);
      if (is_trimmed(flow, p))
        forget(flow, p);
    }
    s.absent = static_cast<std::uint16_t>(s.absent + missing);
    row.lost_end = std::max(row.lost_end, end);
    row.repeat = std::max(row.repeat, s.acked_psn);
    settle(s, flow);
    return missing;
  }

  // Those that have come need no repeat.
  void settle(Sender &s, std::uint32_t flow) {
    Row &row = rows_[flow];
    while (row.repeat < row.lost_end && (has(flow, row.repeat) || again(flow, row.repeat)))
      ++row.repeat;
    s.repeats = row.repeat < row.lost_end || trims(flow);
  }

  // It is to be repeated.
  bool missing(std::uint32_t flow, std::uint32_t psn) const {
    const Row &row = rows_[flow];
    return (psn >= row.repeat && psn < row.lost_end && !again(flow, psn)) || is_trimmed(flow, psn);
  }
  bool trims(std::uint32_t flow) const { return !trims_.empty() && trims_[flow] > 0; }
  bool is_trimmed(std::uint32_t flow, std::uint32_t psn) const {
    return trims(flow) && (trimmed_[word(flow, psn)] & bit(psn)) != 0;
  }
  // Its repeat after a trim is under way.
  bool again(std::uint32_t flow, std::uint32_t psn) const {
    return !again_.empty() && (again_[word(flow, psn)] & bit(psn)) != 0;
  }
  void forget(std::uint32_t flow, std::uint32_t psn) {
    trims_[flow] -= is_trimmed(flow, psn);
    trimmed_[word(flow, psn)] &= ~bit(psn);
    again_[word(flow, psn)] &= ~bit(psn);
  }

  bool has(std::uint32_t flow, std::uint32_t psn) const { return (came_[word(flow, psn)] & bit(psn)) != 0; }
  static std::size_t word(std::uint32_t flow, std::uint32_t psn) {
    return std::size_t{flow} * kWords + psn / 64 % kWords;
  }
  static std::uint64_t bit(std::uint32_t psn) { return std::uint64_t{1} << psn % 64; }

  std::uint32_t reorder_packets_;
  std::vector<Row> rows_;              // of each flow
  std::vector<std::uint64_t> came_;    // .. a bit a packet from the acknowledged one on
  std::vector<std::uint64_t> trimmed_; // .. where switches trim: .. that is missing by its header
  std::vector<std::uint64_t> again_;   // .. .. whose repeat has left since
  std::vector<std::uint32_t> trims_;   // .. how many are missing by their headers
};

} // namespace netsim
