// Calls one function once a record of the input on the Verilated core and counts its cycles.
//
//   ibex_bench JOB INPUT OUTPUT
//
// INPUT:  for each record the bytes of every block (argument structure), in order.
// OUTPUT: for each record: cycles (u64), a0 at return (u32), lowest stack address written (u32), the bytes of the
// writable blocks. Exit 0; 1 with a message on stderr (bad job); 3 when the function left its bounds, with one line on
// stdout:
//   fault KIND record pc address cause
//
// Cycles of a call: from the first cycle in which the instruction at the function's entry stands in ID/EX to the first
// cycle in which the instruction after the call stands there; the first counted, the last not. So each instruction of
// the function counts for as long as it occupies ID/EX, plus the bubbles behind it up to its successor; the return's
// own bubble is in, the call is not.
#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>

#include "Vrlcc_ibex.h"
#include "job.hpp"
#include "memory.hpp"
#include "verilated.h"

namespace {

struct Fault : std::exception {
  const char *kind;
  uint32_t pc, address, cause;
  Fault(const char *k, uint32_t p, uint32_t a, uint32_t c = 0) : kind(k), pc(p), address(a), cause(c) {}
};

class Bench {
public:
  explicit Bench(const Job &job)
      : job_(job), instruction_(job.instruction.low, job.instruction.high - job.instruction.low),
        data_(job.data.low, job.data.high - job.data.low), context_(std::make_unique<VerilatedContext>()),
        core_(std::make_unique<Vrlcc_ibex>(context_.get())) {
    for (const Image &image : job.images)
      load(image);
    reset();
  }
  ~Bench() { core_->final(); }

  // Runs until the runner has stored the result of one call.
  void call() {
    phase_ = Phase::before;
    done_ = false;
    cycles_ = 0;
    stack_low_ = job_.stack.high;
    for (uint64_t n = 0; !done_; ++n) {
      if (n > job_.cycle_limit)
        throw Fault("timeout", core_->id_pc_o, 0);
      cycle();
    }
  }

  Memory &data() { return data_; }
  uint64_t cycles() const { return cycles_; }
  uint32_t result() const { return result_; }
  uint32_t stack_low() const { return stack_low_; }

private:
  enum class Phase { before, inside, after };

  void load(const Image &image) {
    std::ifstream file(image.path, std::ios::binary);
    if (!file)
      throw std::runtime_error("cannot read " + image.path);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (bytes.empty())
      return;
    Memory &memory = instruction_.holds(image.address, 1) ? instruction_ : data_;
    if (!memory.holds(image.address, uint32_t(bytes.size())))
      throw std::runtime_error("image does not fit: " + image.path);
    std::memcpy(memory.at(image.address), bytes.data(), bytes.size());
  }

  void reset() {
    core_->instr_wait_i = uint8_t(job_.instruction_wait);
    core_->data_wait_i = uint8_t(job_.data_wait);
    core_->clk_i = 0;
    core_->rst_ni = 0;
    for (int i = 0; i < 8; ++i) {
      core_->clk_i = !core_->clk_i;
      core_->eval();
    }
    core_->rst_ni = 1;
  }

  // One clock cycle: after the rising edge everything has settled; what is granted now is served before the next one.
  void cycle() {
    core_->clk_i = 1;
    core_->eval();
    if (core_->id_valid_o)
      follow(core_->id_pc_o);
    if (phase_ == Phase::inside)
      ++cycles_;
    if (core_->instr_gnt_o) { // a prefetch past the end answers with an error, felt only if it is executed
      const uint32_t address = core_->instr_addr_o;
      core_->instr_fault_i = !instruction_.holds(address, 4);
      core_->instr_word_i = core_->instr_fault_i ? 0 : instruction_.word(address);
    }
    if (core_->data_gnt_o)
      core_->data_word_i = access();
    core_->clk_i = 0;
    core_->eval();
  }

