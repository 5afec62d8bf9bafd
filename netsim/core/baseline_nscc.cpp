#include "baseline_nscc.hpp"

#include <algorithm>

#include "baseline_windows.hpp"

namespace netsim {

Pace Nscc::start(std::uint32_t flow, Ps now, const PathFacts &path) {
  State &s = states_[flow];
  s = State{};
  s.scaling_rtt = config_.network_rtt > 0 ? config_.network_rtt : path.base_rtt;
  const double bdp_bytes = static_cast<double>(s.scaling_rtt) / static_cast<double>(path.line_ps_per_byte);
  s.window_max = std::max(config_.window_max * bdp_packets(path), config_.window_min);
  s.window = s.window_max;
  s.scale = bdp_bytes / config_.reference_bdp_bytes;
  s.base_rtt = path.base_rtt;
  s.adjusted_at = s.decreased_at = now;
  return pace(s);
}

Pace Nscc::on_ack(std::uint32_t flow, const Ack &ack) {
  State &s = states_[flow];
  const double delay = static_cast<double>(std::max<Ps>(ack.rtt - s.base_rtt, 0));
  s.arrived += ack.packets;
  s.unadjusted += ack.packets;
  s.ignored += ack.packets;
  s.in_flight = ack.next_psn - ack.acked_psn;
  average(s, delay, ack.marked);
  if (quick_adapt(s, ack.now, delay, ack.marked, false))
    return pace(s);

  const bool late = delay >= target(s);
  if (late && ack.marked)
    decrease(s, ack.now);
  else if (late)
    s.increase += config_.fair_step * s.scale * ack.packets;
  else if (!ack.marked && !increase_fast(s, delay, ack.packets))
    // The whole step where there is no delay, nothing where it is the target.
    s.increase += config_.proportional_step * s.scale * (target(s) - delay) /
                  static_cast<double>(config_.reference_rtt) * ack.packets;
  bound(s);
  if (s.unadjusted > config_.adjust_packets || ack.now - s.adjusted_at > s.base_rtt)
    adjust(s, ack.now);
  return pace(s);
}

Pace Nscc::on_cnp(std::uint32_t flow, Ps) { return pace(states_[flow]); }

// One packet is gone. What was lost had met a long queue, which no ACK will tell: a base RTT's.
Pace Nscc::on_loss(std::uint32_t flow, Ps now) {
  State &s = states_[flow];
  ++s.ignored;
  s.lost = true;
  average(s, static_cast<double>(s.base_rtt), true);
  if (!quick_adapt(s, now, 0.0, true, true)) {
    s.window -= 1.0;
    bound(s);
  }
  return pace(s);
}

// A packet that met a long queue and yet left no queue behind it: it drains, and its delay is already history.
void Nscc::average(State &s, double delay, bool marked) const {
  const bool drained = !marked && delay > target(s);
  const double sample = drained ? config_.drained_delay * static_cast<double>(s.base_rtt) : delay;
  s.mean_delay += config_.delay_gain * (sample - s.mean_delay);
}

// Once an RTT with the target's queue. True: nothing else is to be done by this ACK or loss.
bool Nscc::quick_adapt(State &s, Ps now, double delay, bool congested, bool loss) const {
  bool done = congested && s.ignored < s.to_ignore;
  if (!done && now > s.quick_at) {
    const bool hard = loss || s.lost || delay > config_.quick_delay * target(s);
    if (s.quick_at != 0 && hard && s.arrived < config_.quick_share * s.window_max) {
      s.window = std::max<double>(s.arrived, config_.window_min);
      s.to_ignore = s.in_flight;
      s.ignored = 0;
      s.lost = false;
      done = true;
    }
    s.arrived = 0;
    s.quick_at = now + s.base_rtt + static_cast<Ps>(target(s));
  }
  if (done) {
    s.increase = 0.0;
    s.unadjusted = 0;
  }
  return done;
}

// True: a whole window has come back without delay, and grows by a share of what comes back.
bool Nscc::increase_fast(State &s, double delay, std::uint32_t packets) const {
  if (delay >= static_cast<double>(config_.fast_delay)) {
    s.undelayed = 0;
    s.fast = false;
    return false;
  }
  s.undelayed += packets;
  s.fast = s.fast || s.undelayed > s.window;
  if (s.fast)
    s.window += config_.fast_share * s.scale * packets;
  return s.fast;
}

void Nscc::decrease(State &s, Ps now) const {
  s.fast = false;
  s.undelayed = 0;
  if (s.mean_delay <= target(s) || now - s.decreased_at <= s.base_rtt)
    return;
  const double excess = (s.mean_delay - target(s)) / s.mean_delay;
  s.window *= std::max(1.0 - config_.decrease * excess, 1.0 - config_.decrease_max);
  s.decreased_at = now;
}

void Nscc::adjust(State &s, Ps now) const {
  s.window += s.increase / s.window;
  if (now - s.adjusted_at >= s.base_rtt) {
    s.window += config_.steady_step * s.scale;
    s.adjusted_at = now;
  }
  s.increase = 0.0;
  s.unadjusted = 0;
  bound(s);
}

void Nscc::bound(State &s) const { s.window = std::clamp(s.window, config_.window_min, s.window_max); }

} // namespace netsim
