// Where every data packet is: counted by walking the queues, independently of the counters.
#include "simulator.hpp"

namespace netsim {

Conservation Simulator::conservation() const {
  Conservation c{counters_.data_sent, counters_.data_arrived, counters_.data_dropped, 0, 0};
  for (const Nic &nic : nics_) {
    for (std::size_t i = 0; i < nic.uplink.size(); ++i)
      c.on_uplinks += nic.uplink[i].packets;
  }
  for (const Port &port : switch_.ports()) {
    for (std::size_t i = 0; i < port.queue.size(); ++i)
      c.at_ports += port.queue[i].kind == PacketKind::data;
  }
  return c;
}

} // namespace netsim
