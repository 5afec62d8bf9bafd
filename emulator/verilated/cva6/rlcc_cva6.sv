// rlcc_cva6: a CVA6 core with its L1 caches; its AXI port as plain signals, and for cycle accounting what it retires.
// The memory behind the caches lives in the C++ test bench (emulator/bench/cva6_engine.hpp), which is always ready. Interrupts and
// debug are tied off. Cacheable are the policy's code, constants and structures, from CachedCode and CachedData up to
// where runner and bench meet; the runner is not, so that it takes no line from the policy. (The data cache asks for
// this by tags alone, so the borders are multiples of 4 KB, the largest way.)
module rlcc_cva6
  import ariane_pkg::*;
#(
  parameter logic [63:0] CachedCode = 64'h1000,
  parameter logic [63:0] CachedData = 64'h1000_0000,
  parameter logic [63:0] SharedBase = 64'h2000_0000
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  output logic             ar_valid_o,  // a line (ar_len_o + 1 beats of 8 bytes) or a word is asked for
  output logic [63:0]      ar_addr_o,
  output logic [7:0]       ar_len_o,
  output logic [3:0]       ar_id_o,     // bit 0: data, not instructions
  input  logic             r_valid_i,
  input  logic [63:0]      r_data_i,
  input  logic [3:0]       r_id_i,
  input  logic             r_last_i,
  output logic             r_ready_o,

  output logic             aw_valid_o,  // a store of up to 8 bytes
  output logic [63:0]      aw_addr_o,
  output logic [3:0]       aw_id_o,
  output logic             w_valid_o,
  output logic [63:0]      w_data_o,
  output logic [7:0]       w_strb_o,
  input  logic             b_valid_i,
  input  logic [3:0]       b_id_i,
  output logic             b_ready_o,

  output logic [1:0]       retired_o,   // instructions that retire in this cycle, in order ...
  output logic [1:0][63:0] pc_o,
  output logic [1:0][63:0] address_o,   // ... and the bytes of memory that they read and write
  output logic [1:0][7:0]  read_o,
  output logic [1:0][7:0]  written_o,
  output logic             trap_o,
  output logic [63:0]      trap_pc_o,
  output logic [63:0]      trap_cause_o,
  output logic [63:0]      trap_value_o
);
  localparam ariane_cfg_t Config = '{
    RASDepth: 2,
    BTBEntries: 32,
    BHTEntries: 128,
    NrNonIdempotentRules: 0,
    NonIdempotentAddrBase: '0,
    NonIdempotentLength: '0,
    NrExecuteRegionRules: 1,
    ExecuteRegionAddrBase: '0,
    ExecuteRegionLength: {{15{64'h0}}, SharedBase},
    NrCachedRegionRules: 2,
    CachedRegionAddrBase: {{14{64'h0}}, CachedData, CachedCode},
    CachedRegionLength: {{14{64'h0}}, SharedBase - CachedData, CachedData - CachedCode},
    AxiCompliant: 1'b1,
    SwapEndianess: 1'b0,
    DmBaseAddress: 64'h0,
    NrPMPEntries: 0
  };

  ariane_axi::req_t            request;
  ariane_axi::resp_t           answer;
  ariane_rvfi_pkg::rvfi_port_t rvfi;
  cvxif_pkg::cvxif_req_t       unused_cvxif;

  cva6 #(
    .ArianeCfg(Config)
  ) u_cva6 (
    .clk_i, .rst_ni,
    .boot_addr_i(64'h0), .hart_id_i(64'h0),
    .irq_i(2'b0), .ipi_i(1'b0), .time_irq_i(1'b0), .debug_req_i(1'b0),
    .rvfi_o(rvfi),
    .cvxif_req_o(unused_cvxif), .cvxif_resp_i('0),
    .axi_req_o(request), .axi_resp_i(answer)
  );

  assign ar_valid_o = request.ar_valid;
  assign ar_addr_o  = request.ar.addr;
  assign ar_len_o   = request.ar.len;
  assign ar_id_o    = request.ar.id;
  assign r_ready_o  = request.r_ready;
  assign aw_valid_o = request.aw_valid;
  assign aw_addr_o  = request.aw.addr;
  assign aw_id_o    = request.aw.id;
  assign w_valid_o  = request.w_valid;
  assign w_data_o   = request.w.data;
  assign w_strb_o   = request.w.strb;
  assign b_ready_o  = request.b_ready;

  always_comb begin
    answer = '0;
    answer.ar_ready = 1'b1;
    answer.aw_ready = 1'b1;
    answer.w_ready  = 1'b1;
    answer.r_valid  = r_valid_i;
    answer.r.data   = r_data_i;
    answer.r.id     = r_id_i;
    answer.r.last   = r_last_i;
    answer.b_valid  = b_valid_i;
    answer.b.id     = b_id_i;
  end

  for (genvar i = 0; i < 2; i++) begin : gen_retired
    assign retired_o[i] = rvfi[i].valid;
    assign pc_o[i]      = rvfi[i].pc_rdata;
    assign address_o[i] = rvfi[i].mem_addr;
    assign read_o[i]    = rvfi[i].mem_rmask;
    assign written_o[i] = rvfi[i].mem_wmask;
  end

  assign trap_o       = u_cva6.ex_commit.valid;
  assign trap_pc_o    = u_cva6.pc_commit;
  assign trap_cause_o = u_cva6.ex_commit.cause;
  assign trap_value_o = u_cva6.ex_commit.tval;
endmodule
