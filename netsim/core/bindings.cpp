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
  add("latency_ps", &Counters::latency_ps);
  add("rtts", &Counters::rtts);
  add("rtt_ns", &Counters::rtt_ns);
  return d;
}

nb::list quantiles(const Histogram &histogram) {
  nb::list found;
  for (const double q : {0.5, 0.99, 0.999})
    found.append(histogram.quantile(q));
  return found;
}

// Of the window; None where decisions wait for no engine.
nb::object engine_window(const Simulator &sim) {
  if (sim.engines() == nullptr)
    return nb::none();
  const Engines &engines = *sim.engines();
  const EngineWindow &w = engines.window();
  const EngineCounters now = engines.totals(sim.now());
  nb::dict d;
  const auto add = [&](const char *name, std::uint64_t EngineCounters::*c) { d[name] = now.*c - w.at_begin.*c; };
  add("events", &EngineCounters::events);
  add("decided", &EngineCounters::decided);
  add("dropped", &EngineCounters::dropped);
  add("coalesced", &EngineCounters::coalesced);
  add("expired", &EngineCounters::expired);
  add("applied", &EngineCounters::applied);
  add("wait_ps", &EngineCounters::wait_ps);
  add("latency_ps", &EngineCounters::latency_ps);
  add("service_ps", &EngineCounters::service_ps);
  add("queue_ps", &EngineCounters::queue_ps);
  d["wait_quantiles_ps"] = quantiles(w.wait);
  d["wait_max_ps"] = w.wait_max;
  d["latency_quantiles_ps"] = quantiles(w.latency);
  d["latency_max_ps"] = w.latency_max;
  d["queue_max"] = w.queue_max;
  std::vector<std::uint64_t> busy, decided;
  for (std::uint32_t e = 0; e < w.busy_ps.size(); ++e) {
    busy.push_back(engines.busy(e, sim.now()) - w.busy_ps[e]);
    decided.push_back(engines.engine(e).decided - w.decided[e]);
  }
  d["engine_busy_ps"] = take(std::move(busy));
  d["engine_decided"] = take(std::move(decided));
  return d;
}

// Where every RTT event is, since the start; None where decisions wait for no engine.
nb::object engine_events(const Simulator &sim) {
  if (sim.engines() == nullptr)
    return nb::none();
  const EngineCounters now = sim.engines()->totals(sim.now());
  nb::dict d;
  d["events"] = now.events;
  d["decided"] = now.decided;
  d["dropped"] = now.dropped;
  d["coalesced"] = now.coalesced;
  d["expired"] = now.expired;
  d["waiting"] = sim.engines()->waiting();
  d["holds"] = sim.engines()->holds();
  return d;
}

