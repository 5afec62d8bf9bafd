// Python's view of the hand-written algorithms. Their events can be called one by one, so that each can be tested
// alone.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "baseline_cubic.hpp"
#include "baseline_dcqcn.hpp"
#include "baseline_dctcp.hpp"
#include "baseline_hpcc.hpp"
#include "baseline_nscc.hpp"
#include "baseline_powertcp.hpp"
#include "baseline_swift.hpp"
#include "baseline_timely.hpp"
#include "bindings.hpp"
#include "max_min.hpp"

namespace netsim {

using namespace nb::literals;

namespace {

using Limits = std::pair<double, double>; // rate, window
using HopTuple = std::tuple<Ps, std::uint64_t, std::uint32_t, std::uint32_t>;

Limits limits(const Pace &pace) { return {pace.rate, pace.window}; }

template <class T> T &checked(T &machine, std::uint32_t flow) {
  if (flow >= machine.flows())
    throw std::out_of_range("there is no such flow");
  return machine;
}

template <class T>
Limits on_ack(T &machine, std::uint32_t flow, Ps now, Ps rtt, std::uint32_t acked_psn, std::uint32_t next_psn,
              std::uint32_t packets, bool marked, const std::vector<HopTuple> &hops) {
  if (hops.size() > kMaxHops)
    throw std::invalid_argument("a path has at most 5 hops");
  std::vector<Hop> stamped;
  for (const auto &[time, sent, queue, ps_per_byte] : hops)
    stamped.push_back(Hop{time, sent, queue, ps_per_byte});
  const Ack ack{now,     rtt,    acked_psn,      next_psn,
                packets, marked, stamped.data(), static_cast<std::uint32_t>(stamped.size())};
  return limits(checked(machine, flow).on_ack(flow, ack));
}

template <class T, class Config> nb::class_<T, Baseline> bind_machine(nb::module_ &m, const char *name) {
  return nb::class_<T, Baseline>(m, name)
      .def(nb::init<const Config &, std::uint32_t>(), "config"_a, "flows"_a)
      .def_prop_ro("flows", &T::flows)
      .def_prop_ro("timed", &T::timed)
      .def(
          "start",
          [](T &b, std::uint32_t flow, Ps now, Ps base_rtt, std::uint32_t hops, Ps line_ps_per_byte,
             std::uint32_t data_wire_bytes) {
            return limits(checked(b, flow).start(flow, now, {base_rtt, hops, line_ps_per_byte, data_wire_bytes}));
          },
          "flow"_a, "now"_a, "base_rtt"_a, "hops"_a = 1, "line_ps_per_byte"_a = 80, "data_wire_bytes"_a = 1106)
      .def("on_ack", &on_ack<T>, "flow"_a, "now"_a, "rtt"_a, "acked_psn"_a, "next_psn"_a, "packets"_a = 1,
           nb::arg("marked") = false, "hops"_a = std::vector<HopTuple>())
      .def(
          "on_cnp", [](T &b, std::uint32_t flow, Ps now) { return limits(checked(b, flow).on_cnp(flow, now)); },
          "flow"_a, "now"_a)
      .def(
          "on_loss", [](T &b, std::uint32_t flow, Ps now) { return limits(checked(b, flow).on_loss(flow, now)); },
          "flow"_a, "now"_a)
      .def(
          "on_timeout", [](T &b, std::uint32_t flow, Ps now) { return limits(checked(b, flow).on_timeout(flow, now)); },
          "flow"_a, "now"_a)
      .def(
          "on_sent",
          [](T &b, std::uint32_t flow, Ps now, std::uint32_t bytes) { checked(b, flow).on_sent(flow, now, bytes); },
          "flow"_a, "now"_a, "bytes"_a)
      .def(
          "next_send",
          [](T &b, std::uint32_t flow, Ps begin, Ps burst) { return checked(b, flow).next_send(flow, begin, burst); },
          "flow"_a, "begin"_a, "burst"_a)
      .def(
          "rate_at", [](T &b, std::uint32_t flow, Ps now) { return checked(b, flow).rate_at(flow, now); }, "flow"_a,
          "now"_a);
}

Column<double> fair_rates(const ReadOnly<double> &capacity, const ReadOnly<std::uint32_t> &offsets,
                          const ReadOnly<std::uint32_t> &links, const ReadOnly<std::uint8_t> &active) {
  const auto c = copy_of(capacity);
  const auto o = copy_of(offsets);
  const auto l = copy_of(links);
  const auto a = copy_of(active);
  if (o.size() != a.size() + 1 || o.front() != 0 || o.back() != l.size())
    throw std::invalid_argument("offsets must go from 0 to the number of links on all paths, one more than flows");
  for (std::size_t f = 0; f < a.size(); ++f) {
    if (o[f] > o[f + 1])
      throw std::invalid_argument("offsets must not fall");
  }
  for (const std::uint32_t link : l) {
    if (link >= c.size())
      throw std::invalid_argument("a path crosses a link that has no capacity");
  }
  std::vector<double> rate;
  max_min(c, o, l, a, rate);
  return take(std::move(rate));
}

} // namespace

void bind_baselines(nb::module_ &m) {
  nb::class_<Baseline>(m, "Baseline");

  nb::class_<DcqcnConfig>(m, "DcqcnConfig")
      .def(nb::init<>())
      .def_rw("gain", &DcqcnConfig::gain)
      .def_rw("initial_alpha", &DcqcnConfig::initial_alpha)
      .def_rw("alpha_divisor", &DcqcnConfig::alpha_divisor)
      .def_rw("cut_floor", &DcqcnConfig::cut_floor)
      .def_rw("rate_min", &DcqcnConfig::rate_min)
      .def_rw("additive_step", &DcqcnConfig::additive_step)
      .def_rw("hyper_step", &DcqcnConfig::hyper_step)
      .def_rw("alpha_period_ps", &DcqcnConfig::alpha_period)
      .def_rw("increase_period_ps", &DcqcnConfig::increase_period)
      .def_rw("monitor_period_ps", &DcqcnConfig::monitor_period)
      .def_rw("byte_reset", &DcqcnConfig::byte_reset)
      .def_rw("recovery_stages", &DcqcnConfig::recovery_stages)
      .def_rw("clamp_target", &DcqcnConfig::clamp_target)
      .def_rw("loss_is_cnp", &DcqcnConfig::loss_is_cnp);
  bind_machine<Dcqcn, DcqcnConfig>(m, "Dcqcn");

  nb::class_<HpccConfig>(m, "HpccConfig")
      .def(nb::init<>())
      .def_rw("eta", &HpccConfig::eta)
      .def_rw("max_stage", &HpccConfig::max_stage)
      .def_rw("additive_step", &HpccConfig::additive_step)
      .def_rw("rate_min", &HpccConfig::rate_min);
  bind_machine<Hpcc, HpccConfig>(m, "Hpcc");

  nb::class_<PowerTcpConfig>(m, "PowerTcpConfig")
      .def(nb::init<>())
      .def_rw("gain", &PowerTcpConfig::gain)
      .def_rw("target", &PowerTcpConfig::target)
      .def_rw("arrival_floor", &PowerTcpConfig::arrival_floor)
      .def_rw("additive_step", &PowerTcpConfig::additive_step)
      .def_rw("rate_min", &PowerTcpConfig::rate_min);
  bind_machine<PowerTcp, PowerTcpConfig>(m, "PowerTcp");

  nb::class_<SwiftConfig>(m, "SwiftConfig")
      .def(nb::init<>())
      .def_rw("base_target_ps", &SwiftConfig::base_target)
      .def_rw("hop_target_ps", &SwiftConfig::hop_target)
      .def_rw("scaling_range_ps", &SwiftConfig::scaling_range)
      .def_rw("scaling_window_min", &SwiftConfig::scaling_window_min)
      .def_rw("scaling_window_max", &SwiftConfig::scaling_window_max)
      .def_rw("additive_step", &SwiftConfig::additive_step)
      .def_rw("decrease", &SwiftConfig::decrease)
      .def_rw("decrease_max", &SwiftConfig::decrease_max)
      .def_rw("window_min", &SwiftConfig::window_min)
      .def_rw("window_max", &SwiftConfig::window_max)
      .def_rw("initial_window", &SwiftConfig::initial_window);
  bind_machine<Swift, SwiftConfig>(m, "Swift");

  nb::class_<TimelyConfig>(m, "TimelyConfig")
      .def(nb::init<>())
      .def_rw("weight", &TimelyConfig::weight)
      .def_rw("decrease", &TimelyConfig::decrease)
      .def_rw("low_ps", &TimelyConfig::low)
      .def_rw("high_ps", &TimelyConfig::high)
      .def_rw("min_rtt_ps", &TimelyConfig::min_rtt)
      .def_rw("additive_step", &TimelyConfig::additive_step)
      .def_rw("hyper_step", &TimelyConfig::hyper_step)
      .def_rw("hyper_after", &TimelyConfig::hyper_after)
      .def_rw("rate_min", &TimelyConfig::rate_min);
  bind_machine<Timely, TimelyConfig>(m, "Timely");

  nb::class_<DctcpConfig>(m, "DctcpConfig")
      .def(nb::init<>())
      .def_rw("gain", &DctcpConfig::gain)
      .def_rw("initial_alpha", &DctcpConfig::initial_alpha)
      .def_rw("additive_step", &DctcpConfig::additive_step)
      .def_rw("window_min", &DctcpConfig::window_min)
      .def_rw("window_max", &DctcpConfig::window_max)
      .def_rw("initial_window", &DctcpConfig::initial_window);
  bind_machine<Dctcp, DctcpConfig>(m, "Dctcp").def("alpha", &Dctcp::alpha, "flow"_a);

  nb::class_<CubicConfig>(m, "CubicConfig")
      .def(nb::init<>())
      .def_rw("scale", &CubicConfig::scale)
      .def_rw("decrease", &CubicConfig::decrease)
      .def_rw("fast_convergence", &CubicConfig::fast_convergence)
      .def_rw("window_max", &CubicConfig::window_max)
      .def_rw("initial_window", &CubicConfig::initial_window);
  bind_machine<Cubic, CubicConfig>(m, "Cubic");

  nb::class_<NsccConfig>(m, "NsccConfig")
      .def(nb::init<>())
      .def_rw("network_rtt_ps", &NsccConfig::network_rtt)
      .def_rw("target", &NsccConfig::target)
      .def_rw("reference_bdp_bytes", &NsccConfig::reference_bdp_bytes)
      .def_rw("reference_rtt_ps", &NsccConfig::reference_rtt)
      .def_rw("proportional_step", &NsccConfig::proportional_step)
      .def_rw("fair_step", &NsccConfig::fair_step)
      .def_rw("steady_step", &NsccConfig::steady_step)
      .def_rw("fast_share", &NsccConfig::fast_share)
      .def_rw("fast_delay_ps", &NsccConfig::fast_delay)
      .def_rw("decrease", &NsccConfig::decrease)
      .def_rw("decrease_max", &NsccConfig::decrease_max)
      .def_rw("delay_gain", &NsccConfig::delay_gain)
      .def_rw("drained_delay", &NsccConfig::drained_delay)
      .def_rw("adjust_packets", &NsccConfig::adjust_packets)
      .def_rw("quick_delay", &NsccConfig::quick_delay)
      .def_rw("quick_share", &NsccConfig::quick_share)
      .def_rw("window_min", &NsccConfig::window_min)
      .def_rw("window_max", &NsccConfig::window_max);
  bind_machine<Nscc, NsccConfig>(m, "Nscc").def("mean_delay_ps", &Nscc::mean_delay, "flow"_a);

  m.def("max_min", &fair_rates, "capacity"_a, "offsets"_a, "links"_a, "active"_a);
}

} // namespace netsim
