// Agents that are long flows (decision/ir/interfaces/long_flow.py): those that have fallen to the last class
// (demotion.hpp). One of them is asked in the first period after it came or one came or went that shares its sender or
// receiver; it is told of itself, of the others that run, and of those that went last, and sets its class, a cap on its
// rate, its plane.
#pragma once

#include <cstdint>
#include <vector>

#include "flow_site.hpp"
#include "network.hpp"
#include "site.hpp"
#include "site_kind.hpp"

namespace netsim {

class LongFlowSite final : public Site {
public:
  static constexpr std::size_t kActive = 11, kGone = 10; // [AUTO] section 5.2.2
  enum OfActive : std::size_t { ends, path, priority, rate_q16, sent_kb, age_us, kOfActive };
  enum OfGone : std::size_t { gone_ends, gone_path, gone_priority, gone_rate_q16, gone_kb, took_us, ago_us, kOfGone };
  static constexpr std::size_t kSignals = kOfActive * kActive + kOfGone * kGone;
  enum Knob : std::size_t { set_priority, set_rate_q16, set_path, kKnobs };

  explicit LongFlowSite(const Surroundings &around);

  std::uint32_t agents() const override { return static_cast<std::uint32_t>(flows_of_.size()); }
  std::uint32_t group(std::uint32_t) const override { return 0; } // the central system
  std::uint32_t life(std::uint32_t flow) const override { return running(flow) ? flows_of_[flow].generation : 0; }
  std::uint32_t next_step(std::uint32_t flow) override { return flows_of_[flow].step++; }
  void look(Ps now) override;
  bool asks(std::uint32_t flow) const override { return flows_of_[flow].asks; }
  void observe(std::uint32_t flow, Ps now, Knobs event) override;
  void event_taken(std::uint32_t flow, Ps, bool) override { flows_of_[flow].asks = false; }
  void event_refused(std::uint32_t, Ps) override {}
  void merge(Words, Knobs) const override {} // the newer one's
  void in_force(std::uint32_t flow, Knobs knobs) const override;
  void apply(std::uint32_t flow, Ps now, Words knobs) override;

private:
  struct LongFlow {
    std::uint32_t generation = 0; // of the flow when it was found to be long
    std::uint32_t step = 0;
    Ps since = 0;
    std::uint64_t sent_before = 0; // packets
    std::uint32_t rate_q16 = 1U << 16;
    bool asks = false;
  };
  struct Gone {
    std::uint32_t from, to, path, priority, rate_q16, kb;
    Ps took, at;
  };

  // It has not ended since it was found to be long.
  bool running(std::uint32_t flow) const {
    const Sender &s = n_.senders[flow];
    return s.active && flows_of_[flow].generation == s.generation;
  }
  std::uint32_t machine(std::uint32_t flow) const { return n_.senders[flow].host / n_.scenario.planes; }
  std::uint32_t receiver(std::uint32_t flow) const;
  std::uint32_t shared(std::uint32_t from, std::uint32_t to, std::uint32_t flow) const;
  std::uint32_t kb(std::uint32_t flow) const;
  void changed(std::uint32_t from, std::uint32_t to);

  Network &n_;
  FlowSite &flows_;
  std::vector<LongFlow> flows_of_;   // of each flow
  std::vector<std::uint32_t> known_; // that ran at the last look, oldest first
  std::vector<Gone> gone_;           // the last of them, newest first
};

} // namespace netsim
