// Agents that are flows with a window in bytes (decision/ir/interfaces/flow_window.py): a flow decides on every
// acknowledgement and loss that its sender hears of.
//
//   ACK, loss --> counted --> cohort: observe, decide, apply --> window, rate --> the sender
//
// Signals that came while no decision was made (its event was refused, or waits for an engine) count in the next event.
// A timer expires while the NICs take their turns, which may run behind the event loop: its decision comes the shortest
// way back later (`look`), and until then one packet is in flight at the most.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "baseline.hpp"
#include "network.hpp"
#include "site.hpp"
#include "site_kind.hpp"

namespace netsim {

class WindowSite final : public Site, public Baseline {
public:
  enum Signal : std::size_t {
    now_ns,
    rtt_ns,
    acked_bytes,
    marked_bytes,
    trimmed_bytes,
    nacked_bytes,
    skipped_bytes,
    expired_bytes,
    in_flight_bytes,
    path_id,
    kSignals
  };
  // The window is the last knob. The one before it, a rate, is some interfaces'; without it the NIC's own holds.
  static constexpr std::size_t kKnobs = 2;

  explicit WindowSite(const Surroundings &around);
  // `stream`: of the loop, that calls the cohort to look at the site.
  void join(CohortAt<WindowSite> &cohort, std::uint32_t stream) {
    cohort_ = &cohort;
    looks_ = stream;
  }

  // The agents.
  std::uint32_t agents() const override { return static_cast<std::uint32_t>(n_.senders.size()); }
  std::uint32_t group(std::uint32_t flow) const override { return n_.senders[flow].host; }
  std::uint32_t life(std::uint32_t flow) const override;
  std::uint32_t next_step(std::uint32_t flow) override { return n_.senders[flow].step++; }
  void look(Ps now) override;
  bool asks(std::uint32_t flow) const override { return flows_at_[flow].due; }
  bool applies_late() const override { return false; } // after a timeout one packet is in flight until a decision
  void observe(std::uint32_t flow, Ps now, Knobs event) override;
  void event_taken(std::uint32_t flow, Ps now, bool goes_on) override;
  void event_refused(std::uint32_t flow, Ps) override { flows_at_[flow].due = false; } // it goes on counting
  void undecided(std::uint32_t flow, Words event) override;
  void merge(Words older, Knobs newer) const override;
  void in_force(std::uint32_t flow, Knobs knobs) const override;
  void apply(std::uint32_t flow, Ps now, Words knobs) override;

  // The facts of a flow that the network tells.
  Pace start(std::uint32_t flow, Ps now, const PathFacts &path) override;
  Pace on_ack(std::uint32_t flow, const Ack &ack) override;
  Pace on_cnp(std::uint32_t flow, Ps) override { return pace(flow); }  // marks come back on ACKs
  Pace on_loss(std::uint32_t flow, Ps) override { return pace(flow); } // told by:
  Pace on_lost(std::uint32_t flow, const Loss &loss) override;

private:
  struct Flow {
    std::uint32_t window = 0, rate_q30 = 0; // in force
    std::uint32_t rtt = 0, path = 0;        // of the newest ACK since the last event that was taken, ..
    std::uint32_t acked = 0, marked = 0;    // .. and what was counted since then: payload
    std::array<std::uint32_t, 4> lost{};    // .. by its LossKind
    bool held = false;                      // its timer has expired, and nothing was decided since
    bool due = false;                       // .. and it is to be asked
  };

  Pace pace(std::uint32_t flow) const;
  Pace ask(std::uint32_t flow, Ps now);

  Network &n_;
  FlowSite &flows_;
  CohortAt<WindowSite> *cohort_ = nullptr;
  std::uint32_t looks_ = 0;
  Ps later_;           // than a timer, a decision on it
  bool hears_ = false; // the sender waits for a pace
  std::vector<Flow> flows_at_;
  using Expired = std::pair<Ps, std::uint32_t>; // when to ask, whom
  std::priority_queue<Expired, std::vector<Expired>, std::greater<Expired>> expired_;
};

} // namespace netsim
