// netsim._core: the simulator as Python sees it. Runs release the GIL and look for Ctrl-C between slices.
#include "bindings.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "check.hpp"
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

Cohort &cohort_of(const Simulator &sim, std::uint32_t cohort) {
  if (cohort >= sim.cohorts().size())
    throw std::invalid_argument("there is no such cohort");
  return *sim.cohorts()[cohort];
}

void answer(Simulator &sim, std::uint32_t number, const ReadOnly<std::uint32_t> &knobs,
            const ReadOnly<std::int32_t> &action) {
  Cohort &cohort = cohort_of(sim, number);
  const std::size_t asked = cohort.batch_size();
  if (knobs.size() != asked * cohort.shape().knobs || action.size() != asked)
    throw std::invalid_argument("the answer has another size than the batch");
  cohort.answer(knobs.data(), action.data());
}

nb::dict counts(const Counters &now, const Counters &begin) {
  nb::dict d;
  add_growth<Counters>(d, now, begin,
                       {{"data_sent", &Counters::data_sent},
                        {"data_arrived", &Counters::data_arrived},
                        {"data_in_order", &Counters::data_in_order},
                        {"data_dropped", &Counters::data_dropped},
                        {"trimmed", &Counters::trimmed},
                        {"probes_sent", &Counters::probes_sent},
                        {"probes_arrived", &Counters::probes_arrived},
                        {"probes_dropped", &Counters::probes_dropped},
                        {"marked", &Counters::marked},
                        {"acks", &Counters::acks},
                        {"nacks", &Counters::nacks},
                        {"cnps", &Counters::cnps},
                        {"timeouts", &Counters::timeouts},
                        {"wait_ps", &Counters::wait_ps},
                        {"latency_ps", &Counters::latency_ps},
                        {"rtts", &Counters::rtts},
                        {"rtt_ns", &Counters::rtt_ns}});
  return d;
}

Named window(const Simulator &sim) {
  const Network &n = sim.network();
  const Window &w = n.window;
  const std::vector<Port> &ports = n.fabric.ports();
  nb::dict d;
  d["begin_ps"] = w.begin;
  d["end_ps"] = sim.now();
  nb::dict counted = counts(n.counters, w.at_begin);
  std::uint64_t decisions = 0; // of the flows
  for (std::size_t c = 0; c < n.net.ends.size(); ++c)
    decisions += sim.cohorts()[c]->decisions - sim.cohorts()[c]->decisions_at_begin;
  counted["decisions"] = decisions;
  d["counts"] = counted;
  add_growth<Counters>(d, n.counters, w.at_begin,
                       {{"pfc_pauses", &Counters::pauses}, {"pfc_paused_ps", &Counters::paused_ps}});
  d["delivered_packets"] =
      column(w.expected_psn.size(), [&](std::size_t f) { return n.receivers[f].expected_psn - w.expected_psn[f]; });
  d["sent_packets"] = column(w.sent.size(), [&](std::size_t f) { return n.senders[f].sent_total - w.sent[f]; });
  d["port_received_bytes"] =
      column(ports.size(), [&](std::size_t p) { return ports[p].received_bytes - w.received_bytes[p]; });
  d["port_marked"] = column(ports.size(), [&](std::size_t p) { return ports[p].marked - w.marked[p]; });
  d["port_dropped"] = column(ports.size(), [&](std::size_t p) { return ports[p].dropped - w.dropped[p]; });
  d["port_queue_max_bytes"] =
      column(ports.size(), [&](std::size_t p) { return ports[p].longest / ports[p].ps_per_byte; });
  const std::uint64_t arrived = n.counters.data_arrived - w.at_begin.data_arrived;
  const std::uint64_t latency = n.counters.latency_ps - w.at_begin.latency_ps;
  const std::uint64_t wait = n.counters.wait_ps - w.at_begin.wait_ps;
  d["latency_base_ps"] = arrived == 0 ? 0.0 : static_cast<double>(latency - wait) / static_cast<double>(arrived);
  d["latency_quantiles_ps"] = quantiles(w.latency);
  nb::list shares;
  for (const Share &share : n.shares) {
    nb::dict s;
    s["sent"] = share.sent;
    s["arrived"] = share.arrived;
    s["dropped"] = share.dropped;
    s["latency_ps"] = share.latency_ps;
    s["latency_quantiles_ps"] = quantiles(share.latency);
    shares.append(s);
  }
  d["shares"] = shares;
  if (!n.shares.empty())
    d["flow_cohort"] = column(n.receivers.size(), [&](std::size_t f) { return std::uint32_t{n.receivers[f].cohort}; });
  d["completed_flow"] = take(std::vector<std::uint32_t>(w.completions.flow));
  d["completed_start_ps"] = take(std::vector<std::int64_t>(w.completions.start));
  d["completed_finish_ps"] = take(std::vector<std::int64_t>(w.completions.finish));
  d["completed_alone_ps"] = take(std::vector<std::int64_t>(w.completions.alone));
  d["round_job"] = take(std::vector<std::uint32_t>(w.rounds.job));
  d["round_start_ps"] = take(std::vector<std::int64_t>(w.rounds.start));
  d["round_finish_ps"] = take(std::vector<std::int64_t>(w.rounds.finish));
  d["recovery_us"] = take(std::vector<double>(w.recovery_us));
  // Of the first cohort whose decisions wait for engines: the flows', or one beside them.
  const auto waits = std::find_if(sim.cohorts().begin(), sim.cohorts().end(),
                                  [](const auto &cohort) { return cohort->engines() != nullptr; });
  d["engines"] = waits == sim.cohorts().end() ? std::nullopt : engine_window(**waits, sim.now());
  return d;
}

