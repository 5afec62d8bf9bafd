// The network and its event loop.
//
// Streams, in the order that breaks ties: decisions that take effect, the ways back (one a delay), flows that start,
// pauses, transmissions that end, links, uplinks, NICs. Each holds its events in time order; EventTree finds the first.
//
//   NIC --burst--> uplink --packet--> port --link--> port .. --> receiver --ACK/NACK/CNP/response--> sender
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "baseline.hpp"
#include "check.hpp"
#include "config.hpp"
#include "engine.hpp"
#include "event_tree.hpp"
#include "fabric.hpp"
#include "flow.hpp"
#include "nic.hpp"
#include "packet.hpp"
#include "policy.hpp"
#include "recorder.hpp"
#include "ring.hpp"
#include "window.hpp"

namespace netsim {

// Data packets and where they are; every packet that left a NIC must be in exactly one place.
struct Conservation {
  std::uint64_t sent, arrived, dropped, on_uplinks, at_ports;
  bool holds() const { return sent == arrived + dropped + on_uplinks + at_ports; }
};

// A decision that somebody outside has to make (array API).
struct Asked {
  Ps time;
  std::uint32_t flow;
  std::uint32_t generation;
};

// Who steers the flows. At most one of policy and baseline.
struct Steering {
  Policy *policy = nullptr;
  Baseline *baseline = nullptr;
  bool max_min = false; // the ideal: rates by progressive filling whenever flows come or go
  double initial_rate = 1.0;
};

enum class Stop { until, slice, batch };

class Simulator {
public:
  // With no one to steer, decisions are made outside, in batches.
  Simulator(const NetworkConfig &net, const FabricConfig &fabric, const ScenarioConfig &scenario,
            const Steering &steering, std::uint64_t seed);

  // Process events before `until`; stops early after about `events` of them or when a batch is ready.
  Stop run(Ps until, std::uint64_t events);

  // Answer the pending batch, in its order.
  void answer(const double *rate, const std::int32_t *action_q16);

  void reset_window();
  void set_red(std::uint32_t port, const RedConfig &red) { fabric_.set_red(port, red); }
  Conservation conservation() const;

  Ps now() const { return now_; }
  const NetworkConfig &network() const { return net_; }
  const ScenarioConfig &scenario() const { return scenario_; }
  const std::vector<Sender> &senders() const { return senders_; }
  const std::vector<Receiver> &receivers() const { return receivers_; }
  const Fabric &fabric() const { return fabric_; }
  const Counters &counters() const { return counters_; }
  const Window &window() const { return window_; }
  const Engines *engines() const { return engines_.get(); } // none: a decision waits for nothing
  const std::vector<Asked> &batch() const { return batch_; }
  Records &records() { return records_; }
  Records &batch_records() { return asked_records_; }
  bool recording = false;

  double rate_of(std::uint32_t flow) const;  // in force now, 0 for a flow that is not there
  Ps base_latency(std::uint32_t flow) const; // of a full data packet that waits nowhere
  std::size_t bytes_per_flow() const;        // of the simulator's own state, the policy's apart

private:
  static constexpr std::uint32_t kPending = 0, kControl = 1;

  void begin_flow(Ps now, std::uint32_t flow);
  void end_flow(Ps now, std::uint32_t flow);
  void on_start(Ps now);
  void on_nic(Ps now, std::uint32_t host);
  void on_uplink(Ps now, std::uint32_t host);
  void on_transmitted(Ps now, std::uint32_t port);
  void on_link(Ps now, std::uint32_t port);
  void on_control(Ps now, std::uint32_t way);
  void on_pause(Ps now);
  void on_pending(Ps now);
  void on_ack(Ps now, const Control &ack);
  void on_nack(Ps now, std::uint32_t flow, std::uint32_t psn);
  void on_response(Ps now, std::uint32_t flow, std::uint32_t serial);
  void on_engine_event(Ps now, std::uint32_t flow, const Event &event);
  void on_served(Ps now);
  void serve(Ps now, std::uint32_t flow);
  void set_served();
  void apply_rate(Ps now, std::uint32_t flow, double rate);
  void steer(std::uint32_t flow, const Pace &pace, bool was_blocked);
  void share_soon(Ps now);
  void share_ideally(Ps now);
  void forward(Ps now, std::uint32_t port, Ingress from, Packet &packet);
  void transmit(Ps now, std::uint32_t port);
  void tell(Ps now, Ingress from, bool on);
  void deliver(Ps now, const Packet &packet);
  void send_control(Ps now, std::uint32_t flow, ControlKind kind, std::uint32_t value);
  void send_ack(Ps now, const Packet &packet, std::uint32_t expected);
  void push_control(Control control);
  Ps short_packet_saves(const Packet &packet) const;
  void push_pending(const PendingRate &pending);
  void schedule(Sender &sender);
  void schedule_nic(std::uint32_t host);
  std::uint32_t window_packets(double window) const;
  void long_flow_rate(Ps now, double rate);
  Ps pace_gap(const Sender &sender) const;
  Ps next_send(std::uint32_t flow, const Sender &sender, Ps begin);
  Ps alone(std::uint32_t flow) const;
  std::uint32_t timestamp(Ps time) const { return static_cast<std::uint32_t>(time / kPsPerNs) + timestamp_offset_; }

  NetworkConfig net_;
  ScenarioConfig scenario_;
  Ps uplink_delay_;
  Policy *policy_;
  Baseline *baseline_;
  bool max_min_;
  bool timed_;  // the baseline's rates change with time alone
  bool probes_; // flows send RTT probes
  double initial_rate_;
  Ps data_ps_, probe_ps_;
  std::uint32_t starts_stream_, pauses_stream_, transmitters_, links_, uplinks_, nics_first_;
  std::uint32_t timestamp_offset_ = 0;
  Ps now_ = 0;
  Ps limit_ = 0;

  EventTree events_;
  using Start = std::pair<Ps, std::uint32_t>;
  std::priority_queue<Start, std::vector<Start>, std::greater<Start>> starts_;
  std::vector<Ps> started_at_;
  std::vector<Sender> senders_;
  std::vector<Receiver> receivers_;
  std::vector<Route> routes_;
  std::vector<Nic> nics_;
  Fabric fabric_;
  std::vector<Ring<Control>> control_; // of each way back
  Ring<PendingRate> pending_{64};
  std::unique_ptr<Engines> engines_;
  std::priority_queue<Pause, std::vector<Pause>, std::greater<Pause>> pauses_;
  std::uint64_t told_pauses_ = 0;
  std::vector<Ps> link_delay_;   // of hosts' uplinks, then of ports
  std::vector<Ps> paused_since_; // of each link and class

  std::vector<Asked> batch_;
  Records asked_records_;
  Records records_;
  Counters counters_;
  Window window_;
  Recovery recovery_;
};

} // namespace netsim
