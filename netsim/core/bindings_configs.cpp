// What a network and its scenario are described by.
#include "bindings.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "baseline.hpp"
#include "config.hpp"

namespace netsim {

using namespace nb::literals;

namespace {

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
    const std::uint32_t hops = (offset(f + 1) - offset(f)) / s.planes;
    if (host(f) >= s.hosts || (f > 0 && host(f) < host(f - 1)) || start(f) < 0 || period(f) < 0 ||
        (packets(f) == 0 && period(f) > 0) || last_wire_bytes(f) > 65535 || klass(f) >= kMaxClasses ||
        control(f) >= s.control_delays.size() || offset(f + 1) > s.routes.size() || hops < 1 || hops > kMaxHops)
      throw std::invalid_argument("flows must be grouped by host and name hosts, ways back and routes that exist");
    s.flows.push_back(FlowConfig{host(f), packets(f), start(f), period(f), offset(f) + host(f) % s.planes * hops,
                                 control(f), static_cast<std::uint16_t>(last_wire_bytes(f)),
                                 static_cast<std::uint8_t>(hops), static_cast<std::uint8_t>(klass(f))});
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

} // namespace

void bind_configs(nb::module_ &m) {
  nb::enum_<ClassBy>(m, "ClassBy")
      .value("flow", ClassBy::flow)
      .value("sent", ClassBy::sent)
      .value("size", ClassBy::size);
  nb::class_<Ends>(m, "Ends")
      .def(nb::init<>())
      .def_rw("burst_packets", &Ends::burst_packets)
      .def_rw("first_window_bytes", &Ends::first_window)
      .def_rw("ack_each_packet", &Ends::ack_each_packet)
      .def_rw("send_cnps", &Ends::send_cnps)
      .def_rw("selective_repeat", &Ends::selective_repeat)
      .def_rw("telemetry", &Ends::telemetry)
      .def_rw("cnp_interval_ps", &Ends::cnp_interval)
      .def_rw("probe_after_bytes", &Ends::probe_after)
      .def_rw("probe_latest_ps", &Ends::probe_latest)
      .def_rw("probe_first", &Ends::probe_first)
      .def_rw("probe_a_context", &Ends::probe_a_context);
  nb::class_<NetworkConfig>(m, "NetworkConfig")
      .def(nb::init<>())
      .def("set_ends",
           [](NetworkConfig &n, const std::vector<Ends> &ends) {
             if (ends.empty() || ends.size() > kMostAtFlows)
               throw std::invalid_argument("1 to 8 cohorts at the flows are possible");
             n.ends = ends;
           })
      .def_rw("ps_per_byte", &NetworkConfig::ps_per_byte)
      .def_rw("payload_bytes", &NetworkConfig::payload_bytes)
      .def_rw("data_wire_bytes", &NetworkConfig::data_wire_bytes)
      .def_rw("probe_wire_bytes", &NetworkConfig::probe_wire_bytes)
      .def_rw("message_packets", &NetworkConfig::message_packets)
      .def_rw("inflight_packets", &NetworkConfig::inflight_packets)
      .def_rw("probe_gap_ps", &NetworkConfig::probe_gap)
      .def_rw("probe_timeout_ps", &NetworkConfig::probe_timeout)
      .def_rw("retransmit_timeout_ps", &NetworkConfig::retransmit_timeout)
      .def_rw("reorder_packets", &NetworkConfig::reorder_packets)
      .def_rw("start_jitter_ps", &NetworkConfig::start_jitter)
      .def_rw("decision_loss", &NetworkConfig::decision_loss)
      .def_rw("decision_late", &NetworkConfig::decision_late)
      .def_rw("decision_late_by_ps", &NetworkConfig::decision_late_by)
      .def_rw("rtt_noise_ps", &NetworkConfig::rtt_noise)
      .def_rw("event_reorder", &NetworkConfig::event_reorder)
      .def_rw("event_reorder_by_ps", &NetworkConfig::event_reorder_by)
      .def_rw("context_flows", &NetworkConfig::context_flows)
      .def_rw("rate_scale", &NetworkConfig::rate_scale)
      .def_rw("rate_step_q30", &NetworkConfig::rate_step_q30)
      .def_rw("rate_least_q30", &NetworkConfig::rate_least_q30)
      .def_rw("device_limit", &NetworkConfig::device_limit)
      .def_rw("device_limit_from_ps", &NetworkConfig::device_limit_from)
      .def_rw("device_limit_for_ps", &NetworkConfig::device_limit_for)
      .def_rw("device_limit_every_ps", &NetworkConfig::device_limit_every)
      .def_rw("buffer_bytes", &NetworkConfig::buffer_bytes)
      .def_rw("dynamic_threshold", &NetworkConfig::dynamic_threshold)
      .def_rw("mark_at_dequeue", &NetworkConfig::mark_at_dequeue)
      .def_rw("queue_in_probes", &NetworkConfig::queue_in_probes)
      .def_rw("lossless", &NetworkConfig::lossless)
      .def_rw("pfc_headroom_bytes", &NetworkConfig::pfc_headroom_bytes)
      .def_rw("pfc_reserve_bytes", &NetworkConfig::pfc_reserve_bytes)
      .def_rw("pfc_resume_bytes", &NetworkConfig::pfc_resume_bytes)
      .def_rw("policer_ps_per_byte", &NetworkConfig::policer_ps_per_byte)
      .def_rw("policer_burst_bytes", &NetworkConfig::policer_burst_bytes)
      .def_rw("message_cost_ps", &NetworkConfig::message_cost)
      .def_rw("trim_bytes", &NetworkConfig::trim_bytes)
      .def_rw("scheduled_ports", &NetworkConfig::scheduled_ports)
      .def("set_red", [](NetworkConfig &n, std::int64_t min, std::int64_t max,
                         double probability) { n.red = RedConfig{min, max, probability}; })
      .def_rw("nic_priorities", &NetworkConfig::nic_priorities)
      .def_rw("class_by", &NetworkConfig::class_by)
      .def("set_limits",
           [](NetworkConfig &n, const std::vector<std::vector<std::uint32_t>> &limits) {
             for (const auto &row : limits) {
               if (row.size() != limits.front().size() || row.size() >= n.classes.size() ||
                   !std::is_sorted(row.begin(), row.end()))
                 throw std::invalid_argument("limits ascend, and are fewer than classes");
             }
             n.limits = limits;
           })
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
      .def("set_routing",
           [](FabricConfig &f, bool spray, std::uint32_t entropies, std::uint32_t leaves,
              const ReadOnly<std::uint32_t> &leaf) {
             f.routing = RoutingConfig{spray, entropies, leaves, copy_of(leaf), {}, {}};
           })
      .def("add_ways",
           [](FabricConfig &f, const ReadOnly<std::uint32_t> &first, const ReadOnly<std::uint32_t> &ports) {
             if (first.size() != std::size_t{f.switches} * f.routing.leaves + 1 ||
                 first(first.size() - 1) != ports.size())
               throw std::invalid_argument("every switch has its ways to every leaf");
             f.routing.ways.push_back(Ways{copy_of(first), copy_of(ports)});
           })
      .def("add_change",
           [](FabricConfig &f, Ps at, const std::vector<std::uint32_t> &down, const std::vector<std::uint32_t> &up,
              std::int32_t ways) {
             if (at < 0 || ways >= static_cast<std::int64_t>(f.routing.ways.size()) ||
                 (!f.routing.changes.empty() && at < f.routing.changes.back().at))
               throw std::invalid_argument("changes are in the order of time, to ways that there are");
             f.routing.changes.push_back(LinkChange{at, down, up, ways});
           })
      .def("set_ports", &set_ports, "node"_a, "ps_per_byte"_a, "delay_ps"_a, "next"_a);
  nb::class_<ScenarioConfig>(m, "ScenarioConfig")
      .def(nb::init<>())
      .def_rw("hosts", &ScenarioConfig::hosts)
      .def_rw("receivers", &ScenarioConfig::receivers)
      .def_rw("planes", &ScenarioConfig::planes)
      .def_rw("long_flow", &ScenarioConfig::long_flow)
      .def_rw("recovered_rate", &ScenarioConfig::recovered_rate)
      .def("set_ways_back",
           [](ScenarioConfig &s, const ReadOnly<std::int64_t> &delays) { s.control_delays = copy_of(delays); })
      .def("set_routes", [](ScenarioConfig &s, const ReadOnly<std::uint32_t> &ports) { s.routes = copy_of(ports); })
      .def("set_jobs",
           [](ScenarioConfig &s, const ReadOnly<std::uint32_t> &flow, const ReadOnly<std::int64_t> &of,
              const ReadOnly<std::uint32_t> &before, const ReadOnly<std::uint32_t> &after,
              const ReadOnly<std::int64_t> &gap, bool keeps_contexts) {
             const std::size_t messages = flow.size();
             same_length(messages, of);
             same_length(before.size(), after);
             JobsConfig jobs;
             jobs.flow = copy_of(flow);
             jobs.of.resize(messages);
             jobs.waits.assign(messages, 0);
             jobs.first.assign(messages + 1, 0);
             jobs.gap = copy_of(gap);
             jobs.keeps_contexts = keeps_contexts;
             std::vector<bool> sends(s.flows.size());
             for (std::size_t m = 0; m < messages; ++m) {
               if (flow(m) >= s.flows.size() || of(m) < -1 || of(m) >= static_cast<std::int64_t>(gap.size()) ||
                   (of(m) >= 0 && s.flows[flow(m)].packets == 0))
                 throw std::invalid_argument("a message of a job is a flow's that ends, and its job exists");
               sends[flow(m)] = true;
               jobs.of[m] = static_cast<std::int32_t>(of(m));
             }
             if (std::find(sends.begin(), sends.end(), false) != sends.end())
               throw std::invalid_argument("every flow sends a message");
             for (std::size_t e = 0; e < before.size(); ++e) {
               if (before(e) >= messages || after(e) >= messages || of(before(e)) < 0 || of(before(e)) != of(after(e)))
                 throw std::invalid_argument("messages wait for messages of their job");
               ++jobs.waits[after(e)];
               ++jobs.first[before(e) + 1];
             }
             for (std::size_t m = 0; m < messages; ++m)
               jobs.first[m + 1] += jobs.first[m];
             jobs.follow.resize(before.size());
             std::vector<std::uint32_t> place(jobs.first.begin(), jobs.first.end() - 1);
             for (std::size_t e = 0; e < before.size(); ++e)
               jobs.follow[place[before(e)]++] = after(e);
             s.jobs = std::move(jobs);
           })
      .def("set_cohorts",
           [](ScenarioConfig &s, const ReadOnly<std::uint32_t> &cohort) {
             same_length(s.flows.size(), cohort);
             for (std::size_t f = 0; f < s.flows.size(); ++f)
               s.flows[f].cohort = static_cast<std::uint8_t>(std::min(cohort(f), kMostAtFlows));
           })
      .def("set_flows", &set_flows, "host"_a, "packets"_a, "last_wire_bytes"_a, "start_ps"_a, "period_ps"_a, "klass"_a,
           "way_back"_a, "route_offset"_a);
}

} // namespace netsim
