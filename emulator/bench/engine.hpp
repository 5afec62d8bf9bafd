// A Verilated core with its memories: calls one function, counts its cycles and checks each access.
//
// Cycles of a call: from the first cycle in which the instruction at the function's entry stands where the core's top
// says (id_valid_o, id_pc_o; for Ibex ID/EX) to the first cycle in which the instruction after the call stands there;
// the first counted, the last not. So each instruction of the function counts for as long as it stands there, plus the
// bubbles behind it up to its successor; the return's own bubbles are in, the call is not.
#pragma once

#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include "Vrlcc_core.h"
#include "called.hpp"
#include "fault.hpp"
#include "job.hpp"
#include "memory.hpp"
#include "verilated.h"

class Engine {
public:
  explicit Engine(const Job &job)
      : job_(job), instruction_(job.instruction.low, job.instruction.high - job.instruction.low),
        data_(job.data.low, job.data.high - job.data.low), instruction_cache_(job.instruction_cache),
        data_cache_(job.data_cache), context_(std::make_unique<VerilatedContext>()),
        core_(std::make_unique<Vrlcc_core>(context_.get())) {
    for (const Image &image : job.images)
      contents_.push_back(read(image));
    restart();
  }
  Engine(const Engine &) = delete;
  Engine &operator=(const Engine &) = delete;
  ~Engine() {
    Verilated::threadContextp(
        context_.get()); // in which the model looks itself up as it goes: there may be other engines
    core_->final();
  }

  // As after power-on: the core reset, its caches empty, its data memory as it was loaded.
  void restart() {
    data_.clear();
    for (size_t i = 0; i < contents_.size(); ++i)
      load(job_.images[i], contents_[i]);
    uint32_t word = job_.arguments;
    for (const Block &block : job_.blocks) {
      std::memcpy(data_.at(word), &block.region.low, sizeof word);
      word += sizeof word;
    }
    instruction_cache_.clear();
    data_cache_.clear();
    reset();
  }

  // Runs until the runner has stored the result of one call; the blocks hold its arguments and then what it wrote.
  // ``by_address``: of each two bytes of text, to which the cycles spent there are added.
  Called call(uint64_t *by_address = nullptr) {
    by_address_ = by_address;
    if (job_.state == State::cold)
      reset();
    phase_ = Phase::before;
    done_ = false;
    called_ = Called{};
    called_.stack_low = job_.stack.high;
    for (uint64_t n = 0; !done_; ++n) {
      if (n > job_.cycle_limit)
        throw Fault("timeout", pc_, 0);
      cycle();
    }
    return called_;
  }

  // The data cache loses the writable blocks: another flow's context comes.
  void forget_writable() {
    for (const Block &block : job_.blocks)
      if (block.writable)
        data_cache_.forget(block.region.low, block.region.high);
  }

  uint8_t *block(size_t index) { return data_.at(job_.blocks[index].region.low); }

private:
  enum class Phase { before, inside, after };
  using DataWord = std::remove_reference_t<decltype(std::declval<Vrlcc_core>().data_word_i)>;
  using InstructionWord = std::remove_reference_t<decltype(std::declval<Vrlcc_core>().instr_word_i)>;

