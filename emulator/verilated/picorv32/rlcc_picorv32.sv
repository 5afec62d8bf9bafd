// rlcc_picorv32: a PicoRV32 core with the ports of rlcc_ibex.
// The core has one memory interface and makes one access at a time: instructions and data still go to memories of their own,
// each with its own timing, but never in the same cycle. Accesses are taken from the look-ahead outputs, one cycle before the
// native interface shows them, so that a synchronous SRAM answers as the core's documentation assumes.
module rlcc_picorv32 #(
  parameter bit Compressed    = 1'b0,
  parameter bit SlowMul       = 1'b0,  // a bit a cycle
  parameter bit FastMul       = 1'b0,
  parameter bit BarrelShifter = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic [15:0] instr_wait_i,
  output logic        instr_gnt_o,
  output logic [31:0] instr_addr_o,
  input  logic [31:0] instr_word_i,
  input  logic        instr_fault_i,

  input  logic [15:0] data_wait_i,
  output logic        data_gnt_o,
  output logic        data_we_o,
  output logic [3:0]  data_be_o,
  output logic [31:0] data_addr_o,
  output logic [31:0] data_wdata_o,
  input  logic [31:0] data_word_i,

  output logic        id_valid_o,  // an instruction begins
  output logic [31:0] id_pc_o,
  output logic        trap_o
);
  logic        la_read, la_write, is_fetch, instr_rvalid, data_rvalid, unused_instr_err, unused_data_err;
  logic [31:0] la_addr, instr_rdata, data_rdata;
  logic [3:0]  la_wstrb, load_be;

  rlcc_memory_port u_instr_port (
    .clk_i, .rst_ni,
    .wait_i(instr_wait_i), .req_i(la_read && is_fetch), .gnt_o(instr_gnt_o),
    .rvalid_o(instr_rvalid), .rdata_o(instr_rdata), .err_o(unused_instr_err),
    .word_i(instr_word_i), .fault_i(instr_fault_i)
  );

  rlcc_memory_port u_data_port (
    .clk_i, .rst_ni,
    .wait_i(data_wait_i), .req_i(la_write || (la_read && !is_fetch)), .gnt_o(data_gnt_o),
    .rvalid_o(data_rvalid), .rdata_o(data_rdata), .err_o(unused_data_err),
    .word_i(data_word_i), .fault_i(1'b0)
  );

  picorv32 #(
    .ENABLE_COUNTERS(0),
    .COMPRESSED_ISA (Compressed),
    .BARREL_SHIFTER (BarrelShifter),
    .ENABLE_MUL     (SlowMul),
    .ENABLE_FAST_MUL(FastMul),
    .ENABLE_DIV     (SlowMul || FastMul),
    .PROGADDR_RESET (32'h80)
  ) u_core (
    .clk         (clk_i),
    .resetn      (rst_ni),
    .trap        (trap_o),
    .mem_valid   (),
    .mem_instr   (),
    .mem_ready   (instr_rvalid || data_rvalid),
    .mem_addr    (),
    .mem_wdata   (),
    .mem_wstrb   (),
    .mem_rdata   (instr_rvalid ? instr_rdata : data_rdata),
    .mem_la_read (la_read),
    .mem_la_write(la_write),
    .mem_la_addr (la_addr),
    .mem_la_wdata(data_wdata_o),
    .mem_la_wstrb(la_wstrb),
    .pcpi_valid  (),
    .pcpi_insn   (),
    .pcpi_rs1    (),
    .pcpi_rs2    (),
    .pcpi_wr     (1'b0),
    .pcpi_rd     ('0),
    .pcpi_wait   (1'b0),
    .pcpi_ready  (1'b0),
    .irq         ('0),
    .eoi         (),
    .trace_valid (),
    .trace_data  ()
  );

  assign is_fetch     = u_core.mem_do_prefetch || u_core.mem_do_rinst;
  assign load_be      = u_core.mem_wordsize == 0 ? 4'b1111 :
                        u_core.mem_wordsize == 1 ? 4'b0011 << {u_core.reg_op1[1], 1'b0} : 4'b0001 << u_core.reg_op1[1:0];
  assign instr_addr_o = la_addr;
  assign data_addr_o  = la_addr;
  assign data_we_o    = la_write;
  assign data_be_o    = la_write ? la_wstrb : load_be;
  assign id_valid_o   = u_core.launch_next_insn;
  assign id_pc_o      = u_core.next_pc;
endmodule