nb::dict window(const Simulator &sim) {
  const Window &w = sim.window();
  nb::dict d;
  d["begin_ps"] = w.begin;
  d["end_ps"] = sim.now();
  d["counts"] = counts(sim.counters(), w.at_begin);
  d["pfc_pauses"] = sim.counters().pauses - w.at_begin.pauses;
  d["pfc_paused_ps"] = sim.counters().paused_ps - w.at_begin.paused_ps;
  std::vector<std::uint32_t> delivered(w.expected_psn.size());
  std::vector<std::uint64_t> sent(w.sent.size());
  for (std::size_t f = 0; f < delivered.size(); ++f) {
    delivered[f] = sim.receivers()[f].expected_psn - w.expected_psn[f];
    sent[f] = sim.senders()[f].sent_total - w.sent[f];
  }
  d["delivered_packets"] = take(std::move(delivered));
  d["sent_packets"] = take(std::move(sent));
  std::vector<std::uint64_t> received, marked, dropped;
  std::vector<std::int64_t> longest;
  for (std::size_t p = 0; p < w.received_bytes.size(); ++p) {
    const Port &port = sim.fabric().ports()[p];
    received.push_back(port.received_bytes - w.received_bytes[p]);
    marked.push_back(port.marked - w.marked[p]);
    dropped.push_back(port.dropped - w.dropped[p]);
    longest.push_back(port.longest / port.ps_per_byte);
  }
  d["port_received_bytes"] = take(std::move(received));
  d["port_marked"] = take(std::move(marked));
  d["port_dropped"] = take(std::move(dropped));
  d["port_queue_max_bytes"] = take(std::move(longest));
  const std::uint64_t arrived = sim.counters().data_arrived - w.at_begin.data_arrived;
  const std::uint64_t latency = sim.counters().latency_ps - w.at_begin.latency_ps;
  const std::uint64_t wait = sim.counters().wait_ps - w.at_begin.wait_ps;
  d["latency_base_ps"] = arrived == 0 ? 0.0 : static_cast<double>(latency - wait) / static_cast<double>(arrived);
  d["latency_quantiles_ps"] = quantiles(w.latency);
  d["completed_flow"] = take(std::vector<std::uint32_t>(w.completions.flow));
  d["completed_start_ps"] = take(std::vector<std::int64_t>(w.completions.start));
  d["completed_finish_ps"] = take(std::vector<std::int64_t>(w.completions.finish));
  d["completed_alone_ps"] = take(std::vector<std::int64_t>(w.completions.alone));
  d["recovery_us"] = take(std::vector<double>(w.recovery_us));
  d["engines"] = engine_window(sim);
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
  std::vector<double> all(sim.senders().size());
  for (std::size_t f = 0; f < all.size(); ++f)
    all[f] = sim.rate_of(static_cast<std::uint32_t>(f));
  return take(std::move(all));
}

// Every port now: its queue, and totals since the start.
nb::dict ports(const Simulator &sim) {
  std::vector<std::int64_t> backlog;
  std::vector<std::uint64_t> sent, marked, dropped;
  for (const Port &port : sim.fabric().ports()) {
    backlog.push_back(port.backlog(sim.now()) / port.ps_per_byte);
    sent.push_back(port.received_bytes);
    marked.push_back(port.marked);
    dropped.push_back(port.dropped);
  }
  nb::dict d;
  d["backlog_bytes"] = take(std::move(backlog));
  d["sent_bytes"] = take(std::move(sent));
  d["marked"] = take(std::move(marked));
  d["dropped"] = take(std::move(dropped));
  return d;
}

// Packets of each flow that reached its receiver in order, since the start.
Column<std::uint32_t> delivered(const Simulator &sim) {
  std::vector<std::uint32_t> all;
  for (const Receiver &r : sim.receivers())
    all.push_back(r.expected_psn);
  return take(std::move(all));
}

template <class T> void same_length(std::size_t n, const ReadOnly<T> &column) {
  if (column.size() != n)
    throw std::invalid_argument("columns of one length are needed");
}

void set_flows(ScenarioConfig &s, const ReadOnly<std::uint32_t> &host, const ReadOnly<std::uint32_t> &packets,
               const ReadOnly<std::uint32_t> &last_wire_bytes, const ReadOnly<std::int64_t> &start,
               const ReadOnly<std::int64_t> &period, const ReadOnly<std::uint32_t> &klass,
               const ReadOnly<std::uint32_t> &control, const ReadOnly<std::uint32_t> &offset) {
  const std::size_t n = host.size();
  if (n == 0)
    throw std::invalid_argument("a scenario needs a flow");
  for (const auto *column : {&packets, &last_wire_bytes, &klass, &control})
    same_length(n, *column);
  same_length(n, start);
  same_length(n, period);
  same_length(n + 1, offset);
  s.flows.clear();
  s.flows.reserve(n);
  for (std::size_t f = 0; f < n; ++f) {
    const std::uint32_t hops = offset(f + 1) - offset(f);
    if (host(f) >= s.hosts || (f > 0 && host(f) < host(f - 1)) || start(f) < 0 || period(f) < 0 ||
        (packets(f) == 0 && period(f) > 0) || last_wire_bytes(f) > 65535 || klass(f) >= kMaxClasses ||
        control(f) >= s.control_delays.size() || offset(f + 1) > s.routes.size() || hops < 1 || hops > kMaxHops)
      throw std::invalid_argument("flows must be grouped by host and name hosts, ways back and routes that exist");
    s.flows.push_back(FlowConfig{host(f), packets(f), start(f), period(f), offset(f), control(f),
                                 static_cast<std::uint16_t>(last_wire_bytes(f)), static_cast<std::uint8_t>(hops),
                                 static_cast<std::uint8_t>(klass(f))});
  }
}