  static std::vector<char> read(const Image &image) {
    std::ifstream file(image.path, std::ios::binary);
    if (!file)
      throw std::runtime_error("cannot read " + image.path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  void load(const Image &image, const std::vector<char> &bytes) {
    if (bytes.empty())
      return;
    Memory &memory = instruction_.holds(image.address, 1) ? instruction_ : data_;
    if (!memory.holds(image.address, uint32_t(bytes.size())))
      throw std::runtime_error("image does not fit: " + image.path);
    std::memcpy(memory.at(image.address), bytes.data(), bytes.size());
  }

  void reset() {
    core_->instr_wait_i = uint16_t(job_.instruction_wait);
    core_->data_wait_i = uint16_t(job_.data_wait);
    core_->clk_i = 0;
    core_->rst_ni = 0;
    for (int i = 0; i < 8; ++i) {
      core_->clk_i = !core_->clk_i;
      core_->eval();
    }
    core_->rst_ni = 1;
    between_ = 0;
  }

  // One clock cycle: after the rising edge everything has settled; what is granted now is served before the next one.
  void cycle() {
    core_->clk_i = 1;
    core_->eval();
    if (core_->id_valid_o)
      follow(core_->id_pc_o);
    if (phase_ == Phase::inside) {
      ++called_.cycles;
      if (by_address_ && job_.text.covers(pc_, 2))
        ++by_address_[(pc_ - job_.text.low) / 2];
    } else {
      ++between_;
      ++entering_;
    }
    if (core_->trap_o) // a core without exceptions stops
      throw Fault("trap", pc_, 0, unknown_cause);
    if (core_->instr_gnt_o)
      fetch();
    if (core_->data_gnt_o)
      access();
    core_->clk_i = 0;
    core_->eval();
  }

  void follow(uint32_t pc) {
    if (pc != pc_ && pc == job_.back - 4) // the call
      entering_ = 0;
    pc_ = pc;
    if (phase_ == Phase::before && pc == job_.entry) {
      phase_ = Phase::inside;
      called_.between = between_;
      called_.entering = entering_;
      between_ = 0;
    } else if (phase_ == Phase::inside && pc == job_.back)
      phase_ = Phase::after;
    if (phase_ == Phase::inside && !job_.text.covers(pc, 2) && pc >= trap_vectors_end)
      throw Fault("execute", pc, pc);
  }

  void fetch() { // a prefetch past the end answers with an error, felt only if it is executed
    const uint32_t address = core_->instr_addr_o;
    core_->instr_fault_i = !instruction_.holds(address, sizeof(InstructionWord));
    core_->instr_word_i = core_->instr_fault_i ? 0 : instruction_.word<InstructionWord>(address);
    const bool ours = job_.text.covers(address, 1); // the runner is not the policy: it leaves the caches alone
    if (phase_ == Phase::before && address == (job_.entry & ~uint32_t(sizeof(InstructionWord) - 1)))
      begin();
    if (instruction_cache_) {
      const uint32_t wait = ours ? instruction_cache_.read(address) : 0;
      called_.instruction_misses += wait != 0;
      core_->instr_wait_i = uint16_t(wait);
    }
  }

  // The first fetch of the function: now the caches are as the state says. (Before it there was the runner alone.)
  void begin() {
    called_.instruction_misses = called_.data_misses = 0;
    if (job_.state == State::cold) {
      instruction_cache_.clear();
      data_cache_.clear();
    } else if (job_.state == State::other_flow)
      forget_writable();
  }

  // One data access: it is checked and done. A misaligned access comes as two of these.
  void access() {
    const uint32_t address = core_->data_addr_o;
    const uint32_t enable = core_->data_be_o;
    const uint32_t first = address + uint32_t(__builtin_ctz(enable | 1U << sizeof(DataWord)));
    const uint32_t size = uint32_t(__builtin_popcount(enable));
    const auto stored = uint32_t(core_->data_wdata_o >> (8 * (first - address)));
    core_->data_word_i = 0;
    if (core_->data_we_o && pc_ < trap_vectors_end) { // the trap handler: mepc, then mcause
      if (first == job_.trap)
        throw Fault("trap", trap_pc_, last_address_, stored);
      trap_pc_ = stored;
      return;
    }
    if (phase_ == Phase::inside)
      check(first, size);
    last_address_ = first;
    if (!data_.holds(address, sizeof(DataWord)))
      throw Fault("bus", pc_, first);
    if (data_cache_)
      core_->data_wait_i = core_->data_we_o || phase_ != Phase::inside ? 0 : load_wait(address);
    else if (job_.table_wait != job_.data_wait)
      core_->data_wait_i = uint16_t(job_.constants.covers(first, size) ? job_.table_wait : job_.data_wait);
    if (!core_->data_we_o) {
      core_->data_word_i = data_.word<DataWord>(address);
      return;
    }
    data_.write<DataWord>(address, core_->data_wdata_o, enable);
    if (first == job_.mailbox) {
      called_.result = stored;
      done_ = true;
    }
  }

  uint16_t load_wait(uint32_t address) {
    const uint32_t wait = data_cache_.read(address);
    called_.data_misses += wait != 0;
    return uint16_t(wait);
  }

  void check(uint32_t first, uint32_t size) {
    const bool store = core_->data_we_o;
    if (job_.stack.covers(first, size)) {
      if (store && first < called_.stack_low)
        called_.stack_low = first;
      return;
    }
    for (const Block &block : job_.blocks) {
      if (!block.region.covers(first, size))
        continue;
      if (store && !block.writable)
        throw Fault("store-const", pc_, first);
      return;
    }
    if (!store && job_.constants.covers(first, size))
      return;
    throw Fault(store ? "store" : "load", pc_, first);
  }

  static constexpr uint32_t trap_vectors_end = 0x80; // exceptions go to address 0, reset to 0x80
  static constexpr uint32_t unknown_cause = ~uint32_t{0};

  const Job &job_;
  std::vector<std::vector<char>> contents_;
  Memory instruction_, data_;
  Cache instruction_cache_, data_cache_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Vrlcc_core> core_;
  Phase phase_ = Phase::before;
  bool done_ = false;
  Called called_;
  uint64_t *by_address_ = nullptr;
  uint32_t between_ = 0, entering_ = 0;
  uint32_t pc_ = 0; // of the instruction that stands, or that stood last
  uint32_t trap_pc_ = 0, last_address_ = 0;
};
