#include "program.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "interpreter.hpp"

namespace rlcc {

namespace {

constexpr u32 kIllegalInstruction = 2, kBreakpoint = 3, kEnvironmentCall = 11; // mcause

u32 word_at(const std::vector<std::uint8_t> &code, std::size_t at) {
  u32 word = 0;
  std::memcpy(&word, code.data() + at, std::min<std::size_t>(4, code.size() - at));
  return word;
}

Slot slot_of(const Instruction &i, u32 address) {
  Slot slot;
  slot.imm = i.imm;
  slot.rd = i.rd == 0 ? kNowhere : i.rd;
  slot.rs1 = i.rs1;
  slot.rs2 = i.rs2;
  slot.length = i.length;
  switch (i.op) {
  case Op::lui:
    slot.action = Action::constant;
    break;
  case Op::auipc:
    slot.action = Action::constant;
    slot.imm = i32(address + u32(i.imm));
    break;
  case Op::jal:
    slot.action = i.rd == 0 ? Action::jump : Action::jump_and_link;
    slot.imm = i32(address + i.length);
    break;
  case Op::jalr:
    slot.action = Action::jump_register;
    break;
  case Op::ecall:
  case Op::ebreak:
  case Op::illegal:
    slot.imm = i32(cause_of(i.op));
    break;
  default: // the lists come first in both
    slot.action = Action(std::uint8_t(i.op));
  }
  return slot;
}

} // namespace

u32 cause_of(Op op) {
  return op == Op::ecall ? kEnvironmentCall : op == Op::ebreak ? kBreakpoint : kIllegalInstruction;
}

std::string hexadecimal(u32 value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", value);
  return text;
}

Program::Program(Image image, const Timing &timing, u32 cycle_limit)
    : image_(std::move(image)), cycle_limit_(cycle_limit), table_load_(timing.table_load),
      entries_((image_.code.size() + 1) / 2) {
  decode_code(timing);
  const std::size_t count = code_.size() - 1;
  for (std::size_t n = 0; n < count; ++n)
    add(slot_of(code_[n].instruction, code_[n].address), code_[n].address);
  Slot end;
  end.action = Action::leave;
  end.imm = i32(code_.back().address);
  end.cost = code_.back().position;
  add(end, code_.back().address);
  for (std::size_t n = 0; n < count; ++n)
    make_entry(timing, n);
  for (std::size_t n = 0; n < count; ++n)
    aim(timing, n, code_[n], n > 0 ? &code_[n - 1].instruction : nullptr);
  for (const Copy &copy : copies_)
    aim(timing, copy.slot, code_[copy.original], nullptr);
  start_ = resolve(image_.entry);
  for (Slot &slot : slots_)
    slot.handler = handler(slot.action);
}

std::string Program::where(u32 address) const {
  const std::pair<u32, std::string> *last = nullptr;
  for (const auto &symbol : image_.symbols)
    if (symbol.first <= address && (last == nullptr || symbol >= *last))
      last = &symbol;
  return last != nullptr ? last->second + "+" + hexadecimal(address - last->first) : hexadecimal(address);
}

void Program::decode_code(const Timing &timing) {
  Cost position = 0;
  std::size_t at = 0;
  while (at < image_.code.size()) {
    const u32 address = image_.text + u32(at), word = word_at(image_.code, at);
    const Instruction i = decode(word, image_.extensions);
    if (i.op == Op::unknown)
      throw std::invalid_argument("the instruction " + hexadecimal(word) + " at " + where(address));
    code_.push_back({address, i, position});
    const Instruction *before = code_.size() > 1 ? &code_[code_.size() - 2].instruction : nullptr;
    position += cost_of(cycles(timing, i, {.before = before, .taken = is_jump(i.op)}));
    at += i.length;
  }
  code_.push_back({image_.text + u32(at), {}, position});
}

i32 Program::add(const Slot &slot, u32 address) {
  slots_.push_back(slot);
  addresses_.push_back(address);
  return i32(slots_.size() - 1);
}

// Whoever comes to an instruction by a jump does not wait for the access that stands before it.
void Program::make_entry(const Timing &timing, std::size_t n) {
  const auto &[address, instruction, position] = code_[n];
  Entry &entry = entries_[(address - image_.text) / 2];
  entry.split = instruction.length == 4 && address % 4 != 0;
  entry.slot = i32(n);
  entry.cost = -position;
  const Instruction *before = n > 0 ? &code_[n - 1].instruction : nullptr;
  if (before == nullptr || !(is_load(before->op) || is_store(before->op)))
    return;
  if (!is_branch(instruction.op) && !is_jump(instruction.op)) {
    entry.cost += cost_of(cycles(timing, instruction, {})) - cost_of(cycles(timing, instruction, {.before = before}));
    return;
  }
  entry.slot = add(slots_[n], address);
  copies_.push_back({std::size_t(entry.slot), n});
  Slot onwards; // where the copy is not taken: behind the original
  onwards.action = Action::jump;
  onwards.target = i32(n + 1);
  onwards.cost = position + cost_of(cycles(timing, instruction, {})) - code_[n + 1].position;
  add(onwards, address);
}

void Program::aim(const Timing &timing, std::size_t slot, const Placed &from, const Instruction *before) {
  const Instruction &i = from.instruction;
  const auto leaving = [&](bool split) {
    return cost_of(cycles(timing, i, {.before = before, .taken = true, .split = split}));
  };
  if (i.op == Op::jalr) {
    slots_[slot].cost = from.position + leaving(false);
    slots_[slot].target = i32(leaving(true) - leaving(false));
  } else if (is_branch(i.op) || i.op == Op::jal) {
    const u32 address = from.address + u32(i.imm);
    const Entry to = resolve(address);
    slots_[slot].cost = from.position + leaving(to.split) + to.cost;
    slots_[slot].target = address <= from.address ? guarded(to, address) : to.slot;
  }
}

// Where a jump to an address goes; a slot that leaves the code where it has no such instruction.
Entry Program::resolve(u32 address) {
  if (const Entry &found = entry(address); found.slot >= 0)
    return found;
  Slot slot;
  slot.action = Action::leave;
  slot.imm = i32(address);
  return {.slot = add(slot, address), .split = false, .cost = 0};
}

// A way to the same place that looks at the cycle limit.
i32 Program::guarded(const Entry &entry, u32 address) {
  Slot slot;
  slot.action = Action::guard;
  slot.cost = -entry.cost;
  slot.target = entry.slot;
  return add(slot, address);
}

} // namespace rlcc
