// CVA6 with caches of its own, and the memory behind them: the class Engine, as engine.hpp has it for the other cores.
//
// Cycles of a call: from the cycle after the one in which the call retires to the one in which the function's return
// retires, that one counted. Stores may then still wait in the core's write buffer. By address: the cycles since the
// instruction before it retired are an instruction's.
//
// The memory answers a line after 1 + wait cycles, as the next level of caches would, or after 1 + first_wait cycles
// where the line was not read since everything was emptied (DRAM); then 8 bytes a cycle. Instruction and data misses do
// not wait for each other. What the runner reads and writes is not cacheable and is answered after one cycle.
#pragma once

#include <array>
#include <deque>
#include <iterator>
#include <memory>
#include <unordered_set>
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
        data_(job.data.low, job.data.high - job.data.low), shared_(shared_base, shared_bytes), home_(job.blocks.size()),
        before_(job.blocks.size()), context_(std::make_unique<VerilatedContext>()),
        core_(std::make_unique<Vrlcc_core>(context_.get())) {
    for (size_t i = 0; i < job.blocks.size(); ++i)
      home_[i].resize(job.blocks[i].size() + 8); // copied in words
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

  // As after power-on: the core reset, which empties its caches, and its data memory as it was loaded.
  void restart() {
    data_.clear();
    for (size_t i = 0; i < contents_.size(); ++i)
      load(job_.images[i], contents_[i]);
    place_ = 0;
    before_.assign(before_.size(), {});
    reset();
  }

  // One round of the runner; the blocks hold the call's arguments and then what it wrote.
  // ``by_address``: of each two bytes of text, to which the cycles spent there are added.
  Called call(uint64_t *by_address = nullptr) {
    by_address_ = by_address;
    if (job_.state == State::cold)
      reset();
    if (job_.state == State::other_flow)
      forget_writable();
    give_orders();
    phase_ = Phase::before;
    done_ = false;
    called_ = Called{};
    called_.stack_low = job_.stack.high;
    const uint64_t begin = time_;
    while (!done_) {
      if (time_ - begin > job_.cycle_limit)
        throw Fault("timeout", uint32_t(last_pc_), 0);
      cycle();
    }
    for (size_t i = 0; i < blocks_.size(); ++i)
      if (blocks_[i].writable)
        std::memcpy(home_[i].data(), data_.at(blocks_[i].region.low), blocks_[i].size());
    return called_;
  }

  // The writable blocks move to a place that was not read for long: the data cache does not hold it.
  void forget_writable() { ++place_; }

  uint8_t *block(size_t index) { return home_[index].data(); }

private:
  enum class Phase { before, ahead, inside, after };
  struct Read { // of a line or a word, as it came
    uint64_t address, ready;
    uint32_t beats;
    uint8_t id;
  };
  struct Answer { // to a store
    uint64_t ready;
    uint8_t id;
  };
  using Bytes = std::vector<uint8_t>;
  using Counts = std::array<uint32_t, 2>; // of lines read: instruction, data

  // Where runner and bench meet: emulator/runner/cva6.S.
  static constexpr uint32_t shared_base = 0x2000'0000, shared_bytes = 4096;
  static constexpr uint32_t second_call = 32, result_word = 64, done_word = 80, empty_word = 88, copies = 128;
  static constexpr uint32_t settled = 100; // cycles without a sign of life
  static constexpr uint32_t row = 64;      // places of moved blocks lie on such boundaries

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
    fetched_.clear();
    reads_.clear();
    addresses_.clear();
    words_.clear();
    answers_.clear();
    bursting_ = false;
    core_->r_valid_i = core_->b_valid_i = 0;
    core_->clk_i = 0;
    core_->rst_ni = 0;
    for (int i = 0; i < 8; ++i) {
      core_->clk_i = !core_->clk_i;
      core_->eval();
    }
    core_->rst_ni = 1;
  }

  // Where the blocks lie in this call. Above their homes is free memory up to the stack: for another decision that
  // comes before (back to back), or for one place after another of the writable ones.
  std::vector<Block> moved(uint32_t place, bool all) const {
    std::vector<Block> blocks = job_.blocks;
    uint32_t free = 0;
    for (const Block &block : blocks)
      free = std::max(free, block.region.high);
    const uint32_t low = (free + 2 * row - 1) / row * row, high = job_.stack.low - row;
    uint32_t needed = 0;
    for (const Block &block : blocks)
      needed += all || block.writable ? (block.size() + row - 1) / row * row : 0;
    if (!needed)
      return blocks;
    const uint32_t places = high > low ? (high - low) / needed : 0;
    if (!places)
      throw std::runtime_error("the data memory has no room to move the argument structures");
    uint32_t at = low + place % places * needed;
    for (Block &block : blocks)
      if (all || block.writable) {
        const uint32_t size = block.size();
        block.region = {at, at + size};
        at += (size + row - 1) / row * row;
      }
    return blocks;
  }

  // The runner's orders: the arguments of one call or two, and what to copy where.
  void give_orders() {
    blocks_ = place_ ? moved(place_ - 1, false) : job_.blocks;
    std::memset(shared_.at(shared_base), 0, copies);
    uint32_t list = shared_base + copies;
    ahead_ = job_.state == State::back_to_back;
    if (ahead_) {
      for (size_t i = 0; i < blocks_.size(); ++i)
        if (before_[i].empty())
          before_[i] = home_[i];
      order(moved(0, true), before_, shared_base, list);
      before_ = home_;
    }
    order(blocks_, home_, shared_base + (ahead_ ? second_call : 0), list);
    put(list, 0);
    put(list, 0);
    uint32_t empty = shared_base + empty_word;
    put(empty, job_.state == State::cold);
  }

  void order(const std::vector<Block> &blocks, const std::vector<Bytes> &contents, uint32_t arguments, uint32_t &list) {
    for (size_t i = 0; i < blocks.size(); ++i) {
      put(arguments, blocks[i].region.low);
      const uint32_t size = (blocks[i].size() + 3) / 4 * 4;
      put(list, blocks[i].region.low);
      put(list, blocks[i].region.low + size);
      if (!shared_.holds(list, size + 32))
        throw std::runtime_error("the argument structures are too large for the runner");
      std::memcpy(shared_.at(list), contents[i].data(), size);
      list += (size + 7) / 8 * 8;
    }
  }

  void put(uint32_t &at, uint64_t value) {
    std::memcpy(shared_.at(at), &value, sizeof value);
    at += sizeof value;
  }

  // One clock cycle: the memory's answers, then what the core retires and asks for in it, then the edge.
  void cycle() {
    answer();
    core_->clk_i = 0;
    core_->eval();
    const bool busy = core_->retired_o || core_->ar_valid_o || core_->aw_valid_o || core_->w_valid_o ||
                      core_->r_valid_i || core_->b_valid_i;
    quiet_ = busy ? 0 : quiet_ + 1;
    retire();
    take();
    core_->clk_i = 1;
    core_->eval();
    ++time_;
    if (quiet_ >= settled)
      sleep();
  }

  // Nothing has moved for longer than the core's longest instruction takes (a division): it waits for the memory and
  // nothing else will move until that answers. So the cycles up to there pass at once.
  void sleep() {
    uint64_t next = UINT64_MAX;
    for (const Read &read : reads_)
      next = std::min(next, read.ready);
    if (!answers_.empty())
      next = std::min(next, answers_.front().ready);
    if (next != UINT64_MAX)
      time_ = std::max(time_, next);
    quiet_ = 0;
  }

  void answer() {
    if (!bursting_)
      for (Read &read : reads_)
        if (read.ready <= time_) {
          std::swap(reads_.front(), read);
          bursting_ = true;
          break;
        }
    core_->r_valid_i = bursting_;
    if (bursting_) {
      const Read &read = reads_.front();
      core_->r_id_i = read.id;
      core_->r_last_i = read.beats == 1;
      core_->r_data_i = doubleword(read.address);
    }
    core_->b_valid_i = !answers_.empty() && answers_.front().ready <= time_;
    if (core_->b_valid_i)
      core_->b_id_i = answers_.front().id;
  }

  void take() {
    if (core_->r_valid_i && core_->r_ready_o) {
      Read &read = reads_.front();
      read.address += 8;
      if (--read.beats == 0) {
        bursting_ = false;
        reads_.pop_front();
      }
    }
    if (core_->b_valid_i && core_->b_ready_o)
      answers_.pop_front();
    if (core_->ar_valid_o) {
      const bool line = core_->ar_len_o != 0;
      const uint64_t address = core_->ar_addr_o / 8 * 8;
      const uint64_t beats = core_->ar_len_o + 1u;
      requests_[core_->ar_id_o & 1] += line;
      reads_.push_back({address, time_ + 1 + (line ? wait(address, 8 * beats) : 0), uint32_t(beats), core_->ar_id_o});
    }
    if (core_->aw_valid_o)
      addresses_.emplace_back(core_->aw_addr_o, core_->aw_id_o);
    if (core_->w_valid_o)
      words_.emplace_back(core_->w_data_o, core_->w_strb_o);
    while (!addresses_.empty() && !words_.empty()) {
      const auto [address, id] = addresses_.front();
      store(address / 8 * 8, words_.front().first, words_.front().second);
      answers_.push_back({time_ + 1 + (address >= shared_base ? 0 : job_.data_wait), id});
      addresses_.pop_front();
      words_.pop_front();
    }
  }

  // Only a cold engine has lines that the next level does not hold.
  uint32_t wait(uint64_t address, uint64_t bytes) {
    const bool code = address < job_.data.low;
    if (job_.state == State::cold && fetched_.insert(address / bytes * 2 + code).second)
      return code ? job_.instruction_first_wait : job_.data_first_wait;
    return code ? job_.instruction_wait : job_.data_wait;
  }

  Memory *holder(uint64_t address) {
    for (Memory *memory : {&instruction_, &data_, &shared_})
      if (address <= UINT32_MAX && memory->holds(uint32_t(address), 8))
        return memory;
    return nullptr;
  }

  // What lies nowhere reads as 0: it may have been asked for in vain, and counts only where an instruction retires.
  uint64_t doubleword(uint64_t address) {
    Memory *memory = holder(address);
    return memory ? memory->word<uint64_t>(uint32_t(address)) : 0;
  }

  void store(uint64_t address, uint64_t data, uint8_t enable) {
    Memory *memory = holder(address);
    if (!memory || memory == &instruction_)
      return; // refused where its instruction retired
    memory->write<uint64_t>(uint32_t(address), data, enable);
    if (address == shared_base + done_word) {
      called_.result = shared_.word<uint32_t>(shared_base + result_word + (ahead_ ? 8 : 0));
      done_ = true;
    }
  }

  void retire() {
    if (core_->trap_o)
      throw Fault("trap", uint32_t(core_->trap_pc_o), uint32_t(core_->trap_value_o), uint32_t(core_->trap_cause_o));
    for (uint32_t port = 0; port < 2; ++port)
      if (core_->retired_o >> port & 1)
        follow(core_->pc_o[2 * port] | uint64_t(core_->pc_o[2 * port + 1]) << 32, port);
  }

  // An instruction retires.
  void follow(uint64_t pc, uint32_t port) {
    if (phase_ == Phase::before && pc == job_.entry) {
      back_ = last_pc_ + 4; // the call's length
      phase_ = ahead_ && back_ == job_.back ? Phase::ahead : Phase::inside;
      called_.between = uint32_t(last_time_ - returned_);
      called_.cycles = 0;
    } else if (pc == back_ && (phase_ == Phase::ahead || phase_ == Phase::inside)) {
      called_.instruction_misses = last_requests_[0] - at_call_[0];
      called_.data_misses = last_requests_[1] - at_call_[1];
      returned_ = last_time_;
      phase_ = phase_ == Phase::ahead ? Phase::before : Phase::after;
    }
    if (phase_ == Phase::inside || phase_ == Phase::ahead) {
      if (pc > UINT32_MAX || !job_.text.covers(uint32_t(pc), 2))
        throw Fault("execute", uint32_t(last_pc_), uint32_t(pc));
      if (phase_ == Phase::inside)
        count(uint32_t(pc), port);
    } else {
      at_call_ = last_requests_; // the front end runs ahead of the call by some cycles
      fetched_.clear();          // what it asked for in vain before does not count
    }
    last_pc_ = pc;
    last_time_ = time_;
    last_requests_ = requests_;
  }

  void count(uint32_t pc, uint32_t port) {
    called_.cycles += time_ - last_time_;
    if (by_address_)
      by_address_[(pc - job_.text.low) / 2] += time_ - last_time_;
    const uint32_t read = core_->read_o >> (8 * port) & 255, written = core_->written_o >> (8 * port) & 255;
    if (const uint32_t enable = read | written) {
      const uint64_t word = core_->address_o[2 * port] | uint64_t(core_->address_o[2 * port + 1]) << 32;
      const uint64_t first = word / 8 * 8 + uint32_t(__builtin_ctz(enable));
      check(pc, uint32_t(std::min<uint64_t>(first, UINT32_MAX)), uint32_t(__builtin_popcount(enable)), written != 0);
    }
  }

  void check(uint32_t pc, uint32_t first, uint32_t size, bool store) {
    if (job_.stack.covers(first, size)) {
      if (store && first < called_.stack_low)
        called_.stack_low = first;
      return;
    }
    for (const Block &block : blocks_) {
      if (!block.region.covers(first, size))
        continue;
      if (store && !block.writable)
        throw Fault("store-const", pc, first);
      return;
    }
    if (!store && job_.constants.covers(first, size))
      return;
    throw Fault(store ? "store" : "load", pc, first);
  }

  const Job &job_;
  std::vector<std::vector<char>> contents_;
  Memory instruction_, data_, shared_;
  std::vector<Bytes> home_, before_; // the blocks' bytes outside the core: of this call, of the one before
  std::vector<Block> blocks_;        // where they lie in this call
  uint32_t place_ = 0;               // of the writable ones; 0: as the job says
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Vrlcc_core> core_;
  std::unordered_set<uint64_t> fetched_; // lines that the next level holds
  std::deque<Read> reads_;
  std::deque<std::pair<uint64_t, uint8_t>> addresses_, words_; // of stores: with identifier, with byte enables
  std::deque<Answer> answers_;
  bool bursting_ = false, ahead_ = false, done_ = false;
  Phase phase_ = Phase::before;
  Called called_;
  uint64_t *by_address_ = nullptr;
  uint64_t time_ = 0, last_time_ = 0, returned_ = 0, last_pc_ = 0, back_ = 0;
  uint32_t quiet_ = 0; // cycles since something moved
  Counts requests_{}, last_requests_{}, at_call_{};
};