void set_ports(FabricConfig &f, const ReadOnly<std::uint32_t> &node, const ReadOnly<std::int64_t> &ps_per_byte,
               const ReadOnly<std::int64_t> &delay, const ReadOnly<std::uint32_t> &next) {
  same_length(node.size(), ps_per_byte);
  same_length(node.size(), delay);
  same_length(node.size(), next);
  f.ports.clear();
  for (std::size_t p = 0; p < node.size(); ++p) {
    if (node(p) >= f.switches || next(p) >= f.switches || ps_per_byte(p) < 1 || delay(p) < 0)
      throw std::invalid_argument("ports must belong to switches that exist and take time");
    f.ports.push_back(PortConfig{node(p), ps_per_byte(p), delay(p), next(p)});
  }
}

void build(Simulator *self, const NetworkConfig &net, const FabricConfig &fabric, const ScenarioConfig &scenario,
           Policy *policy, Baseline *baseline, bool max_min, double initial_rate, std::uint64_t seed) {
  if (scenario.flows.empty() ||
      4 + scenario.control_delays.size() + 2 * fabric.ports.size() + 2 * scenario.hosts > 65536)
    throw std::invalid_argument("too many hosts and ports, or no flows");
  if (fabric.uplink_node.size() != scenario.hosts || scenario.receivers > fabric.ports.size())
    throw std::invalid_argument("every host needs an uplink and every receiver a port");
  for (const std::uint32_t node : fabric.uplink_node) {
    if (node >= fabric.switches)
      throw std::invalid_argument("an uplink ends at a switch that does not exist");
  }
  for (const std::uint32_t port : scenario.routes) {
    if (port >= fabric.ports.size())
      throw std::invalid_argument("a route names a port that does not exist");
  }
  for (const FlowConfig &flow : scenario.flows) {
    if (flow.klass >= net.classes.size())
      throw std::invalid_argument("a flow belongs to a class that the network does not have");
  }
  new (self) Simulator(net, fabric, scenario, Steering{policy, baseline, max_min, initial_rate}, seed);
}

} // namespace

