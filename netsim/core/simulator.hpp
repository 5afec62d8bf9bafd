// The network and its event loop.
//
// Streams, in the order that breaks ties: decisions that take effect, the control path, flows that start, ports,
// uplinks, NICs. Each holds its events in time order; EventTree finds the first of all.
//
//   NIC --burst--> uplink --packet--> switch port --packet--> receiver --ACK/NACK/CNP/response--> sender, policy
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "config.hpp"
#include "event_tree.hpp"
#include "flow.hpp"
#include "nic.hpp"
#include "packet.hpp"
#include "policy.hpp"
#include "recorder.hpp"
#include "ring.hpp"
#include "switch.hpp"
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

enum class Stop { until, slice, batch };

class Simulator {
public:
  // `policy` null: decisions are made outside, in batches (initial_rate is then the rate of a new flow).
  Simulator(const NetworkConfig &net, const ScenarioConfig &scenario, Policy *policy, double initial_rate,
            std::uint64_t seed);

  // Process events before `until`; stops early after about `events` of them or when a batch is ready.
  Stop run(Ps until, std::uint64_t events);

  // Answer the pending batch, in its order.
  void answer(const double *rate, const std::int32_t *action_q16);

  void reset_window();
  Conservation conservation() const;

  Ps now() const { return now_; }
  const NetworkConfig &network() const { return net_; }
  const ScenarioConfig &scenario() const { return scenario_; }
  const std::vector<Sender> &senders() const { return senders_; }
  const std::vector<Receiver> &receivers() const { return receivers_; }
  const Switch &the_switch() const { return switch_; }
  const Counters &counters() const { return counters_; }
  const Window &window() const { return window_; }
  const std::vector<Asked> &batch() const { return batch_; }
  Records &records() { return records_; }
  Records &batch_records() { return asked_records_; }
  bool recording = false;

  Ps one_way_base() const; // of a data packet that waits nowhere

private:
  static constexpr std::uint32_t kPending = 0, kControl = 1, kStarts = 2, kPorts = 3;

  void begin_flow(Ps now, std::uint32_t flow);
  void end_flow(Ps now, std::uint32_t flow);
  void on_start(Ps now);
  void on_nic(Ps now, std::uint32_t host);
  void on_uplink(Ps now, std::uint32_t host);
  void on_port(Ps now, std::uint32_t port);
  void on_control(Ps now);
  void on_pending(Ps now);
  void on_ack(Ps now, std::uint32_t flow, std::uint32_t psn);
  void on_nack(Ps now, std::uint32_t flow, std::uint32_t psn);
  void on_response(Ps now, std::uint32_t flow, std::uint32_t serial);
  void apply_rate(Ps now, std::uint32_t flow, double rate);
  void deliver(Ps now, const Packet &packet);
  void send_control(Ps now, std::uint32_t flow, ControlKind kind, std::uint32_t value);
  void schedule(Sender &sender);
  void schedule_nic(std::uint32_t host);
  void long_flow_rate(Ps now, double rate);
  Ps pace_gap(const Sender &sender) const;
  std::uint32_t timestamp(Ps time) const { return static_cast<std::uint32_t>(time / kPsPerNs) + timestamp_offset_; }

  NetworkConfig net_;
  ScenarioConfig scenario_;
  Policy *policy_;
  double initial_rate_;
  Ps data_ps_, probe_ps_;
  std::uint32_t uplinks_, nics_first_;
  std::uint32_t timestamp_offset_ = 0;
  Ps now_ = 0;
  Ps limit_ = 0;

  EventTree events_;
  EventTree starts_;
  std::vector<Ps> next_start_;
  std::vector<Ps> started_at_;
  std::vector<Sender> senders_;
  std::vector<Receiver> receivers_;
  std::vector<Nic> nics_;
  Switch switch_;
  Ring<Control> control_{4096};
  Ring<PendingRate> pending_{4096};

  std::vector<Asked> batch_;
  Records asked_records_;
  Records records_;
  Counters counters_;
  Window window_;
  Recovery recovery_;
};

} // namespace netsim
