#include "queue_site.hpp"

#include <algorithm>
#include <cmath>

#include "saturated.hpp"

namespace netsim {

namespace {

constexpr double kOneQ16 = 65536.0;

} // namespace

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

void QueueSite::event_taken(std::uint32_t queue, Ps now, bool) {
  queues_[queue].counted = n_.fabric.ports()[port(queue)].sent(klass(queue), now);
}

void QueueSite::merge(Words older, Knobs newer) const {
  for (const Signal counted : {sent_bytes, marked_bytes})
    newer[counted] = saturated(std::uint64_t{newer[counted]} + older[counted]);
}

void QueueSite::in_force(std::uint32_t queue, Knobs knobs) const {
  const RedConfig red = n_.fabric.red(port(queue), klass(queue));
  knobs[kmin_bytes] = saturated(static_cast<std::uint64_t>(red.min_bytes));
  knobs[kmax_bytes] = saturated(static_cast<std::uint64_t>(red.max_bytes));
  knobs[pmax_q16] = static_cast<std::uint32_t>(std::lround(red.max_probability * kOneQ16));
  if (knobs.size() > triggered)
    knobs[triggered] = 0;
}

// A queue that is given a Kmax below its Kmin marks everything from Kmin on.
void QueueSite::apply(std::uint32_t queue, Ps, Words knobs) {
  const double probability = std::min(knobs[pmax_q16] / kOneQ16, 1.0);
  const RedConfig red{knobs[kmin_bytes], std::max(knobs[kmin_bytes], knobs[kmax_bytes]), probability};
  n_.fabric.set_red(port(queue), klass(queue), red);
}

namespace {

// What each queue's port can send in a period.
SiteFacts facts_of_queue(const NetworkConfig &net, const FabricConfig &fabric, const ScenarioConfig &, Ps period) {
  std::vector<std::uint32_t> capacity;
  for (const PortConfig &port : fabric.ports)
    capacity.insert(capacity.end(), net.classes.size(),
                    saturated(static_cast<std::uint64_t>(period / port.ps_per_byte)));
  return SiteFacts{static_cast<std::uint32_t>(capacity.size()), {{"capacity_bytes", capacity}}};
}

const SiteKind kQueues{"queue", Shape{3, 4}, make<QueueSite>, facts_of_queue};

} // namespace

} // namespace netsim