  void follow(uint32_t pc) {
    if (phase_ == Phase::before && pc == job_.entry)
      phase_ = Phase::inside;
    else if (phase_ == Phase::inside && pc == job_.back)
      phase_ = Phase::after;
    if (phase_ == Phase::inside && !job_.text.covers(pc, 2) && pc >= trap_vectors_end)
      throw Fault("execute", pc, pc);
  }

  // One data access: it is checked and done, and its word is returned. A misaligned access comes as two of these.
  uint32_t access() {
    const uint32_t address = core_->data_addr_o;
    const uint32_t enable = core_->data_be_o;
    const uint32_t first = address + uint32_t(__builtin_ctz(enable | 16));
    const uint32_t size = uint32_t(__builtin_popcount(enable));
    if (core_->data_we_o && core_->id_pc_o < trap_vectors_end) { // the trap handler: mepc, then mcause
      if (first == job_.trap)
        throw Fault("trap", trap_pc_, last_address_, core_->data_wdata_o);
      trap_pc_ = core_->data_wdata_o;
      return 0;
    }
    if (phase_ == Phase::inside)
      check(first, size);
    last_address_ = first;
    if (!data_.holds(address, 4))
      throw Fault("bus", core_->id_pc_o, first);
    if (!core_->data_we_o)
      return data_.word(address);
    data_.write(address, core_->data_wdata_o, enable);
    if (first == job_.mailbox) {
      result_ = core_->data_wdata_o;
      done_ = true;
    }
    return 0;
  }

  void check(uint32_t first, uint32_t size) {
    const bool store = core_->data_we_o;
    if (job_.stack.covers(first, size)) {
      if (store && first < stack_low_)
        stack_low_ = first;
      return;
    }
    for (const Block &block : job_.blocks) {
      if (!block.region.covers(first, size))
        continue;
      if (store && !block.writable)
        throw Fault("store-const", core_->id_pc_o, first);
      return;
    }
    if (!store && job_.constants.covers(first, size))
      return;
    throw Fault(store ? "store" : "load", core_->id_pc_o, first);
  }

  static constexpr uint32_t trap_vectors_end =
      0x80; // Ibex: exceptions go to the boot address, reset to boot address + 0x80

  const Job &job_;
  Memory instruction_, data_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Vrlcc_ibex> core_;
  Phase phase_ = Phase::before;
  bool done_ = false;
  uint64_t cycles_ = 0;
  uint32_t result_ = 0, stack_low_ = 0, trap_pc_ = 0, last_address_ = 0;
};

template <typename T> void put(std::ofstream &out, T value) {
  out.write(reinterpret_cast<const char *>(&value), sizeof value);
}

int run(const Job &job, const char *input, const char *output) {
  std::ifstream in(input, std::ios::binary);
  std::ofstream out(output, std::ios::binary);
  if (!in || !out)
    throw std::runtime_error("cannot open the input or the output");
  Bench bench(job);
  uint32_t word = job.arguments;
  for (const Block &block : job.blocks) {
    std::memcpy(bench.data().at(word), &block.region.low, 4);
    word += 4;
  }
  for (uint64_t i = 0; i < job.count; ++i) {
    for (const Block &block : job.blocks)
      in.read(reinterpret_cast<char *>(bench.data().at(block.region.low)), block.size());
    if (!in)
      throw std::runtime_error("the input ends early");
    try {
      bench.call();
    } catch (const Fault &f) {
      std::printf("fault %s %llu %u %u %u\n", f.kind, static_cast<unsigned long long>(i), f.pc, f.address, f.cause);
      return 3;
    }
    put(out, bench.cycles());
    put(out, bench.result());
    put(out, bench.stack_low());
    for (const Block &block : job.blocks)
      if (block.writable)
        out.write(reinterpret_cast<const char *>(bench.data().at(block.region.low)), block.size());
  }
  out.flush();
  if (!out)
    throw std::runtime_error("cannot write the output");
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: ibex_bench JOB INPUT OUTPUT\n");
    return 1;
  }
  try {
    const Job job = read_job(argv[1]);
    return run(job, argv[2], argv[3]);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