Named conservation(const Simulator &sim) {
  const Conservation c = sim.conservation();
  nb::dict d;
  d["sent"] = c.sent;
  d["arrived"] = c.arrived;
  d["dropped"] = c.dropped;
  d["headers_arrived"] = c.headers_arrived;
  d["on_uplinks"] = c.on_uplinks;
  d["at_ports"] = c.at_ports;
  d["holds"] = c.holds();
  return d;
}

Column<double> rates(const Simulator &sim) {
  return column(sim.network().senders.size(),
                [&](std::size_t f) { return sim.rate_of(static_cast<std::uint32_t>(f)); });
}

// Every port now: its queue, and totals since the start.
Named ports(const Simulator &sim) {
  const std::vector<Port> &ports = sim.network().fabric.ports();
  nb::dict d;
  d["backlog_bytes"] =
      column(ports.size(), [&](std::size_t p) { return ports[p].backlog(sim.now()) / ports[p].ps_per_byte; });
  d["sent_bytes"] = column(ports.size(), [&](std::size_t p) { return ports[p].received_bytes; });
  d["marked"] = column(ports.size(), [&](std::size_t p) { return ports[p].marked; });
  d["dropped"] = column(ports.size(), [&](std::size_t p) { return ports[p].dropped; });
  return d;
}

// When each flow began the last time, -1: never.
Column<std::int64_t> started(const Simulator &sim) {
  return column(sim.network().senders.size(), [&](std::size_t f) { return sim.workload().started_at(f); });
}

// Packets of each flow that reached its receiver in order, since the start.
Column<std::uint32_t> delivered(const Simulator &sim) {
  const std::vector<Receiver> &receivers = sim.network().receivers;
  return column(receivers.size(), [&](std::size_t f) { return receivers[f].expected_psn; });
}

void build(Simulator *self, const NetworkConfig &net, const FabricConfig &fabric, const ScenarioConfig &scenario,
           const std::vector<const CohortSpec *> &cohorts, const std::vector<WireSpec> &wires, std::uint64_t seed) {
  const std::size_t at_flows = net.ends.size();
  if (cohorts.size() < at_flows || cohorts.size() > 71)
    throw std::invalid_argument("1 to 8 cohorts at the flows are possible, and 63 beside them");
  for (std::size_t c = 0; c < cohorts.size(); ++c) {
    if (cohorts[c]->kind->at_flows != (c < at_flows))
      throw std::invalid_argument("the first cohorts are those at the flows");
    if (c < at_flows && at_flows > 1 && (cohorts[c]->steering.ideal || net.device_limit < 1))
      throw std::invalid_argument(
          "the ideal shares its network with nobody, and nobody is limited where there are several");
  }
  if (scenario.flows.empty() ||
      3 + 2 * cohorts.size() + scenario.control_delays.size() + 2 * fabric.ports.size() + 2 * scenario.hosts > 65536)
    throw std::invalid_argument("too many hosts and ports, or no flows");
  if (fabric.uplink_node.size() != scenario.hosts || scenario.receivers > fabric.ports.size())
    throw std::invalid_argument("every host needs an uplink and every receiver a port");
  for (const std::uint32_t node : fabric.uplink_node) {
    if (node >= fabric.switches)
      throw std::invalid_argument("an uplink ends at a switch that does not exist");
  }
  const RoutingConfig &routing = fabric.routing;
  const auto none = [&](const std::vector<std::uint32_t> &numbers, std::size_t end) {
    return std::any_of(numbers.begin(), numbers.end(), [&](std::uint32_t number) { return number >= end; });
  };
  for (const Ways &ways : routing.ways) {
    if (none(ways.ports, fabric.ports.size()) || none(ways.first, ways.ports.size() + 1) ||
        routing.leaf.size() != scenario.receivers || none(routing.leaf, routing.leaves))
      throw std::invalid_argument("ways lead by ports that exist to the receivers' leaves");
  }
  for (const LinkChange &change : routing.changes) {
    if (none(change.down, fabric.ports.size()) || none(change.up, fabric.ports.size()) || net.lossless)
      throw std::invalid_argument("links that fail exist, and lose what is on them");
  }
  for (const std::uint32_t port : scenario.routes) {
    if (port >= fabric.ports.size())
      throw std::invalid_argument("a route names a port that does not exist");
  }
  if (scenario.planes == 0 || scenario.hosts % scenario.planes != 0)
    throw std::invalid_argument("a machine has a NIC in every plane");
  if ((net.class_by == ClassBy::flow) != net.limits.empty())
    throw std::invalid_argument("limits say the classes of flows, where these do not");
  for (const FlowConfig &flow : scenario.flows) {
    if (flow.cohort >= at_flows)
      throw std::invalid_argument("a flow is steered by a cohort that does not exist");
    if (flow.klass >= net.classes.size())
      throw std::invalid_argument("a flow belongs to a class that the network does not have");
    const std::size_t first = std::size_t{flow.route} - flow.host % scenario.planes * flow.hops;
    const std::size_t end = std::size_t{flow.route} + flow.hops;
    if (first + std::size_t{scenario.planes} * flow.hops > scenario.routes.size())
      throw std::invalid_argument("a flow has no route in some plane");
    if (flow.hops == 0 || end > scenario.routes.size() || scenario.routes[end - 1] >= scenario.receivers)
      throw std::invalid_argument("a flow's route does not end at a receiver");
    if (flow.control >= scenario.control_delays.size() || scenario.control_delays[flow.control] < 1)
      throw std::invalid_argument("a flow has no way back that takes time");
  }
  if (net.lossless && fabric.uplink_delay < 1)
    throw std::invalid_argument("pauses take time on the uplinks of a lossless network");
  std::vector<CohortSpec> specs;
  for (const CohortSpec *cohort : cohorts)
    specs.push_back(*cohort);
  new (self) Simulator(net, fabric, scenario, specs, wires, seed);
}

} // namespace

