#include "pausing.hpp"

#include "check.hpp"

namespace netsim {

Pausing::Pausing(Network &network, Sending &sending, Forwarding &forwarding, const FabricConfig &fabric)
    : n_(network), sending_(sending), forwarding_(forwarding),
      link_delay_(network.scenario.hosts, fabric.uplink_delay) {
  for (const PortConfig &port : fabric.ports)
    link_delay_.push_back(port.delay);
  if (n_.net.lossless)
    since_.assign(link_delay_.size() * n_.net.classes.size(), -1);
}

void Pausing::tell(Ps now, Ingress from, bool on) {
  const Pause pause{now + link_delay_[from.link], from.link, from.klass, on, told_++};
  n_.counters.pauses += on;
  if (from.link < n_.scenario.hosts) {
    to_nics_.push(pause);
    n_.loop.events.set(n_.loop.streams.pauses, first(to_nics_));
  } else {
    to_ports_.push(pause);
    forwarding_.frames(first(to_ports_));
  }
}

void Pausing::on_nic_frame(Ps now) {
  const Pause pause = to_nics_.top();
  to_nics_.pop();
  n_.loop.events.set(n_.loop.streams.pauses, first(to_nics_));
  sending_.turns_of(pause.link, now);
  note(now, pause, n_.nics[pause.link].paused);
  sending_.schedule_nic(pause.link);
}

void Pausing::on_port_frame(Ps now) {
  const Pause pause = to_ports_.top();
  to_ports_.pop();
  forwarding_.frames(first(to_ports_));
  const std::uint32_t port = pause.link - n_.scenario.hosts;
  note(now, pause, n_.fabric.port(port).paused);
  forwarding_.resume(now, port);
}

// `paused`: a bit a class, of the link's transmitter.
void Pausing::note(Ps now, const Pause &pause, std::uint8_t &paused) {
  Ps &since = since_[pause.link * n_.net.classes.size() + pause.klass];
  if (!pause.on)
    n_.counters.paused_ps += static_cast<std::uint64_t>(now - since);
  since = pause.on ? now : -1;
  const auto bit = static_cast<std::uint8_t>(1U << pause.klass);
  check((paused & bit) == 0 ? pause.on : !pause.on, "a pause came out of order");
  paused = static_cast<std::uint8_t>(pause.on ? paused | bit : paused & ~bit);
}

void Pausing::settle(Ps now) {
  for (Ps &since : since_) {
    if (since >= 0) {
      n_.counters.paused_ps += static_cast<std::uint64_t>(now - since);
      since = now;
    }
  }
}

} // namespace netsim
