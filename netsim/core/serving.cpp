// From an RTT response to a new rate where engines decide: the event may wait, and the rate holds when its handler has
// ended.
#include "simulator.hpp"

#include <limits>

namespace netsim {

void Simulator::on_engine_event(Ps now, std::uint32_t flow, const Event &event) {
  Sender &s = senders_[flow];
  constexpr Ps never = std::numeric_limits<Ps>::max(); // no probe before the decision has taken effect
  const Offer offer = engines_->offer(now, flow, s.generation, event);
  if (offer == Offer::dropped) {
    s.probe_at = now + net_.probe_gap; // another one has to be sent; what was counted goes on counting
    return;
  }
  // Where events coalesce, a flow whose event waits measures on.
  s.probe_at = offer == Offer::taken || !engines_->coalesces() ? never : now + net_.probe_gap;
  s.cnp_count = s.nack_count = s.sent_bytes = 0;
  if (offer == Offer::taken) {
    serve(now, flow);
    set_served();
  }
}

// The flow's engine begins with its event.
void Simulator::serve(Ps now, std::uint32_t flow) {
  const Event &event = engines_->place(flow).event;
  const Decision decision = policy_->decide(flow, event);
  const std::uint32_t step = senders_[flow].step++;
  ++counters_.decisions;
  if (recording) {
    records_.add_event(now, flow, step, event);
    records_.add_decision(decision);
  }
  engines_->begin(now, flow, decision.takes > 0 ? decision.takes : net_.decision_latency, decision.rate);
}

// A handler has ended: its rate holds, and its engine goes on with the next event of a flow that is still there.
void Simulator::on_served(Ps now) {
  const std::uint32_t e = engines_->end();
  const Engine &engine = engines_->engine(e);
  const Sender &s = senders_[engine.flow];
  if (s.active && s.generation == engine.generation) {
    engines_->applied(now, engine.event_at);
    apply_rate(now, engine.flow, engine.rate);
  }
  std::uint32_t flow = 0;
  while (engines_->next(now, e, flow)) {
    if (senders_[flow].active && senders_[flow].generation == engines_->place(flow).generation) {
      serve(now, flow);
      break;
    }
    engines_->expired();
  }
  set_served();
}

void Simulator::set_served() {
  const Ps end = engines_->first_end();
  events_.set(kPending, end == kLatest ? kNever : event_key(end, kPending));
}

} // namespace netsim
