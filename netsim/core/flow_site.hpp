// Agents that are flows (decision/ir/interfaces/flow_rate.py): who sets their rates, and what of that holds at the
// senders.
//
// A flow's event is the response to its RTT probe. A decider is asked then; a hand-written algorithm (baseline.hpp) has
// more ears: it hears of every ACK, CNP, loss and burst, and what it says holds at once. The ideal (fair_shares.hpp)
// listens to nobody.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <tuple>
#include <vector>

#include "baseline.hpp"
#include "cohort.hpp"
#include "network.hpp"
#include "random.hpp"
#include "recovery.hpp"
#include "sending.hpp"
#include "site.hpp"

namespace netsim {

template <class AtSite> class CohortAt;

// Who sets the rates: a baseline, the ideal, or where it is neither, a cohort. Where it has no decider, which would say
// so, new flows start at `initial_rate`, and where that cohort caps what is in flight, each with its own bytes of it.
struct Steering {
  Baseline *baseline = nullptr;
  bool ideal = false;
  double initial_rate = 1.0;
  std::vector<std::uint32_t> initial_in_flight;
};

class FlowSite final : public Site {
public:
  enum Signal : std::size_t {
    request_sent_ns,
    response_ns,
    cnp_count,
    nack_count,
    sent_bytes,
    queue_bytes,
    kAlways,
    kSignals = kAlways + 3 // where policies ask for them: the device's rate (one), what was acknowledged (two)
  };
  // The knobs: the rate, Q0.30 of line rate, and the bytes that may be in flight. Without the second one the network's
  // own cap holds.
  enum Knob : std::uint8_t { kRate, kInFlight, kKnobs };
  static constexpr std::uint64_t kNoiseStream = std::uint64_t{1} << 33, kReorderStream = kNoiseStream + 1;

  FlowSite(Network &network, Sending &sending, Recovery &recovery, std::uint64_t seed)
      : n_(network), sending_(sending), recovery_(recovery), noise_(seed, kNoiseStream),
        reorder_(seed, kReorderStream) {}

  // Another cohort of flows; they are the first of the simulation's. Where there are several each has some of the flows
  // (Sender::cohort).
  std::unique_ptr<Cohort> settle(Decider *decider, const CohortConfig &config, const Steering &steering);
  // Flows that a site of another kind steers, whose agents they are.
  void settle(Baseline &site) { steered_.push_back(Steered{&site, site.timed(), false, 1.0, {}, nullptr}); }
  void start_clock(Pcg32 &random);
  std::uint32_t device_ns(Ps time) const { return static_cast<std::uint32_t>(time / kPsPerNs) + clock_offset_; }

  std::uint32_t agents() const override { return static_cast<std::uint32_t>(n_.senders.size()); }
  std::uint32_t group(std::uint32_t flow) const override { return n_.senders[flow].host; }
  std::uint32_t life(std::uint32_t flow) const override {
    return holds(n_.senders[flow]) ? n_.senders[flow].generation : 0;
  }
  std::uint32_t next_step(std::uint32_t flow) override {
    return shared_.empty() ? n_.senders[flow].step++ : next_shared_step(flow);
  }
  // The first flow of those that share its context.
  std::uint32_t context(std::uint32_t flow) const override {
    return shared_.empty() ? flow : flow - n_.senders[flow].qp % n_.net.context_flows;
  }
  void observe(std::uint32_t flow, Ps now, Knobs event) override;
  void event_taken(std::uint32_t flow, Ps now, bool goes_on) override;
  void event_refused(std::uint32_t flow, Ps now) override;
  void undecided(std::uint32_t flow, Words event) override;
  void merge(Words older, Knobs newer) const override;
  void in_force(std::uint32_t flow, Knobs knobs) const override;
  std::uint32_t knob_in_force(std::uint32_t known, Words event) const override;
  void apply(std::uint32_t flow, Ps now, Words knobs) override;

  // What the network tells of a flow.
  void begin(Ps now, std::uint32_t flow); // it is new
  void on_response(Ps now, std::uint32_t flow, std::uint32_t serial);
  void on_delayed_event(Ps now);
  bool probes(const Sender &s) const { return steered_[s.cohort].probes; }                    // it sends RTT probes
  bool has_baseline(const Sender &s) const { return steered_[s.cohort].baseline != nullptr; } // of the following
  bool all_hear() const {
    return std::all_of(steered_.begin(), steered_.end(), [](const Steered &by) { return by.baseline != nullptr; });
  }
  struct Acknowledged { // newly
    std::uint32_t packets, bytes;
  };
  void on_ack(Ps now, const Control &control, const Acknowledged &news, bool was_blocked);
  void on_cnp(Ps now, std::uint32_t flow);
  void on_loss(Ps now, std::uint32_t flow, LossKind kind, std::uint32_t bytes, bool was_blocked);
  void on_timeout(Ps now, std::uint32_t flow, std::uint32_t bytes);
  // A baseline's word outside of what it hears: it holds from now on.
  void pace(Ps now, std::uint32_t flow, const Pace &pace);
  // What an ACK or a NACK acknowledges of a flow, for policies that are told of it.
  void acknowledge(std::uint32_t flow, std::uint32_t psn, bool marked) {
    if (!acked_.empty())
      count_acked(flow, psn, marked);
  }
  void on_sent(Ps now, std::uint32_t flow, std::uint32_t bytes) {
    if (by(flow).timed)
      tell_sent(now, flow, bytes);
  }

  // Whether its context has no probe of another flow under way that tells of its last decision.
  bool may_probe(Ps now, std::uint32_t flow) const { return shared_.empty() || asks_shared(now, flow); }

