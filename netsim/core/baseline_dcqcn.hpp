// DCQCN ([DCQCN]): the receiver answers ECN marks with CNPs; the sender cuts its rate and climbs back by a timer and
// a byte counter.
//
// No timer is an event. A flow's state is that of its last real event; what its timers have done since then is worked
// out in closed form when it is asked for. At one instant the alpha period ends first, then the increase timer fires,
// then the rate is cut, then a CNP is heard.
#pragma once

#include <cstdint>
#include <vector>

#include "baseline.hpp"

namespace netsim {

// Rates and steps are fractions of line rate.
struct DcqcnConfig {
  double gain = 1.0 / 256;    // g: weight of the newest period in alpha
  double initial_alpha = 1.0; // at a flow's first CNP
  double alpha_divisor = 2.0; // a cut leaves 1 - alpha / divisor of the rate
  double cut_floor = 0.0;     // and never less than this share of it
  double rate_min = 1e-5;
  double additive_step = 1e-4;
  double hyper_step = 1e-3;
  Ps alpha_period = 55'000'000;
  Ps increase_period = 55'000'000;
  Ps monitor_period = 0;        // CNPs are looked for this often, as NICs do; 0: each acts at once, as in the paper
  std::uint32_t byte_reset = 0; // bytes from one increase to the next; 0: the timer alone increases
  std::uint32_t recovery_stages = 5; // F: increases by the timer or by bytes until the target begins to rise
  bool clamp_target = true;          // each cut moves the target to the rate; false: only the first after an increase
  bool loss_is_cnp = false;          // a loss acts as a CNP
};

class Dcqcn final : public Baseline {
public:
  Dcqcn(const DcqcnConfig &config, std::uint32_t flows) : config_(config), states_(flows) {}

  std::uint32_t flows() const { return static_cast<std::uint32_t>(states_.size()); }

  Pace start(std::uint32_t flow, Ps now, const PathFacts &path) override;
  Pace on_ack(std::uint32_t flow, const Ack &ack) override;
  Pace on_cnp(std::uint32_t flow, Ps now) override;
  Pace on_loss(std::uint32_t flow, Ps now) override; // nothing, or as a CNP
  void on_sent(std::uint32_t flow, Ps now, std::uint32_t bytes) override;
  bool timed() const override { return true; }
  Ps next_send(std::uint32_t flow, Ps begin, Ps burst) override;
  double rate_at(std::uint32_t flow, Ps now) override;

private:
  static constexpr Ps kNo = std::numeric_limits<Ps>::max();

  struct State {
    double rate = 1.0;
    double target = 1.0;
    double alpha = 0.0;
    Ps alpha_at = kNo;    // alpha's current period began here; none before the first CNP
    Ps increase_at = kNo; // the increase timer fires
    Ps cut_at = kNo;      // a CNP heard since the last look takes effect
    std::uint32_t bytes = 0;
    std::uint32_t phase = 0;      // looks for CNPs are at phase + k * monitor_period
    std::uint16_t time_stage = 0; // increases since the last cut, counted up to recovery_stages + 1
    std::uint16_t byte_stage = 0;
    bool cnp_heard = false; // in alpha's current period

    Ps next_change() const { return increase_at < cut_at ? increase_at : cut_at; }
    bool limited() const { return alpha_at != kNo; }
  };
  static_assert(sizeof(State) == 64, "a flow is one cache line");

  Pace pace(const State &s) const { return {s.rate}; }
  void advance(State &s, Ps now) const;
  void fire_timer(State &s, Ps now) const;
  void increase(State &s, std::uint16_t &stage, std::uint64_t times) const;
  void decay_alpha(State &s, Ps now) const;
  void cut(State &s, Ps now) const;

  DcqcnConfig config_;
  std::vector<State> states_;
};

} // namespace netsim
