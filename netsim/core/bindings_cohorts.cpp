// Python's view of cohorts: how they are described, and what they have recorded and measured.
#include "bindings.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "simulator.hpp"

namespace netsim {

using namespace nb::literals;

namespace {

nb::list take_all(std::vector<std::vector<std::uint32_t>> &&values) {
  nb::list columns;
  for (std::vector<std::uint32_t> &column : values)
    columns.append(take(std::move(column)));
  return columns;
}

const SiteKind &kind_of(const std::string &site) {
  const SiteKind *kind = SiteKind::of(site);
  if (kind == nullptr)
    throw std::invalid_argument("there is no site " + site);
  return *kind;
}

std::pair<std::uint32_t, Named> site_facts(const std::string &site, const NetworkConfig &net,
                                           const FabricConfig &fabric, const ScenarioConfig &scenario, Ps period) {
  const SiteKind &kind = kind_of(site);
  if (kind.facts == nullptr)
    throw std::invalid_argument("a network's flows are told of it elsewhere");
  SiteFacts facts = kind.facts(net, fabric, scenario, period);
  nb::dict params;
  for (auto &[name, values] : facts.params)
    params[name.c_str()] = take(std::move(values));
  return {facts.agents, params};
}

// A site's agents may be told fewer signals and set fewer knobs than it has, the first of them.
Shape shape_at(const SiteKind &kind, std::uint32_t signals, std::uint32_t knobs) {
  if (signals == 0 || signals > kind.shape.signals || knobs == 0 || knobs > kind.shape.knobs)
    throw std::invalid_argument("agents there are told other signals or set other knobs");
  return {signals, knobs};
}

void check_cohort(const CohortSpec &spec) {
  const Trigger &trigger = spec.config.trigger;
  if (spec.config.latency < 0 || spec.config.quiet_latency < 0 || trigger.period < 0 ||
      trigger.signal >= static_cast<std::int64_t>(spec.config.shape.signals) ||
      trigger.idle_signal >= static_cast<std::int64_t>(spec.config.shape.signals) ||
      trigger.idle_knob >= spec.config.shape.knobs || trigger.idle_looks == 0 ||
      spec.config.quiet >= static_cast<std::int64_t>(spec.config.shape.knobs))
    throw std::invalid_argument("a cohort has latencies and a period that are not negative, and watches what there is");
}

} // namespace

Named columns(Records &&r) {
  nb::dict d;
  d["t_ps"] = take(std::move(r.t_ps));
  d["agent"] = take(std::move(r.agent));
  d["step"] = take(std::move(r.step));
  d["event"] = take_all(std::move(r.event));
  d["before"] = take(std::move(r.before));
  d["maker"] = take(std::move(r.maker));
  d["knobs"] = take_all(std::move(r.knobs));
  d["action"] = take(std::move(r.action));
  d["output"] = take(std::move(r.output));
  return d;
}

nb::list quantiles(const Histogram &histogram) {
  nb::list found;
  for (const double q : {0.5, 0.99, 0.999})
    found.append(histogram.quantile(q));
  return found;
}

// Of the window; None where decisions wait for no engine.
std::optional<Named> engine_window(const Cohort &cohort, Ps at) {
  if (cohort.engines() == nullptr)
    return std::nullopt;
  const Engines &engines = *cohort.engines();
  const EngineWindow &w = engines.window();
  nb::dict d;
  add_growth<EngineCounters>(d, engines.totals(at), w.at_begin,
                             {{"events", &EngineCounters::events},
                              {"decided", &EngineCounters::decided},
                              {"dropped", &EngineCounters::dropped},
                              {"coalesced", &EngineCounters::coalesced},
                              {"expired", &EngineCounters::expired},
                              {"applied", &EngineCounters::applied},
                              {"wait_ps", &EngineCounters::wait_ps},
                              {"latency_ps", &EngineCounters::latency_ps},
                              {"service_ps", &EngineCounters::service_ps},
                              {"queue_ps", &EngineCounters::queue_ps}});
  d["wait_quantiles_ps"] = quantiles(w.wait);
  d["wait_max_ps"] = w.wait_max;
  d["latency_quantiles_ps"] = quantiles(w.latency);
  d["latency_max_ps"] = w.latency_max;
  d["queue_max"] = w.queue_max;
  d["engine_busy_ps"] = column(
      w.busy_ps.size(), [&](std::size_t e) { return engines.busy(static_cast<std::uint32_t>(e), at) - w.busy_ps[e]; });
  d["engine_decided"] =
      column(w.decided.size(), [&](std::size_t e) { return engines.all()[e].decided - w.decided[e]; });
  return d;
}

// Where every event is, since the start; None where decisions wait for no engine.
std::optional<Named> engine_events(const Cohort &cohort, Ps at) {
  if (cohort.engines() == nullptr)
    return std::nullopt;
  const Engines &engines = *cohort.engines();
  nb::dict d;
  add_growth<EngineCounters>(d, engines.totals(at), EngineCounters{},
                             {{"events", &EngineCounters::events},
                              {"decided", &EngineCounters::decided},
                              {"dropped", &EngineCounters::dropped},
                              {"coalesced", &EngineCounters::coalesced},
                              {"expired", &EngineCounters::expired}});
  d["waiting"] = engines.waiting();
  d["holds"] = engines.holds();
  return d;
}

void bind_cohorts(nb::module_ &m) {
  nb::enum_<Overload>(m, "Overload")
      .value("wait", Overload::wait)
      .value("drop", Overload::drop)
      .value("coalesce", Overload::coalesce);
  nb::class_<WireSpec>(m, "WireSpec")
      .def(nb::init<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                    std::uint32_t>(),
           "source"_a, "knob"_a, "shift"_a, "target"_a, "param"_a, "least"_a, "most"_a);
  m.def("sites", &SiteKind::names);
  m.def("site_facts", &site_facts, "site"_a, "network"_a, "fabric"_a, "scenario"_a, "period_ps"_a);
  nb::class_<CohortSpec>(m, "CohortSpec")
      .def(
          "__init__",
          [](CohortSpec *self, const std::string &site, std::uint32_t signals, std::uint32_t knobs, Decider *decider,
             Ps latency, Ps period) {
            CohortSpec spec{&kind_of(site), decider, {}, {}};
            spec.config.shape = shape_at(*spec.kind, signals, knobs);
            spec.config.latency = latency;
            spec.config.trigger.period = period;
            check_cohort(spec);
            new (self) CohortSpec(spec);
          },
          "site"_a, "signals"_a, "knobs"_a, nb::arg("decider").none(), "latency_ps"_a, "period_ps"_a = 0,
          nb::keep_alive<1, 5>())
      .def(
          "set_engines",
          [](CohortSpec &c, std::uint32_t of_device, std::uint32_t depth, Overload overload) {
            c.config.engines = EngineConfig{of_device, depth, overload};
          },
          "of_device"_a, "depth"_a, "overload"_a)
      .def(
          "set_quiet",
          [](CohortSpec &c, std::int32_t knob, Ps latency) {
            c.config.quiet = knob;
            c.config.quiet_latency = latency;
            check_cohort(c);
          },
          "knob"_a, "latency_ps"_a)
      .def(
          "set_level",
          [](CohortSpec &c, std::int32_t signal, std::uint32_t level) {
            c.config.trigger.signal = signal;
            c.config.trigger.level = level;
            check_cohort(c);
          },
          "signal"_a, "level"_a)
      .def(
          "set_idle",
          [](CohortSpec &c, std::int32_t signal, std::uint32_t knob, std::uint32_t looks) {
            c.config.trigger.idle_signal = signal;
            c.config.trigger.idle_knob = knob;
            c.config.trigger.idle_looks = looks;
            check_cohort(c);
          },
          "signal"_a, "knob"_a, "looks"_a)
      .def(
          "set_steering",
          [](CohortSpec &c, Baseline *baseline, bool ideal, double initial_rate,
             std::vector<std::uint32_t> initial_in_flight) {
            c.steering = Steering{baseline, ideal, initial_rate, std::move(initial_in_flight)};
          },
          nb::arg("baseline").none(), "ideal"_a, "initial_rate"_a, "initial_in_flight"_a = std::vector<std::uint32_t>{},
          nb::keep_alive<1, 2>());
}

} // namespace netsim