NB_MODULE(_core, m) {
  bind_policies(m);
  bind_baselines(m);

  nb::enum_<Overload>(m, "Overload")
      .value("wait", Overload::wait)
      .value("drop", Overload::drop)
      .value("coalesce", Overload::coalesce);
  nb::class_<NetworkConfig>(m, "NetworkConfig")
      .def(nb::init<>())
      .def_rw("ps_per_byte", &NetworkConfig::ps_per_byte)
      .def_rw("payload_bytes", &NetworkConfig::payload_bytes)
      .def_rw("data_wire_bytes", &NetworkConfig::data_wire_bytes)
      .def_rw("probe_wire_bytes", &NetworkConfig::probe_wire_bytes)
      .def_rw("cnp_interval_ps", &NetworkConfig::cnp_interval)
      .def_rw("burst_packets", &NetworkConfig::burst_packets)
      .def_rw("message_packets", &NetworkConfig::message_packets)
      .def_rw("inflight_packets", &NetworkConfig::inflight_packets)
      .def_rw("ack_each_packet", &NetworkConfig::ack_each_packet)
      .def_rw("send_cnps", &NetworkConfig::send_cnps)
      .def_rw("probe_gap_ps", &NetworkConfig::probe_gap)
      .def_rw("probe_timeout_ps", &NetworkConfig::probe_timeout)
      .def_rw("retransmit_timeout_ps", &NetworkConfig::retransmit_timeout)
      .def_rw("start_jitter_ps", &NetworkConfig::start_jitter)
      .def_rw("decision_latency_ps", &NetworkConfig::decision_latency)
      .def_rw("buffer_bytes", &NetworkConfig::buffer_bytes)
      .def_rw("dynamic_threshold", &NetworkConfig::dynamic_threshold)
      .def_rw("mark_at_dequeue", &NetworkConfig::mark_at_dequeue)
      .def_rw("telemetry", &NetworkConfig::telemetry)
      .def_rw("queue_in_probes", &NetworkConfig::queue_in_probes)
      .def_rw("lossless", &NetworkConfig::lossless)
      .def_rw("pfc_headroom_bytes", &NetworkConfig::pfc_headroom_bytes)
      .def_rw("pfc_reserve_bytes", &NetworkConfig::pfc_reserve_bytes)
      .def_rw("pfc_resume_bytes", &NetworkConfig::pfc_resume_bytes)
      .def_rw("scheduled_ports", &NetworkConfig::scheduled_ports)
      .def(
          "set_engines",
          [](NetworkConfig &n, std::uint32_t of_nic, std::uint32_t depth, Overload overload) {
            n.engines = EngineConfig{of_nic, depth, overload};
          },
          "of_nic"_a, "depth"_a, "overload"_a)
      .def("set_red", [](NetworkConfig &n, std::int64_t min, std::int64_t max,
                         double probability) { n.red = RedConfig{min, max, probability}; })
      .def("set_classes", [](NetworkConfig &n, const std::vector<std::uint32_t> &weights) {
        if (weights.empty() || weights.size() > kMaxClasses)
          throw std::invalid_argument("1 to 8 classes are possible");
        n.classes.clear();
        for (const std::uint32_t weight : weights)
          n.classes.push_back(ClassConfig{weight});
      });
  nb::class_<FabricConfig>(m, "FabricConfig")
      .def(nb::init<>())
      .def_rw("switches", &FabricConfig::switches)
      .def_rw("uplink_delay_ps", &FabricConfig::uplink_delay)
      .def("set_uplinks", [](FabricConfig &f, const ReadOnly<std::uint32_t> &node) { f.uplink_node = copy_of(node); })
      .def("set_ports", &set_ports, "node"_a, "ps_per_byte"_a, "delay_ps"_a, "next"_a);
  nb::class_<ScenarioConfig>(m, "ScenarioConfig")
      .def(nb::init<>())
      .def_rw("hosts", &ScenarioConfig::hosts)
      .def_rw("receivers", &ScenarioConfig::receivers)
      .def_rw("long_flow", &ScenarioConfig::long_flow)
      .def_rw("recovered_rate", &ScenarioConfig::recovered_rate)
      .def("set_ways_back",
           [](ScenarioConfig &s, const ReadOnly<std::int64_t> &delays) { s.control_delays = copy_of(delays); })
      .def("set_routes", [](ScenarioConfig &s, const ReadOnly<std::uint32_t> &ports) { s.routes = copy_of(ports); })
      .def("set_flows", &set_flows, "host"_a, "packets"_a, "last_wire_bytes"_a, "start_ps"_a, "period_ps"_a, "klass"_a,
           "way_back"_a, "route_offset"_a);

  nb::class_<Simulator>(m, "Simulator")
      .def("__init__", &build, "network"_a, "fabric"_a, "scenario"_a, nb::arg("policy").none(),
           nb::arg("baseline").none(), "max_min"_a, "initial_rate"_a, "seed"_a, nb::keep_alive<1, 5>(),
           nb::keep_alive<1, 6>())
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
      .def("engine_events", &engine_events)
      .def("rates", &rates)
      .def("delivered", &delivered)
      .def("ports", &ports)
      .def("set_red",
           [](Simulator &sim, std::uint32_t port, std::int64_t min, std::int64_t max, double probability) {
             if (port >= sim.fabric().ports().size())
               throw std::invalid_argument("there is no such port");
             sim.set_red(port, RedConfig{min, max, probability});
           })
      .def_prop_ro("bytes_per_flow", &Simulator::bytes_per_flow);
  m.attr("CHECKED") = kChecked;
}

} // namespace netsim
