// Calls the function once a record of the input.
//
//   core_bench JOB INPUT OUTPUT FIRST COUNT
//
// INPUT:  for each record the bytes of every block (argument structure), in order. Records FIRST to FIRST + COUNT are
// run. OUTPUT: for each of them the fields of Called, then the bytes of the writable blocks; with by_address also a
// file
//         OUTPUT.by_address: for each two bytes of text the cycles (u64) spent there. Exit 0; 1 with a message on
//         stderr (bad job); 3 when the function left its bounds, with one line on stdout:
//   fault RECORD KIND pc address cause
//
// Records come in portions. Each begins with a restart and an uncounted call of its first record, so that what is
// measured does not depend on how the portions are shared out among processes.
#include <cstdio>

#include RLCC_ENGINE

namespace {

template <typename T> void put(std::ofstream &out, T value) {
  out.write(reinterpret_cast<const char *>(&value), sizeof value);
}

class Stream {
public:
  Stream(const Job &job, const char *input, const char *output)
      : job_(job), engine_(job), in_(input, std::ios::binary), out_(output, std::ios::binary) {
    if (!in_ || !out_)
      throw std::runtime_error("cannot open the input or the output");
    for (const Block &block : job.blocks)
      record_.resize(record_.size() + block.size());
    if (job.by_address)
      by_address_.resize((job.text.high - job.text.low + 1) / 2);
  }

  int run(uint64_t first, uint64_t count) {
    in_.seekg(std::streamoff(first * record_.size()));
    for (uint64_t i = first; i < first + count; ++i) {
      in_.read(record_.data(), std::streamsize(record_.size()));
      if (!in_)
        throw std::runtime_error("the input ends early");
      try {
        if (i == first || i % job_.portion == 0) {
          engine_.restart();
          if (job_.state != State::cold)
            call(nullptr);
        }
        write(call(job_.by_address ? by_address_.data() : nullptr));
      } catch (const Fault &fault) {
        std::printf("fault %llu %s\n", static_cast<unsigned long long>(i), fault.line().c_str());
        return 3;
      }
    }
    out_.flush();
    if (!out_)
      throw std::runtime_error("cannot write the output");
    return 0;
  }

  const std::vector<uint64_t> &by_address() const { return by_address_; }

private:
  Called call(uint64_t *by_address) {
    const char *at = record_.data();
    for (size_t i = 0; i < job_.blocks.size(); at += job_.blocks[i++].size())
      std::memcpy(engine_.block(i), at, job_.blocks[i].size());
    return engine_.call(by_address);
  }

  void write(const Called &called) {
    put(out_, called.cycles);
    put(out_, called.result);
    put(out_, called.stack_low);
    put(out_, called.between);
    put(out_, called.instruction_misses);
    put(out_, called.data_misses);
    put(out_, called.entering);
    for (size_t i = 0; i < job_.blocks.size(); ++i)
      if (job_.blocks[i].writable)
        out_.write(reinterpret_cast<const char *>(engine_.block(i)), job_.blocks[i].size());
  }

  const Job &job_;
  Engine engine_;
  std::vector<char> record_;
  std::vector<uint64_t> by_address_;
  std::ifstream in_;
  std::ofstream out_;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: core_bench JOB INPUT OUTPUT FIRST COUNT\n");
    return 1;
  }
  try {
    const Job job = read_job(argv[1]);
    Stream stream(job, argv[2], argv[3]);
    const int code = stream.run(std::stoull(argv[4]), std::stoull(argv[5]));
    if (job.by_address) {
      std::ofstream out(std::string(argv[3]) + ".by_address", std::ios::binary);
      for (const uint64_t cycles : stream.by_address())
        put(out, cycles);
    }
    return code;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
