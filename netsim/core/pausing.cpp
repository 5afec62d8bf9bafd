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
  frames_.push(Pause{now + link_delay_[from.link], from.link, from.klass, on, told_++});
  n_.counters.pauses += on;
  n_.loop.set(n_.loop.streams.pauses, frames_.top().arrival);
}

void Pausing::on_frame(Ps now) {
  const Pause pause = frames_.top();
  frames_.pop();
  if (frames_.empty())
    n_.loop.clear(n_.loop.streams.pauses);
  else
    n_.loop.set(n_.loop.streams.pauses, frames_.top().arrival);

  Ps &since = since_[pause.link * n_.net.classes.size() + pause.klass];
  if (!pause.on)
    n_.counters.paused_ps += static_cast<std::uint64_t>(now - since);
  since = pause.on ? now : -1;
  const auto bit = static_cast<std::uint8_t>(1U << pause.klass);
  const bool nic = pause.link < n_.scenario.hosts;
  std::uint8_t &paused = nic ? n_.nics[pause.link].paused : n_.fabric.port(pause.link - n_.scenario.hosts).paused;
  check((paused & bit) == 0 ? pause.on : !pause.on, "a pause came out of order");
  paused = static_cast<std::uint8_t>(pause.on ? paused | bit : paused & ~bit);
  if (nic)
    sending_.schedule_nic(pause.link);
  else
    forwarding_.resume(now, pause.link - n_.scenario.hosts);
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
