#include "flow_site.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "rate_knob.hpp"
#include "site_kind.hpp"

namespace netsim {

namespace {

constexpr Ps kNoProbe = std::numeric_limits<Ps>::max();

std::uint32_t q30_of(double rate) { return static_cast<std::uint32_t>(rate * 0x1p30 + 0.5); }

} // namespace

// The device's clock wraps every 4.29 s; it starts so that it wraps between 10 and 110 ms of every run.
void FlowSite::start_clock(Pcg32 &random) {
  clock_offset_ = static_cast<std::uint32_t>(0) - static_cast<std::uint32_t>(10'000'000 + random.below(100'000'000));
}

std::unique_ptr<Cohort> FlowSite::settle(Decider *decider, const CohortConfig &config, const Steering &steering) {
  const auto number = static_cast<std::uint32_t>(steered_.size());
  auto cohort = std::make_unique<CohortAt<FlowSite>>(n_.loop, number, *this, decider, config);
  Baseline *const baseline = steering.baseline;
  const bool probes = baseline == nullptr && !steering.ideal;
  steered_.push_back(Steered{baseline, baseline != nullptr && baseline->timed(), probes, steering.initial_rate,
                             steering.initial_in_flight, cohort.get()});
  limits_ |= probes && n_.net.device_limit < 1 && n_.net.device_limit_for > 0;
  rounds_ |= probes && (n_.net.rate_scale != 1.0 || n_.net.rate_step_q30 > 1 || n_.net.rate_least_q30 > 0);
  if (limits_ || rounds_)
    set_q30_.resize(n_.senders.size());
  if (probes && n_.net.context_flows > 1)
    shared_.resize(n_.senders.size());
  if (probes && config.shape.signals >= kAlways + 2)
    acked_.resize(n_.senders.size());
  return cohort;
}

// --- agents ----------------------------------------------------------------------------------------------------------

void FlowSite::on_response(Ps now, std::uint32_t flow, std::uint32_t serial) {
  if (!awaits(flow, serial))
    return;
  if (n_.net.event_reorder == 0 || reorder_.unit() >= n_.net.event_reorder)
    return tell(now, now, flow);
  delayed_events_.push(DelayedEvent{now + reorder_.below(n_.net.event_reorder_by + 1), now, flow, serial});
  plan_delayed_event();
}

void FlowSite::on_delayed_event(Ps now) {
  const DelayedEvent event = delayed_events_.top();
  delayed_events_.pop();
  plan_delayed_event();
  sending_.turns_of(n_.senders[event.flow].host, now);
  if (awaits(event.flow, event.serial))
    tell(now, event.response, event.flow);
}

void FlowSite::plan_delayed_event() {
  if (delayed_events_.empty())
    n_.loop.clear(n_.loop.streams.delayed_events);
  else
    n_.loop.set(n_.loop.streams.delayed_events, delayed_events_.top().due);
}

bool FlowSite::awaits(std::uint32_t flow, std::uint32_t serial) const {
  const Sender &s = n_.senders[flow];
  return holds(s) && s.probe_outstanding && serial == s.probe_serial;
}

// The event of a response that came back at `response`.
void FlowSite::tell(Ps now, Ps response, std::uint32_t flow) {
  Sender &s = n_.senders[flow];
  s.probe_outstanding = s.probe_astray = false; // those before it are gone
  ++n_.counters.rtts;
  n_.counters.rtt_ns += device_ns(response) - device_ns(s.probe_sent_at);
  event_delay_ = now - response;
  steered_[s.cohort].cohort->ask(now, flow);
  event_delay_ = 0;
}

// Flows that share a context are of one host, one behind the other.
template <class Each> void FlowSite::members(std::uint32_t flow, Each each) const {
  const std::uint32_t first = context(flow), host = n_.senders[flow].host;
  const std::uint32_t end = std::min(first + n_.net.context_flows, agents());
  for (std::uint32_t other = first; other < end && n_.senders[other].host == host; ++other)
    each(n_.senders[other]);
}

// Another flow of its context holds it.
bool FlowSite::joins(std::uint32_t flow) const {
  bool found = false;
  members(flow, [&](const Sender &other) { found |= holds(other) && &other != &n_.senders[flow]; });
  return found;
}

std::uint32_t FlowSite::next_shared_step(std::uint32_t flow) {
  const std::uint32_t step = shared_[context(flow)].step++;
  n_.senders[flow].step = step + 1;
  return step;
}

bool FlowSite::asks_shared(Ps now, std::uint32_t flow) const {
  const Sender &s = n_.senders[flow];
  if (!s.ends(n_.net).probe_a_context)
    return true;
  const Ps decided_at = shared_[context(flow)].decided_at;
  bool under_way = false;
  members(flow, [&](const Sender &other) {
    under_way |= &other != &s && holds(other) && other.probe_outstanding && other.probe_sent_at >= decided_at &&
                 now - other.probe_sent_at <= n_.net.probe_timeout;
  });
  return !under_way;
}

void FlowSite::follow(Ps now, std::uint32_t flow) {
  Sender &s = n_.senders[flow];
  if (!probes(s))
    return;
  const std::array<std::uint32_t, kKnobs> &knobs = shared_[context(flow)].knobs;
  if (steered_[s.cohort].cohort->shape().knobs > kInFlight)
    s.window = capped_packets(s, knobs[kInFlight]);
  const double rate = wire_rate(knobs[kRate]);
  if (rate == s.rate)
    return;
  s.rate = rate;
  if (recovery_.watches(flow))
    recovery_.rate(now, s.rate);
}

// What the device makes of a rate that is set.
double FlowSite::wire_rate(std::uint32_t q30) const {
  if (!rounds_)
    return rate_of_knob(q30);
  const std::uint32_t step = n_.net.rate_step_q30;
  const std::uint32_t asked = std::clamp(q30, std::max(n_.net.rate_least_q30, 1u), kLineRateQ30);
  return rate_of_knob((asked + step - 1) / step * step) * n_.net.rate_scale;
}

void FlowSite::observe(std::uint32_t flow, Ps now, Knobs event) {
  const Sender &s = n_.senders[flow];
  event[request_sent_ns] = device_ns(s.probe_sent_at);
  event[response_ns] = device_ns(now - event_delay_ + noise());
  event[cnp_count] = s.cnp_count;
  event[nack_count] = s.nack_count;
  event[sent_bytes] = s.sent_bytes;
  event[queue_bytes] = s.probe_queue_bytes;
  if (!shared_.empty()) {
    event[cnp_count] = event[nack_count] = event[sent_bytes] = 0;
    members(flow, [&](const Sender &other) {
      event[cnp_count] += other.cnp_count;
      event[nack_count] += other.nack_count;
      event[sent_bytes] += other.sent_bytes;
    });
  }
  if (tells_rate(event))
    event[kAlways] = static_cast<std::uint32_t>(std::ceil(s.rate / n_.net.rate_scale * 0x1p20));
  if (tells_acks(event)) {
    Acked sum;
    members(flow, [&](const Sender &other) {
      sum.bytes += acked(other).bytes;
      sum.marked += acked(other).marked;
    });
    event[event.size() - 2] = sum.bytes;
    event[event.size() - 1] = sum.marked;
  }
}

// What the device says, in the decision's own arithmetic (decision/policy/device_rate.py). 2^30 alone is line rate.
std::uint32_t FlowSite::knob_in_force(std::uint32_t known, Words event) const {
  if (!tells_rate(event))
    return known;
  const std::uint32_t rate = known <= kLineRateQ30 ? known : known & (kLineRateQ30 - 1);
  return known - rate + std::min(rate, event[kAlways] << 10);
}

// Without `goes_on` there is no probe before the decision has taken effect.
void FlowSite::event_taken(std::uint32_t flow, Ps now, bool goes_on) {
  Sender &s = n_.senders[flow];
  s.probe_at = goes_on ? now + n_.net.probe_gap : kNoProbe;
  s.cnp_count = s.nack_count = s.sent_bytes = 0;
  if (!acked_.empty())
    members(flow, [&](const Sender &other) { acked(other) = Acked{}; });
  if (shared_.empty())
    return;
  members(flow, [](Sender &other) { other.cnp_count = other.nack_count = other.sent_bytes = 0; });
  Shared &its = shared_[context(flow)];
  its.before_that = its.decided_at;
  its.decided_at = now;
}

void FlowSite::undecided(std::uint32_t flow, Words event) {
  Sender &s = n_.senders[flow];
  s.cnp_count += event[cnp_count];
  s.nack_count += event[nack_count];
  s.sent_bytes += event[sent_bytes];
  if (tells_acks(event)) {
    acked_[flow].bytes += event[event.size() - 2];
    acked_[flow].marked += event[event.size() - 1];
  }
  if (!shared_.empty())
    shared_[context(flow)].decided_at = shared_[context(flow)].before_that;
}

// Another probe has to be sent; what was counted goes on counting.
void FlowSite::event_refused(std::uint32_t flow, Ps now) { n_.senders[flow].probe_at = now + n_.net.probe_gap; }

// The newer one's timestamps and its probe's queue count, and what either of them counted.
void FlowSite::merge(Words older, Knobs newer) const {
  for (const Signal counted : {cnp_count, nack_count, sent_bytes})
    newer[counted] += older[counted];
  for (std::size_t i = newer.size() - (tells_acks(newer) ? 2 : 0); i < newer.size(); ++i)
    newer[i] += older[i];
}

void FlowSite::in_force(std::uint32_t flow, Knobs knobs) const {
  const Sender &s = n_.senders[flow];
  knobs[kRate] = set_q30_.empty() ? q30_of(s.rate) : set_q30_[flow];
  if (knobs.size() > kInFlight)
    knobs[kInFlight] = s.window * n_.net.payload_bytes;
}

void FlowSite::apply(std::uint32_t flow, Ps now, Words knobs) {
  sending_.turns_of(n_.senders[flow].host, now);
  if (knobs.size() > kInFlight)
    n_.senders[flow].window = capped_packets(n_.senders[flow], knobs[kInFlight]);
  const double rate = wire_rate(knobs[kRate]);
  if (!set_q30_.empty())
    set_q30_[flow] = q30_of(rate_of_knob(knobs[kRate]));
  if (!shared_.empty())
    std::copy(knobs.begin(), knobs.end(), shared_[context(flow)].knobs.begin());
  set_rate(now, flow, limits_ && limited(now) ? std::min(rate, n_.net.device_limit) : rate);
}

bool FlowSite::limited(Ps now) const {
  const Ps since = now - n_.net.device_limit_from;
  return since >= 0 && since % n_.net.device_limit_every < n_.net.device_limit_for;
}

void FlowSite::cut(Ps now, std::uint32_t flow) {
  Sender &s = n_.senders[flow];
  if (s.rate <= n_.net.device_limit || !limited(now))
    return;
  s.rate = n_.net.device_limit;
  if (recovery_.watches(flow))
    recovery_.rate(now, s.rate);
}

void FlowSite::set_rate(Ps now, std::uint32_t flow, double rate) {
  Sender &s = n_.senders[flow];
  s.rate = rate;
  s.probe_at = now + n_.net.probe_gap;
  // The gap after the last burst is that of the new rate: a flow that speeds up does not wait out its old gap.
  s.pace_at = n_.not_before(flow, s.pace_base + s.gap());
  sending_.schedule(s);
  if (recovery_.watches(flow))
    recovery_.rate(now, rate);
}

// --- hand-written algorithms -----------------------------------------------------------------------------------------

void FlowSite::begin(Ps now, std::uint32_t flow) {
  Sender &s = n_.senders[flow];
  const Steered &who = steered_[s.cohort];
  s.rate = who.initial_rate;
  s.window = tracked(s, n_.net.inflight_packets);
  s.probe_at = now;
  s.probe_outstanding = false;
  s.cnp_count = s.nack_count = s.sent_bytes = 0;
  if (!acked_.empty())
    acked_[flow] = Acked{};
  s.step = 0;
  if (who.baseline != nullptr)
    return begin_baseline(now, flow);
  const std::uint32_t of = context(flow);
  const bool shares = !shared_.empty() && joins(flow); // a context that goes on
  if (!shares)
    who.cohort->begin(of);
  std::array<std::uint32_t, kKnobs> first{};
  if (shares) {
    first = shared_[of].knobs;
    s.rate = first[kRate] * 0x1p-30;
    s.step = shared_[of].step;
  } else if (who.cohort->decider() != nullptr) {
    s.rate = who.cohort->decider()->initial(of) * 0x1p-30;
    who.cohort->decider()->first(of, first);
  } else if (!who.initial_in_flight.empty()) {
    first[kInFlight] = who.initial_in_flight[flow];
  }
  if (!shares)
    first[kInFlight] = std::min(first[kInFlight], s.ends(n_.net).first_window);
  if (who.cohort->shape().knobs > kInFlight)
    s.window = capped_packets(s, first[kInFlight]);
  if (!shared_.empty() && !shares) {
    shared_[of] = Shared{};
    shared_[of].knobs = {q30_of(s.rate), first[kInFlight]};
  }
  if (!set_q30_.empty())
    set_q30_[flow] = q30_of(s.rate);
  if (rounds_ && who.probes)
    s.rate = wire_rate(q30_of(s.rate));
}

void FlowSite::begin_baseline(Ps now, std::uint32_t flow) {
  Sender &s = n_.senders[flow];
  const Ps base_rtt = n_.receivers[flow].base_latency + n_.way_back(flow);
  const PathFacts path{base_rtt, n_.routes[flow].hops, n_.net.ps_per_byte, n_.net.data_wire_bytes};
  const Pace pace = by(flow).baseline->start(flow, now, path);
  s.rate = pace.rate;
  s.window = window_packets(s, pace.window);
  if (!given_.empty()) {
    given_[flow] = Given{};
    given_[flow].pace = pace;
  }
}

void FlowSite::count_acked(std::uint32_t flow, std::uint32_t psn, bool marked) {
  const Sender &s = n_.senders[flow];
  std::uint32_t bytes = (psn - s.acked_psn) * n_.net.payload_bytes;
  if (psn == s.end_psn)
    bytes -= n_.last_is_short(flow);
  acked_[flow].bytes += bytes;
  acked_[flow].marked += marked ? bytes : 0;
}

void FlowSite::on_ack(Ps now, const Control &control, const Acknowledged &news, bool was_blocked) {
  const Sender &s = n_.senders[control.flow];
  Ack ack;
  ack.now = now;
  ack.rtt = now - control.sent_at + noise();
  ack.acked_psn = control.value + (control.beyond > 0 ? control.beyond + 1u : 0u);
  ack.next_psn = s.next_psn;
  ack.packets = news.packets;
  ack.bytes = news.bytes;
  ack.path = n_.entropy(control.flow, control.sent_at);
  ack.marked = control.marked;
  if (control.telemetry != 0) {
    const Stamps &stamps = n_.fabric.telemetry()[control.telemetry];
    ack.hops = stamps.hop.data();
    ack.hop_count = stamps.count;
  }
  steer(now, control.flow, steered_[s.cohort].baseline->on_ack(control.flow, ack), was_blocked);
}

void FlowSite::on_cnp(Ps now, std::uint32_t flow) { steer(now, flow, by(flow).baseline->on_cnp(flow, now), false); }

void FlowSite::on_loss(Ps now, std::uint32_t flow, LossKind kind, std::uint32_t bytes, bool was_blocked) {
  if (!given_.empty())
    given_[flow].lost = true;
  steer(now, flow, by(flow).baseline->on_lost(flow, Loss{now, kind, bytes}), was_blocked);
}

void FlowSite::on_timeout(Ps now, std::uint32_t flow, std::uint32_t bytes) {
  if (!given_.empty())
    given_[flow].lost = true;
  steer(now, flow, by(flow).baseline->on_lost(flow, Loss{now, LossKind::expired, bytes}), true);
}

void FlowSite::tell_sent(Ps now, std::uint32_t flow, std::uint32_t bytes) {
  by(flow).baseline->on_sent(flow, now, bytes);
  if (recovery_.watches(flow))
    recovery_.rate(now, rate_of(flow));
}

// A baseline's word: its rate and window hold from now on.
void FlowSite::steer(Ps now, std::uint32_t flow, const Pace &pace, bool was_blocked) {
  Sender &s = n_.senders[flow];
  s.rate = pace.rate;
  s.window = window_packets(s, pace.window);
  if (!given_.empty())
    hold(flow, s, pace);
  s.pace_at = n_.not_before(flow, next_send(flow, s, s.pace_base));
  if (was_blocked)
    s.pace_at = std::max(s.pace_at, n_.ready_at(flow, now)); // no credit for the time it was blocked
  sending_.schedule(s);
  if (recovery_.watches(flow))
    recovery_.rate(now, rate_of(flow));
}

void FlowSite::pace(Ps now, std::uint32_t flow, const Pace &pace) {
  sending_.turns_of(n_.senders[flow].host, now);
  const bool was_blocked = n_.senders[flow].blocked();
  steer(now, flow, pace, was_blocked);
}

void FlowSite::give(Ps now, std::uint32_t flow, double most_rate, std::uint32_t plane, std::uint8_t klass) {
  Sender &s = n_.senders[flow];
  sending_.turns_of(s.host, now);
  Given &given = given_[flow];
  const std::uint32_t planes = n_.scenario.planes;
  given.most_rate = most_rate;
  given.host = s.host / planes * planes + plane;
  given.klass = klass;
  given.moves = given.host != s.host || klass < s.klass;
  if (!given.moves && klass != s.klass)
    sending_.place(s, klass, s.host);
  const bool was_blocked = s.blocked();
  steer(now, flow, Pace(given.pace), was_blocked);
}

// What a flow was given holds beside the baseline's word.
void FlowSite::hold(std::uint32_t flow, Sender &s, const Pace &pace) {
  Given &given = given_[flow];
  given.pace = pace;
  s.rate = std::min(s.rate, given.most_rate);
  if (!given.moves)
    return;
  if (!s.drained()) {
    s.window = 0;
    return;
  }
  const std::uint32_t planes = n_.scenario.planes;
  Route &route = n_.routes[flow];
  route.first += (given.host % planes - s.host % planes) * route.hops;
  n_.receivers[flow].overtakes |= given.lost;
  sending_.place(s, given.klass, given.host);
  given.moves = false;
}

// A window of the algorithm's own stands in the place of the NIC's cap.
std::uint32_t FlowSite::window_packets(const Sender &s, double window) const {
  if (std::isinf(window))
    return tracked(s, n_.net.inflight_packets);
  return tracked(s, static_cast<std::uint32_t>(std::clamp(window, 1.0, 1e9)));
}

// Whole packets, and no fewer than a message where only its last packet asks for an ACK.
std::uint32_t FlowSite::capped_packets(const Sender &s, std::uint32_t bytes) const {
  const std::uint32_t least = s.ends(n_.net).ack_each_packet ? 1 : n_.net.message_packets;
  return tracked(s, std::max(bytes / n_.net.payload_bytes, least));
}

double FlowSite::rate_of(std::uint32_t flow) const {
  const Sender &s = n_.senders[flow];
  if (!s.active)
    return 0.0;
  const Steered &who = steered_[s.cohort];
  if (who.baseline == nullptr)
    return s.rate;
  const double rate = who.timed ? who.baseline->rate_at(flow, n_.loop.now) : s.rate;
  const Ps rtt = n_.receivers[flow].base_latency + n_.way_back(flow);
  return std::min(rate, static_cast<double>(s.window * n_.data_ps) / static_cast<double>(rtt));
}

namespace {

const SiteKind kFlows{"flow", Shape{FlowSite::kSignals, FlowSite::kKnobs}, nullptr, nullptr, true};

} // namespace

} // namespace netsim