NB_MODULE(_core, m) {
  bind_deciders(m);
  bind_baselines(m);
  bind_configs(m);
  bind_cohorts(m);

  nb::class_<Simulator>(m, "Simulator")
      .def("__init__", &build, "network"_a, "fabric"_a, "scenario"_a, "cohorts"_a, "wires"_a, "seed"_a,
           nb::keep_alive<1, 5>())
      .def("run", &run, "until_ps"_a)
      .def_prop_ro("now_ps", &Simulator::now)
      .def(
          "record", [](Simulator &sim, bool on, std::uint32_t cohort) { cohort_of(sim, cohort).recording = on; },
          "on"_a, "cohort"_a = 0)
      .def(
          "drain_records", [](Simulator &sim, std::uint32_t cohort) { return columns(cohort_of(sim, cohort).drain()); },
          "cohort"_a = 0)
      .def(
          "batch",
          [](Simulator &sim, std::uint32_t cohort) {
            Records copy = cohort_of(sim, cohort).batch(); // answer() needs its own
            return columns(std::move(copy));
          },
          "cohort"_a = 0)
      .def("answer", &answer, "cohort"_a, "knobs"_a, "action"_a)
      .def("reset_window", &Simulator::reset_window)
      .def("window", &window)
      .def("conservation", &conservation)
      .def(
          "engine_events",
          [](const Simulator &sim, std::uint32_t cohort) { return engine_events(cohort_of(sim, cohort), sim.now()); },
          "cohort"_a = 0)
      .def(
          "late_answers", [](const Simulator &sim, std::uint32_t cohort) { return cohort_of(sim, cohort).late; },
          "cohort"_a = 0)
      .def(
          "decisions", [](const Simulator &sim, std::uint32_t cohort) { return cohort_of(sim, cohort).decisions; },
          "cohort"_a = 0)
      .def("rates", &rates)
      .def("delivered", &delivered)
      .def("started_ps", &started)
      .def("ports", &ports)
      .def("set_red",
           [](Simulator &sim, std::uint32_t port, std::int64_t min, std::int64_t max, double probability) {
             if (port >= sim.network().fabric.ports().size())
               throw std::invalid_argument("there is no such port");
             sim.set_red(port, RedConfig{min, max, probability});
           })
      .def("set_red_of",
           [](Simulator &sim, std::uint32_t port, std::uint32_t klass, std::int64_t min, std::int64_t max,
              double probability) {
             if (port >= sim.network().fabric.ports().size() || klass >= sim.network().net.classes.size())
               throw std::invalid_argument("there is no such port or class");
             sim.set_red(port, klass, RedConfig{min, max, probability});
           })
      .def_prop_ro("bytes_per_flow", &Simulator::bytes_per_flow);
  m.attr("CHECKED") = kChecked;
}

} // namespace netsim
