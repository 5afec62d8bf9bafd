#include "fault.hpp"

namespace rlcc {

namespace {

constexpr const char *kCauses[] = {"a misaligned instruction address", "an instruction fetch outside the memory",
                                   "an illegal instruction", "a breakpoint"};

bool covers(const Region &region, u32 address, u32 size) {
  return address >= region.low && u64(address) + size <= region.high;
}

} // namespace

Fault refusal(const Program &program, Op op, u32 at, u32 address) {
  const u32 size = op == Op::lw || op == Op::sw ? 4 : op == Op::lh || op == Op::lhu || op == Op::sh ? 2 : 1;
  const Layout &layout = program.image().layout;
  const bool store = is_store(op);
  Fault fault{store ? Fault::store : Fault::load, at, address, 0};
  bool inside = covers(layout.stack, address, size) || (!store && covers(layout.constants, address, size));
  for (const Block &block : layout.blocks) {
    if (!covers(block.region, address, size))
      continue;
    inside = true;
    if (store && !block.writable) {
      fault.kind = Fault::store_const;
      return fault;
    }
  }
  if (inside)
    fault.kind = Fault::misaligned;
  return fault;
}

std::string sentence(const Fault &fault, const Program &program) {
  const std::string where = program.where(fault.at), address = hexadecimal(fault.address);
  switch (fault.kind) {
  case Fault::none:
    return "";
  case Fault::trap:
    return "the core trapped at " + where + ": " + (fault.cause < 4 ? kCauses[fault.cause] : "an environment call");
  case Fault::timeout:
    return "no return within " + std::to_string(program.cycle_limit()) + " cycles, last at " + where;
  case Fault::store_const:
    return "store into a const structure, address " + address + ", at " + where;
  case Fault::store:
    return "store out of bounds, address " + address + ", at " + where;
  case Fault::load:
    return "load out of bounds, address " + address + ", at " + where;
  case Fault::misaligned:
    return "misaligned access, address " + address + ", at " + where;
  case Fault::execute:
    return "jump out of the code to " + address;
  case Fault::middle:
    return "jump into the middle of an instruction at " + address;
  }
  return "";
}

} // namespace rlcc
