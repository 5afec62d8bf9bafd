#include "baseline_dcqcn.hpp"

#include <algorithm>
#include <cmath>

namespace netsim {

namespace {

double power(double base, std::uint64_t exponent) {
  double result = 1.0;
  for (; exponent != 0; exponent >>= 1, base *= base) {
    if (exponent & 1)
      result *= base;
  }
  return result;
}

double halved(double value, std::uint64_t times) {
  return std::ldexp(value, -static_cast<int>(std::min<std::uint64_t>(times, 4096)));
}

// `times` increases: the target rises by `step` each time, up to line rate, and the rate goes halfway to it. The gap g
// between the two goes to (g + step) / 2, so after n of them it is g / 2^n + step (1 - 1 / 2^n).
void climb(double &rate, double &target, double step, std::uint64_t times) {
  if (step > 0.0 && target < 1.0) {
    const double room = std::floor((1.0 - target) / step);
    const std::uint64_t whole =
        room < static_cast<double>(times) ? static_cast<std::uint64_t>(room) : times; // none of these is clamped
    const double share = halved(1.0, whole);
    const double gap = (target - rate) * share + step * (1.0 - share);
    target = std::min(1.0, target + step * static_cast<double>(whole));
    rate = target - gap;
    times -= whole;
    if (times > 0)
      target = 1.0;
  }
  rate = target - halved(target - rate, times);
}

Ps gap_after(Ps burst, double rate) {
  return static_cast<Ps>(std::min(static_cast<double>(burst) / rate, static_cast<double>(kLatest / 2)));
}

} // namespace

Pace Dcqcn::start(std::uint32_t flow, Ps, const PathFacts &) {
  states_[flow] = State{};
  return pace(states_[flow]);
}

Pace Dcqcn::on_ack(std::uint32_t flow, const Ack &ack) {
  State &s = states_[flow];
  advance(s, ack.now);
  return pace(s);
}

Pace Dcqcn::on_loss(std::uint32_t flow, Ps now) {
  if (config_.loss_is_cnp)
    return on_cnp(flow, now);
  State &s = states_[flow];
  advance(s, now);
  return pace(s);
}

Pace Dcqcn::on_cnp(std::uint32_t flow, Ps now) {
  State &s = states_[flow];
  advance(s, now);
  const bool first = !s.limited();
  if (first) {
    s.alpha = config_.initial_alpha;
    s.alpha_at = now;
  } else {
    decay_alpha(s, now);
  }
  if (config_.monitor_period == 0) {
    cut(s, now);
    s.alpha = (1.0 - config_.gain) * s.alpha + config_.gain;
    s.alpha_at = now;
  } else {
    if (first)
      s.phase = static_cast<std::uint32_t>(now % config_.monitor_period);
    else
      s.cnp_heard = true; // the first one has set alpha
    if (s.cut_at == kNo)
      s.cut_at = now + config_.monitor_period - (now - s.phase) % config_.monitor_period;
  }
  return pace(s);
}

void Dcqcn::on_sent(std::uint32_t flow, Ps now, std::uint32_t bytes) {
  State &s = states_[flow];
  advance(s, now);
  if (config_.byte_reset == 0 || !s.limited())
    return;
  const std::uint64_t counted = std::uint64_t{s.bytes} + bytes;
  if (counted >= config_.byte_reset)
    increase(s, s.byte_stage, counted / config_.byte_reset);
  s.bytes = static_cast<std::uint32_t>(counted % config_.byte_reset);
}

// A NIC moves the burst it waits to send whenever the rate changes.
Ps Dcqcn::next_send(std::uint32_t flow, Ps begin, Ps burst) {
  Ps at = begin + gap_after(burst, states_[flow].rate);
  if (at < states_[flow].next_change())
    return at;
  State ahead = states_[flow];
  for (Ps change = ahead.next_change(); change <= at; change = ahead.next_change()) {
    advance(ahead, change);
    at = std::max(change, begin + gap_after(burst, ahead.rate));
  }
  return at;
}

double Dcqcn::rate_at(std::uint32_t flow, Ps now) {
  State ahead = states_[flow]; // being looked at must not change how a flow's numbers are rounded
  advance(ahead, now);
  return ahead.rate;
}

void Dcqcn::advance(State &s, Ps now) const {
  if (now < s.next_change())
    return;
  if (s.cut_at <= now) {
    const Ps at = s.cut_at;
    fire_timer(s, at);
    decay_alpha(s, at);
    cut(s, at);
  }
  fire_timer(s, now);
}

void Dcqcn::fire_timer(State &s, Ps now) const {
  if (s.increase_at > now)
    return;
  const std::uint64_t times = static_cast<std::uint64_t>((now - s.increase_at) / config_.increase_period) + 1;
  s.increase_at += static_cast<Ps>(times) * config_.increase_period;
  increase(s, s.time_stage, times);
}

// The kind of an increase depends on how the two stages before it stand to F, so there are at most three runs of a
// kind.
void Dcqcn::increase(State &s, std::uint16_t &stage, std::uint64_t times) const {
  const std::uint32_t last = config_.recovery_stages;
  while (times > 0) {
    const std::uint32_t by_time = s.time_stage;
    const std::uint32_t by_bytes = config_.byte_reset != 0 ? s.byte_stage : by_time;
    double step = config_.additive_step;
    if (std::max(by_time, by_bytes) < last)
      step = 0.0; // fast recovery
    else if (std::min(by_time, by_bytes) > last)
      step = config_.hyper_step;
    const std::uint64_t left = stage < last ? last - stage : stage == last ? 1 : times;
    const std::uint64_t run = std::min(times, left);
    climb(s.rate, s.target, step, run);
    stage = static_cast<std::uint16_t>(std::min<std::uint64_t>(stage + run, last + 1));
    times -= run;
  }
}

void Dcqcn::decay_alpha(State &s, Ps now) const {
  std::uint64_t periods = static_cast<std::uint64_t>((now - s.alpha_at) / config_.alpha_period);
  if (periods == 0)
    return;
  s.alpha_at += static_cast<Ps>(periods) * config_.alpha_period;
  if (s.cnp_heard) {
    s.alpha = (1.0 - config_.gain) * s.alpha + config_.gain;
    s.cnp_heard = false;
    --periods;
  }
  s.alpha *= power(1.0 - config_.gain, periods);
}

void Dcqcn::cut(State &s, Ps now) const {
  if (config_.clamp_target || s.time_stage > 0 || s.byte_stage > 0)
    s.target = s.rate;
  s.rate *= std::max(1.0 - s.alpha / config_.alpha_divisor, config_.cut_floor);
  s.rate = std::max(s.rate, config_.rate_min);
  s.time_stage = 0;
  s.byte_stage = 0;
  s.bytes = 0;
  s.increase_at = now + config_.increase_period;
  s.cut_at = kNo;
}

} // namespace netsim
