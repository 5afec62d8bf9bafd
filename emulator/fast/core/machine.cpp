#include "machine.hpp"

#include <algorithm>

namespace rlcc {

namespace {

constexpr u32 kReset = 0x80; // exceptions go to 0
constexpr int kA0 = 10;
constexpr u64 kNever = ~u64{0};

template <typename T> T read(const std::uint8_t *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void decode_into(std::vector<Instruction> &code, const std::vector<std::uint8_t> &bytes, u32 base,
                 Extensions extensions) {
  for (std::size_t at = 0; at < bytes.size();) {
    u32 word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(4, bytes.size() - at));
    const Instruction i = decode(word, extensions);
    code[(base + at) / 2] = i;
    at += i.length;
  }
}

} // namespace

Machine::Machine(const Program &program, const Settings &settings)
    : program_(program), settings_(settings), instruction_cache_(settings.instruction_cache),
      data_cache_(settings.data_cache) {
  const Image &image = program.image();
  code_.resize((std::max<std::size_t>(image.text + image.code.size(), settings.runner.size()) + 1) / 2);
  decode_into(code_, settings.runner, 0, image.extensions);
  decode_into(code_, image.code, image.text, image.extensions);
  restart();
}

void Machine::restart() {
  bytes_ = layout().bytes;
  u32 word = settings_.arguments - layout().data.low;
  for (const Block &block : blocks()) {
    std::memcpy(bytes_.data() + word, &block.region.low, sizeof word);
    word += sizeof word;
  }
  instruction_cache_.clear();
  data_cache_.clear();
  reset();
}

void Machine::reset() {
  prefetch_ = {};
  now_ = answer_ = 0;
  loaded_ = 0;
  pc_ = kReset;
  const Wanted first{pc_, at(pc_).length};
  for (bool branch = true; !prefetch_.cycle(branch, true, first, [this](u32 a) { return fetched(a); }); branch = false)
    ++now_;
  ++now_;
}

void Machine::forget_writable() {
  for (const Block &block : blocks())
    if (block.writable)
      data_cache_.forget(block.region.low, block.region.high);
}

const Instruction &Machine::at(u32 address) const {
  static const Instruction none;
  return address / 2 < code_.size() ? code_[address / 2] : none;
}

// A fetch is granted. That of the function's entry finds the caches as the state says; the runner leaves them alone.
u32 Machine::fetched(u32 address) {
  if (phase_ == Phase::before && address == (program_.image().entry & ~3U)) {
    if (settings_.state == State::cold) {
      instruction_cache_.clear();
      data_cache_.clear();
    } else if (settings_.state == State::other_flow) {
      forget_writable();
    }
  }
  if (instruction_cache_)
    return program_.inside(address) ? instruction_cache_.read(address) : 0;
  return settings_.instruction_wait;
}

u32 Machine::data_wait(const Instruction &i, u32 address) {
  if (data_cache_)
    return is_load(i.op) && phase_ == Phase::inside ? data_cache_.read(address & ~3U) : 0;
  return (layout().permissions[address - layout().data.low] & in_tables) != 0 ? settings_.table_wait
                                                                              : settings_.data_wait;
}

Outcome Machine::call() {
  Outcome outcome;
  if (settings_.state == State::cold)
    reset();
  phase_ = Phase::before;
  done_ = false;
  stack_low_ = layout().stack.high;
  const u64 called = now_;
  u64 entered = now_;
  u32 instructions = 0;
  while (!done_) {
    if (phase_ == Phase::before && pc_ == program_.image().entry) {
      phase_ = Phase::inside;
      entered = now_;
    } else if (phase_ == Phase::inside && pc_ == program_.image().back) {
      phase_ = Phase::after;
      outcome.cost = Cost(now_ - entered) + (Cost{instructions} << 32);
    }
    if (phase_ == Phase::inside) {
      ++instructions;
      if (program_.entry(pc_).slot < 0)
        outcome.fault = {program_.inside(pc_) ? Fault::middle : Fault::execute, pc_, pc_, 0};
    }
    if (now_ - called > program_.cycle_limit())
      outcome.fault = {Fault::timeout, pc_, 0, 0};
    if (outcome.fault.kind != Fault::none)
      return outcome;
    const Instruction &i = at(pc_);
    const Step step = execute(i, pc_);
    outcome.fault = step.fault;
    if (outcome.fault.kind != Fault::none)
      return outcome;
    time(i, step);
    pc_ = step.next;
  }
  outcome.returned = x_[kA0];
  outcome.stack_low = stack_low_;
  return outcome;
}

// The clock moves to where the next instruction comes to ID/EX.
void Machine::time(const Instruction &i, const Step &step) {
  const bool needed = loaded_ != 0 && (loaded_ == i.rs1 || loaded_ == i.rs2);
  const u64 start = std::max(now_, answer_ + (needed ? settings_.timing.load_use : 0)); // held by the access before
  u64 jumps = kNever, last = start;
  loaded_ = 0;
  if (is_load(i.op) || is_store(i.op)) {
    const u64 answer = start + 1 + data_wait(i, step.address);
    if (settings_.writeback) {
      answer_ = answer;
      loaded_ = is_load(i.op) ? i.rd : 0;
    } else {
      last = answer;
    }
  } else if (step.taken) {
    const u64 free = needed ? start : now_; // a jump that only waits for its turn already fetches
    const bool late = is_branch(i.op) && !settings_.branch_target_alu;
    jumps = settings_.branch_target_alu ? free : late ? start + 1 : start;
    last = settings_.branch_target_alu ? start : start + 1;
  } else {
    last = start + alone(settings_.timing, i, false) - 1;
  }
  const Wanted wanted{step.next, at(step.next).length};
  const auto fetch = [this](u32 address) { return fetched(address); };
  for (;; ++now_) {
    const bool branch = now_ == jumps;
    if (prefetch_.cycle(branch, now_ >= last, wanted, fetch))
      break;
    if (now_ >= last && (jumps == kNever || now_ > jumps))
      now_ += prefetch_.skip();
  }
  ++now_;
}

Machine::Step Machine::execute(const Instruction &i, u32 pc) {
  Step step{.next = pc + i.length, .address = 0, .taken = false, .fault = {}};
  const u32 a = x_[i.rs1], b = x_[i.rs2];
  u32 value = 0;
  const auto offset = [&](u32 size, bool store) -> u32 {
    step.address = a + u32(i.imm);
    const u32 at = step.address - layout().data.low;
    const bool there = at < bytes_.size() && bytes_.size() - at >= size;
    const u32 needed = (store ? may_store : may_load) * size;
    if (!there || (phase_ == Phase::inside && (layout().permissions[at] & needed) == 0))
      step.fault = refusal(program_, i.op, pc, step.address);
    else if (store && (layout().permissions[at] & in_stack) != 0)
      stack_low_ = std::min(stack_low_, step.address);
    return at;
  };
  switch (i.op) {
#define RLCC_REGISTER(name, bits, meaning)                                                                             \
  case Op::name:                                                                                                       \
    value = meaning;                                                                                                   \
    break;
#define RLCC_IMMEDIATE(name, bits, meaning)                                                                            \
  case Op::name: {                                                                                                     \
    [[maybe_unused]] const u32 imm = u32(i.imm);                                                                       \
    value = [](u32 a, [[maybe_unused]] u32 i) -> u32 { return meaning; }(a, imm);                                      \
    break;                                                                                                             \
  }
#define RLCC_LOAD(name, bits, type)                                                                                    \
  case Op::name: {                                                                                                     \
    const u32 at = offset(sizeof(type), false);                                                                        \
    if (step.fault.kind != Fault::none)                                                                                \
      return step;                                                                                                     \
    value = u32(i32(read<type>(bytes_.data() + at)));                                                                  \
    break;                                                                                                             \
  }
#define RLCC_STORE(name, bits, type)                                                                                   \
  case Op::name: {                                                                                                     \
    const u32 at = offset(sizeof(type), true);                                                                         \
    if (step.fault.kind != Fault::none)                                                                                \
      return step;                                                                                                     \
    const type stored = type(b);                                                                                       \
    std::memcpy(bytes_.data() + at, &stored, sizeof stored);                                                           \
    done_ = phase_ == Phase::after && step.address == settings_.mailbox;                                               \
    return step;                                                                                                       \
  }
#define RLCC_BRANCH(name, bits, is_taken)                                                                              \
  case Op::name:                                                                                                       \
    step.taken = is_taken;                                                                                             \
    if (step.taken)                                                                                                    \
      step.next = pc + u32(i.imm);                                                                                     \
    return step;
    RLCC_REGISTER_OPERATIONS(RLCC_REGISTER)
    RLCC_IMMEDIATE_OPERATIONS(RLCC_IMMEDIATE)
    RLCC_SHIFT_OPERATIONS(RLCC_IMMEDIATE)
    RLCC_UNARY_OPERATIONS(RLCC_IMMEDIATE)
    RLCC_LOADS(RLCC_LOAD)
    RLCC_STORES(RLCC_STORE)
    RLCC_BRANCHES(RLCC_BRANCH)
#undef RLCC_REGISTER
#undef RLCC_IMMEDIATE
#undef RLCC_LOAD
#undef RLCC_STORE
#undef RLCC_BRANCH
  case Op::lui:
    value = u32(i.imm);
    break;
  case Op::auipc:
    value = pc + u32(i.imm);
    break;
  case Op::jal:
  case Op::jalr:
    step.taken = true;
    step.next = i.op == Op::jal ? pc + u32(i.imm) : (a + u32(i.imm)) & ~1U;
    value = pc + i.length;
    break;
  default:
    step.fault = {Fault::trap, pc, 0, cause_of(i.op)};
    return step;
  }
  if (i.rd != 0)
    x_[i.rd] = value;
  return step;
}

} // namespace rlcc
