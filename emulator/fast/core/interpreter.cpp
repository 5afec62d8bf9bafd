// Direct threading: each slot holds the address of its code, which ends with a jump to the next slot's. Nothing of the
// program runs on the host.
#include "interpreter.hpp"

#include <algorithm>

namespace rlcc {

namespace {

constexpr int kRa = 1, kSp = 2, kA0 = 10;
constexpr u32 kPattern = 0xA5A50000; // of registers that the calling convention leaves open

template <typename T> T read(const std::uint8_t *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

} // namespace

Interpreter::Interpreter(const Program &program) : program_(program), bytes_(program.image().layout.bytes) {
  for (u32 n = 1; n < 32; ++n)
    first_[n] = kPattern | n << 8 | n;
  first_[kRa] = program.image().back;
  first_[kSp] = program.image().layout.stack.high;
  int argument = kA0;
  for (const Block &block : blocks())
    first_[argument++] = block.region.low;
}

Outcome Interpreter::call() {
  Outcome outcome;
  run(this, &outcome);
  const Region &stack = program_.image().layout.stack;
  if (outcome.stack_low < stack.high) // the next call finds the stack as this one did
    std::memset(bytes_.data() + (outcome.stack_low - program_.image().layout.data.low), 0,
                stack.high - outcome.stack_low);
  return outcome;
}

const void *handler(Action action) { return Interpreter::run(nullptr, nullptr)[int(action)]; }

// The address of a label, which is GNU C++.
#define RLCC_ADDRESS(name) __extension__ &&do_##name

// Without an interpreter: the table of handlers, in the order of Action.
const void *const *Interpreter::run(Interpreter *self, Outcome *outcome) {
  static const void *const handlers[kActions] = {
#define RLCC_LABEL(name, ...) RLCC_ADDRESS(name),
      RLCC_REGISTER_OPERATIONS(RLCC_LABEL) RLCC_IMMEDIATE_OPERATIONS(RLCC_LABEL) RLCC_SHIFT_OPERATIONS(RLCC_LABEL)
          RLCC_UNARY_OPERATIONS(RLCC_LABEL) RLCC_LOADS(RLCC_LABEL) RLCC_STORES(RLCC_LABEL) RLCC_BRANCHES(RLCC_LABEL)
#undef RLCC_LABEL
              RLCC_ADDRESS(constant),
      RLCC_ADDRESS(jump),
      RLCC_ADDRESS(jump_and_link),
      RLCC_ADDRESS(jump_register),
      RLCC_ADDRESS(guard),
      RLCC_ADDRESS(trap),
      RLCC_ADDRESS(leave),
  };
  if (self == nullptr)
    return handlers;

  const Program &program = self->program_;
  const Layout &layout = program.image().layout;
  const Slot *const slots = program.slots();
  const std::uint8_t *const permissions = layout.permissions.data();
  std::uint8_t *const bytes = self->bytes_.data();
  const u32 base = layout.data.low, size = layout.data.size();
  u32 x[kNowhere + 1];
  std::copy(std::begin(self->first_), std::end(self->first_), x);
  const Cost table_load = program.table_load();
  u32 stack_low = layout.stack.high;
  const Slot *s = slots + program.start().slot;
  Cost spent = program.start().cost;

#define RLCC_GO goto * s->handler
#define RLCC_NEXT                                                                                                      \
  ++s;                                                                                                                 \
  RLCC_GO
#define RLCC_JUMP                                                                                                      \
  spent += s->cost;                                                                                                    \
  s = slots + s->target;                                                                                               \
  RLCC_GO

  RLCC_GO;

#define RLCC_REGISTER(name, value, meaning)                                                                            \
  do_##name : {                                                                                                        \
    const u32 a = x[s->rs1], b = x[s->rs2];                                                                            \
    x[s->rd] = meaning;                                                                                                \
    RLCC_NEXT;                                                                                                         \
  }
  RLCC_REGISTER_OPERATIONS(RLCC_REGISTER)
#undef RLCC_REGISTER

#define RLCC_IMMEDIATE(name, value, meaning)                                                                           \
  do_##name : {                                                                                                        \
    const u32 a = x[s->rs1];                                                                                           \
    [[maybe_unused]] const u32 i = u32(s->imm);                                                                        \
    x[s->rd] = meaning;                                                                                                \
    RLCC_NEXT;                                                                                                         \
  }
  RLCC_IMMEDIATE_OPERATIONS(RLCC_IMMEDIATE)
  RLCC_SHIFT_OPERATIONS(RLCC_IMMEDIATE)
  RLCC_UNARY_OPERATIONS(RLCC_IMMEDIATE)
#undef RLCC_IMMEDIATE

#define RLCC_LOAD(name, value, type)                                                                                   \
  do_##name : {                                                                                                        \
    const u32 offset = x[s->rs1] + u32(s->imm) - base;                                                                 \
    if (offset >= size || (permissions[offset] & (may_load * sizeof(type))) == 0) [[unlikely]]                         \
      goto refused;                                                                                                    \
    spent += (permissions[offset] & in_tables) != 0 ? table_load : 0;                                                  \
    x[s->rd] = u32(i32(read<type>(bytes + offset)));                                                                   \
    RLCC_NEXT;                                                                                                         \
  }
  RLCC_LOADS(RLCC_LOAD)
