// Where every data packet is: counted by walking the queues, independently of the counters.
#include "simulator.hpp"

namespace netsim {

Conservation Simulator::conservation() const {
  const Counters &counters = network_.counters;
  Conservation c{counters.data_sent, counters.data_arrived,           counters.data_dropped,
                 counters.headers,   network_.uplinks.data_packets(), 0};
  for (const Port &port : network_.fabric.ports()) {
    for (std::size_t i = 0; i < port.link.size(); ++i)
      c.at_ports += port.link[i].kind == PacketKind::data;
    for (const ClassQueue &queue : port.queues) {
      for (std::size_t i = 0; i < queue.packets.size(); ++i)
        c.at_ports += queue.packets[i].packet.kind == PacketKind::data;
    }
  }
  return c;
}

} // namespace netsim