  // When a burst leaves: the device says the rate of its context; its own limiter is looked at, and a rate that it has
  // cut stays so until the next decision.
  void limit(Ps now, std::uint32_t flow) {
    if (!shared_.empty())
      follow(now, flow);
    if (limits_)
      cut(now, flow);
  }

  // When the burst after the one that began at `begin` may leave.
  Ps next_send(std::uint32_t flow, const Sender &s, Ps begin) {
    const Steered &who = steered_[s.cohort];
    return who.timed ? who.baseline->next_send(flow, begin, s.last_burst_ps) : begin + s.gap();
  }
  void set_rate(Ps now, std::uint32_t flow, double rate);

  // Where agents besides the flows themselves give some of them a cap on their rate, a class and a plane.
  struct Given {
    Pace pace; // the baseline's last word
    double most_rate = 1.0;
    std::uint32_t host = 0;
    std::uint8_t klass = 0;
    bool moves = false; // to that host and class, as soon as nothing of it is in flight
    bool lost = false;  // and some of it was given up for lost
  };
  void may_give() { given_.resize(n_.senders.size()); }
  // From now on. A flow rises, or leaves by another plane, when what it has in flight is acknowledged, and sends
  // nothing until then: so its packets stay in order.
  void give(Ps now, std::uint32_t flow, double most_rate, std::uint32_t plane, std::uint8_t klass);
  const Given &given(std::uint32_t flow) const { return given_[flow]; }

  double rate_of(std::uint32_t flow) const; // in force now, 0 for a flow that is not there

private:
  // Who sets the rates of a cohort's flows.
  struct Steered {
    Baseline *baseline = nullptr;
    bool timed = false;  // the baseline's rates change with time alone
    bool probes = false; // nobody else sets the rates
    double initial_rate = 1.0;
    std::vector<std::uint32_t> initial_in_flight;
    CohortAt<FlowSite> *cohort = nullptr; // none where another site decides
  };

  // What flows have that share one context, at the place of the first of them.
  struct Shared {
    std::array<std::uint32_t, kKnobs> knobs{}; // set last
    std::uint32_t step = 0;
    Ps decided_at = 0, before_that = 0;
  };

  // A response that came back, and whose event comes later. Those of one time come in the order of the flows.
  struct DelayedEvent {
    Ps due = 0, response = 0;
    std::uint32_t flow = 0, serial = 0;
    bool operator>(const DelayedEvent &other) const { return std::tie(due, flow) > std::tie(other.due, other.flow); }
  };

  // Payload that was acknowledged since the last event that was taken, and of it by ACKs that echo an ECN mark.
  struct Acked {
    std::uint32_t bytes = 0, marked = 0;
  };

  // Its context is in use: it sends, or may go on later.
  bool holds(const Sender &s) const { return s.active || (n_.scenario.jobs.keeps_contexts && s.generation > 0); }
  bool awaits(std::uint32_t flow, std::uint32_t serial) const;
  void tell(Ps now, Ps response, std::uint32_t flow);
  void plan_delayed_event();
  static bool tells_rate(Words event) { return ((event.size() - kAlways) & 1) != 0; }
  static bool tells_acks(Words event) { return ((event.size() - kAlways) & 2) != 0; }
  Acked &acked(const Sender &s) { return acked_[static_cast<std::size_t>(&s - n_.senders.data())]; }
  void count_acked(std::uint32_t flow, std::uint32_t psn, bool marked);
  const Steered &by(std::uint32_t flow) const { return steered_[n_.senders[flow].cohort]; }
  template <class Each> void members(std::uint32_t flow, Each each) const;
  bool joins(std::uint32_t flow) const;
  std::uint32_t next_shared_step(std::uint32_t flow);
  bool asks_shared(Ps now, std::uint32_t flow) const;
  void follow(Ps now, std::uint32_t flow);
  double wire_rate(std::uint32_t q30) const;

  // What an RTT reads too long, of policies' probes and of the ACKs that baselines hear alike.
  Ps noise() { return n_.net.rtt_noise > 0 ? noise_.below(n_.net.rtt_noise + 1) : 0; }
  bool limited(Ps now) const;
  void cut(Ps now, std::uint32_t flow);
  void tell_sent(Ps now, std::uint32_t flow, std::uint32_t bytes);
  void begin_baseline(Ps now, std::uint32_t flow);
  void steer(Ps now, std::uint32_t flow, const Pace &pace, bool was_blocked);
  void hold(std::uint32_t flow, Sender &s, const Pace &pace);
  // Under selective repeat no more packets are on their way than the two ends keep track of.
  std::uint32_t tracked(const Sender &s, std::uint32_t packets) const {
    return s.ends(n_.net).selective_repeat ? std::min(packets, kMostHeld) : packets;
  }
  std::uint32_t window_packets(const Sender &s, double window) const;
  std::uint32_t capped_packets(const Sender &s, std::uint32_t bytes) const;

  Network &n_;
  Sending &sending_;
  Recovery &recovery_;
  std::vector<Steered> steered_;       // each cohort
  bool limits_ = false;                // the NIC may cut rates
  bool rounds_ = false;                // the wire carries another rate than was set
  std::vector<std::uint32_t> set_q30_; // where it does: each flow's rate as it was set last
  std::vector<Shared> shared_;         // of each flow, where contexts are shared
  std::vector<Given> given_;           // of each flow, where there are such agents
  std::vector<Acked> acked_;           // of each flow, where policies are told
  std::priority_queue<DelayedEvent, std::vector<DelayedEvent>, std::greater<DelayedEvent>> delayed_events_;
  Ps event_delay_ = 0; // of the event that is observed, behind its response
  std::uint32_t clock_offset_ = 0;
  Pcg32 noise_, reorder_;
};

} // namespace netsim