#undef RLCC_LOAD

#define RLCC_STORE(name, value, type)                                                                                  \
  do_##name : {                                                                                                        \
    const u32 offset = x[s->rs1] + u32(s->imm) - base;                                                                 \
    if (offset >= size || (permissions[offset] & (may_store * sizeof(type))) == 0) [[unlikely]]                        \
      goto refused;                                                                                                    \
    if ((permissions[offset] & in_stack) != 0)                                                                         \
      stack_low = std::min(stack_low, offset + base);                                                                  \
    const type stored = type(x[s->rs2]);                                                                               \
    std::memcpy(bytes + offset, &stored, sizeof stored);                                                               \
    RLCC_NEXT;                                                                                                         \
  }
  RLCC_STORES(RLCC_STORE)
#undef RLCC_STORE

#define RLCC_BRANCH(name, value, taken)                                                                                \
  do_##name : {                                                                                                        \
    const u32 a = x[s->rs1], b = x[s->rs2];                                                                            \
    if (taken) {                                                                                                       \
      RLCC_JUMP;                                                                                                       \
    }                                                                                                                  \
    RLCC_NEXT;                                                                                                         \
  }
  RLCC_BRANCHES(RLCC_BRANCH)
#undef RLCC_BRANCH

do_constant:
  x[s->rd] = u32(s->imm);
  RLCC_NEXT;

do_jump_and_link:
  x[s->rd] = u32(s->imm);
do_jump:
  RLCC_JUMP;

do_jump_register:
  {
    const u32 target = (x[s->rs1] + u32(s->imm)) & ~1U;
    spent += s->cost;
    if (target == program.image().back) {
      outcome->cost = spent;
      goto done;
    }
    if (cycles_in(spent) > program.cycle_limit())
      goto timeout;
    const Entry &entry = program.entry(target);
    if (entry.slot < 0) {
      outcome->fault = {program.inside(target) ? Fault::middle : Fault::execute, program.address(s), target, 0};
      goto done;
    }
    x[s->rd] = program.address(s) + s->length;
    spent += entry.cost + (entry.split ? s->target : 0);
    s = slots + entry.slot;
    RLCC_GO;
  }

do_guard:
  if (cycles_in(spent + s->cost) > program.cycle_limit())
    goto timeout;
  s = slots + s->target;
  RLCC_GO;

do_trap:
  outcome->fault = {Fault::trap, program.address(s), 0, u32(s->imm)};
  goto done;

do_leave:
  if (u32(s->imm) == program.image().back)
    outcome->cost = spent + s->cost;
  else
    outcome->fault = {program.inside(u32(s->imm)) ? Fault::middle : Fault::execute, u32(s->imm), u32(s->imm), 0};
  goto done;

timeout:
  outcome->fault = {Fault::timeout, program.address(s), 0, 0};
  goto done;

refused:
  outcome->fault = refusal(program, Op(std::uint8_t(s->action)), program.address(s), x[s->rs1] + u32(s->imm));

done:
  outcome->returned = x[kA0];
  outcome->stack_low = stack_low;
  return nullptr;
#undef RLCC_ADDRESS
#undef RLCC_GO
#undef RLCC_NEXT
#undef RLCC_JUMP
}

} // namespace rlcc
