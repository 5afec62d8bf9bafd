// netsim._core: the simulator as Python sees it. Runs release the GIL and look for Ctrl-C between slices.
#include "bindings.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "simulator.hpp"

namespace netsim {

using namespace nb::literals;

namespace {

constexpr std::uint64_t kSlice = 1 << 18; // events between two looks for signals: some 30 ms

// True where all is done up to `until`, false where a batch of decisions is ready.
bool run(Simulator &sim, Ps until) {
  for (;;) {
    Stop stop;
    {
      nb::gil_scoped_release release;
      stop = sim.run(until, kSlice);
    }
    if (stop != Stop::slice)
      return stop == Stop::until;
    if (PyErr_CheckSignals() != 0)
      throw nb::python_error();
  }
}

nb::dict columns(Records &&r) {
  nb::dict d;
  d["t_ps"] = take(std::move(r.t_ps));
  d["flow"] = take(std::move(r.flow));
  d["step"] = take(std::move(r.step));
  d["request_sent_ns"] = take(std::move(r.request_sent_ns));
  d["response_ns"] = take(std::move(r.response_ns));
  d["cnp_count"] = take(std::move(r.cnp_count));
  d["nack_count"] = take(std::move(r.nack_count));
  d["sent_bytes"] = take(std::move(r.sent_bytes));
  d["queue_bytes"] = take(std::move(r.queue_bytes));
  d["rate_q30"] = take(std::move(r.rate_q30));
  d["action_q16"] = take(std::move(r.action_q16));
  d["output"] = take(std::move(r.output));
  return d;
}

nb::dict drain_records(Simulator &sim) {
  Records drained;
  std::swap(drained, sim.records());
  return columns(std::move(drained));
}

void answer(Simulator &sim, const ReadOnly<double> &rate, const ReadOnly<std::int32_t> &action) {
  if (rate.size() != sim.batch().size() || action.size() != sim.batch().size()) {
    throw std::invalid_argument("the answer has another size than the batch");
  }
  sim.answer(rate.data(), action.data());
}

nb::dict counts(const Counters &now, const Counters &begin) {
  nb::dict d;
  const auto add = [&](const char *name, std::uint64_t Counters::*counter) { d[name] = now.*counter - begin.*counter; };
  add("data_sent", &Counters::data_sent);
  add("data_arrived", &Counters::data_arrived);
  add("data_in_order", &Counters::data_in_order);
  add("data_dropped", &Counters::data_dropped);
  add("probes_sent", &Counters::probes_sent);
  add("probes_arrived", &Counters::probes_arrived);
  add("probes_dropped", &Counters::probes_dropped);
  add("marked", &Counters::marked);
  add("acks", &Counters::acks);
  add("nacks", &Counters::nacks);
  add("cnps", &Counters::cnps);
  add("timeouts", &Counters::timeouts);
  add("decisions", &Counters::decisions);
  add("wait_ps", &Counters::wait_ps);
  add("rtt_ns", &Counters::rtt_ns);
  return d;
}

nb::dict window(const Simulator &sim) {
  const Window &w = sim.window();
  nb::dict d;
  d["begin_ps"] = w.begin;
  d["end_ps"] = sim.now();
  d["counts"] = counts(sim.counters(), w.at_begin);
  std::vector<std::uint32_t> delivered(w.expected_psn.size());
  std::vector<std::uint64_t> sent(w.sent.size());
  for (std::size_t f = 0; f < delivered.size(); ++f) {
    delivered[f] = sim.receivers()[f].expected_psn - w.expected_psn[f];
    sent[f] = sim.senders()[f].sent_total - w.sent[f];
  }
  d["delivered_packets"] = take(std::move(delivered));
  d["sent_packets"] = take(std::move(sent));
  std::vector<std::uint64_t> received;
  std::vector<std::int64_t> longest;
  for (std::size_t p = 0; p < w.received_bytes.size(); ++p) {
    const Port &port = sim.the_switch().ports()[p];
    received.push_back(port.received_bytes - w.received_bytes[p]);
    longest.push_back(port.longest / sim.network().ps_per_byte);
  }
  d["port_received_bytes"] = take(std::move(received));
  d["port_queue_max_bytes"] = take(std::move(longest));
  d["latency_base_ps"] = sim.one_way_base();
  nb::list quantiles;
  for (const double q : {0.5, 0.99, 0.999})
    quantiles.append(w.latency.quantile(q));
  d["latency_quantiles_ps"] = quantiles;
  d["completion_normalised"] = take(std::vector<double>(w.completion_normalised));
  d["recovery_us"] = take(std::vector<double>(w.recovery_us));
  return d;
}

nb::dict conservation(const Simulator &sim) {
  const Conservation c = sim.conservation();
  nb::dict d;
  d["sent"] = c.sent;
  d["arrived"] = c.arrived;
  d["dropped"] = c.dropped;
  d["on_uplinks"] = c.on_uplinks;
  d["at_ports"] = c.at_ports;
  d["holds"] = c.holds();
  return d;
}

Column<double> rates(const Simulator &sim) {
  std::vector<double> all;
  for (const Sender &s : sim.senders())
    all.push_back(s.active ? s.rate : 0.0);
  return take(std::move(all));
}

void set_flows(ScenarioConfig &s, const ReadOnly<std::uint32_t> &host, const ReadOnly<std::uint32_t> &port,
               const ReadOnly<std::uint32_t> &packets, const ReadOnly<std::int64_t> &start,
               const ReadOnly<std::int64_t> &period) {
  const std::size_t n = host.size();
  if (n == 0 || n > 65536 || port.size() != n || packets.size() != n || start.size() != n || period.size() != n) {
    throw std::invalid_argument("a scenario has 1 to 65536 flows, described by columns of one length");
  }
  s.flows.clear();
  for (std::size_t f = 0; f < n; ++f) {
    if (host(f) >= s.hosts || port(f) >= s.ports || (f > 0 && host(f) < host(f - 1)) || start(f) < 0 || period(f) < 0 ||
        (packets(f) == 0 && period(f) > 0)) {
      throw std::invalid_argument("flows must be grouped by host and name hosts and ports that exist");
    }
    s.flows.push_back(FlowConfig{host(f), port(f), packets(f), start(f), period(f)});
  }
}

} // namespace

NB_MODULE(_core, m) {
  bind_policies(m);

  nb::class_<NetworkConfig>(m, "NetworkConfig")
      .def(nb::init<>())
      .def_rw("ps_per_byte", &NetworkConfig::ps_per_byte)
      .def_rw("payload_bytes", &NetworkConfig::payload_bytes)
      .def_rw("data_wire_bytes", &NetworkConfig::data_wire_bytes)
      .def_rw("probe_wire_bytes", &NetworkConfig::probe_wire_bytes)
      .def_rw("uplink_delay_ps", &NetworkConfig::uplink_delay)
      .def_rw("downlink_delay_ps", &NetworkConfig::downlink_delay)
      .def_rw("control_delay_ps", &NetworkConfig::control_delay)
      .def_rw("buffer_bytes", &NetworkConfig::buffer_bytes)
      .def_rw("ecn_min_bytes", &NetworkConfig::ecn_min_bytes)
      .def_rw("ecn_max_bytes", &NetworkConfig::ecn_max_bytes)
      .def_rw("ecn_max_probability", &NetworkConfig::ecn_max_probability)
      .def_rw("cnp_interval_ps", &NetworkConfig::cnp_interval)
      .def_rw("burst_packets", &NetworkConfig::burst_packets)
      .def_rw("message_packets", &NetworkConfig::message_packets)
      .def_rw("inflight_packets", &NetworkConfig::inflight_packets)
      .def_rw("probe_gap_ps", &NetworkConfig::probe_gap)
      .def_rw("probe_timeout_ps", &NetworkConfig::probe_timeout)
      .def_rw("retransmit_timeout_ps", &NetworkConfig::retransmit_timeout)
      .def_rw("start_jitter_ps", &NetworkConfig::start_jitter)
      .def_rw("decision_latency_ps", &NetworkConfig::decision_latency);
  nb::class_<ScenarioConfig>(m, "ScenarioConfig")
      .def(nb::init<>())
      .def_rw("hosts", &ScenarioConfig::hosts)
      .def_rw("ports", &ScenarioConfig::ports)
      .def_rw("long_flow", &ScenarioConfig::long_flow)
      .def_rw("recovered_rate", &ScenarioConfig::recovered_rate)
      .def("set_flows", &set_flows, "host"_a, "port"_a, "packets"_a, "start_ps"_a, "period_ps"_a);

  nb::class_<Simulator>(m, "Simulator")
      .def(
          "__init__",
          [](Simulator *self, const NetworkConfig &net, const ScenarioConfig &scenario, Policy *policy,
             double initial_rate, std::uint64_t seed) {
            if (scenario.flows.empty() || 3 + scenario.ports + 2 * scenario.hosts > 65536) {
              throw std::invalid_argument("too many hosts and ports, or no flows");
            }
            new (self) Simulator(net, scenario, policy, initial_rate, seed);
          },
          "network"_a, "scenario"_a, nb::arg("policy").none(), "initial_rate"_a, "seed"_a, nb::keep_alive<1, 4>())
      .def("run", &run, "until_ps"_a)
      .def_prop_ro("now_ps", &Simulator::now)
      .def_rw("recording", &Simulator::recording)
      .def("drain_records", &drain_records)
      .def("batch",
           [](Simulator &sim) {
             Records copy = sim.batch_records(); // answer() needs its own
             return columns(std::move(copy));
           })
      .def("answer", &answer, "rate"_a, "action_q16"_a)
      .def("reset_window", &Simulator::reset_window)
      .def("window", &window)
      .def("conservation", &conservation)
      .def("rates", &rates);
}

} // namespace netsim
