#include "queue_site.hpp"

#include "marking.hpp"
#include "saturated.hpp"

namespace netsim {

QueueSite::QueueSite(const Surroundings &around)
    : n_(around.network), classes_(static_cast<std::uint32_t>(n_.net.classes.size())),
      queues_(n_.fabric.ports().size() * classes_) {}

void QueueSite::observe(std::uint32_t queue, Ps now, Knobs event) {
  const Port &port = n_.fabric.ports()[this->port(queue)];
  const SentBytes sent = port.sent(klass(queue), now);
  const SentBytes &counted = queues_[queue].counted;
  event[queue_bytes] = saturated(static_cast<std::uint64_t>(port.backlog_of(klass(queue), now) / port.ps_per_byte));
  event[sent_bytes] = saturated(sent.all - counted.all);
  event[marked_bytes] = saturated(sent.marked - counted.marked);
}

void QueueSite::taken(std::uint32_t queue, Ps now, bool) {
  queues_[queue].counted = n_.fabric.ports()[port(queue)].sent(klass(queue), now);
}

void QueueSite::merge(Words older, Knobs newer) const {
  for (const Signal counted : {sent_bytes, marked_bytes})
    newer[counted] = saturated(std::uint64_t{newer[counted]} + older[counted]);
}

void QueueSite::in_force(std::uint32_t queue, Knobs knobs) const {
  marking::from_red(n_.fabric.red(port(queue), klass(queue)), knobs.subspan(kmin_bytes));
  if (knobs.size() > triggered)
    knobs[triggered] = 0;
}

void QueueSite::apply(std::uint32_t queue, Ps, Words knobs) {
  n_.fabric.set_red(port(queue), klass(queue), marking::to_red(knobs.subspan(kmin_bytes)));
}

namespace {

// What each queue's port can send in a period.
Told tell(const NetworkConfig &net, const FabricConfig &fabric, const ScenarioConfig &, Ps period) {
  std::vector<std::uint32_t> capacity;
  for (const PortConfig &port : fabric.ports)
    capacity.insert(capacity.end(), net.classes.size(),
                    saturated(static_cast<std::uint64_t>(period / port.ps_per_byte)));
  return Told{static_cast<std::uint32_t>(capacity.size()), {{"capacity_bytes", capacity}}};
}

const SiteKind kQueues{"queue", Shape{3, 4}, make<QueueSite>, tell};

} // namespace

} // namespace netsim
