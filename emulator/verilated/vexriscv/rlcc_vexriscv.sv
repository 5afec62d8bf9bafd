// rlcc_vexriscv: a VexRiscv core of LiteX (variants without a data cache) with the ports of rlcc_ibex.
// Both buses are Wishbone without pipelining: the next access is shown after the answer, so each takes two cycles at least.
module rlcc_vexriscv (
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

  output logic        id_valid_o,  // an instruction that no jump has cancelled is in execute
  output logic [31:0] id_pc_o,
  output logic        trap_o
);
  logic        instr_cyc, instr_stb, instr_rvalid, data_cyc, data_stb, data_rvalid, unused_data_err, instr_err;
  logic        unused_instr_we;
  logic [29:0] instr_word_addr, data_word_addr;
  logic [31:0] instr_rdata, data_rdata, unused_instr_wdata;
  logic [3:0]  unused_instr_sel, unused_data_sel;
  logic [2:0]  unused_instr_cti, unused_data_cti;
  logic [1:0]  unused_instr_bte, unused_data_bte;

  rlcc_memory_port u_instr_port (
    .clk_i, .rst_ni,
    .wait_i(instr_wait_i), .req_i(instr_cyc && instr_stb && !instr_rvalid), .gnt_o(instr_gnt_o),
    .rvalid_o(instr_rvalid), .rdata_o(instr_rdata), .err_o(instr_err),
    .word_i(instr_word_i), .fault_i(instr_fault_i)
  );

  rlcc_memory_port u_data_port (
    .clk_i, .rst_ni,
    .wait_i(data_wait_i), .req_i(data_cyc && data_stb && !data_rvalid), .gnt_o(data_gnt_o),
    .rvalid_o(data_rvalid), .rdata_o(data_rdata), .err_o(unused_data_err),
    .word_i(data_word_i), .fault_i(1'b0)
  );

  VexRiscv u_core (
    .clk                   (clk_i),
    .reset                 (!rst_ni),
    .externalResetVector   (32'h80),
    .timerInterrupt        (1'b0),
    .softwareInterrupt     (1'b0),
    .externalInterruptArray('0),
    .iBusWishbone_CYC      (instr_cyc),
    .iBusWishbone_STB      (instr_stb),
    .iBusWishbone_ACK      (instr_rvalid),
    .iBusWishbone_WE       (unused_instr_we),
    .iBusWishbone_ADR      (instr_word_addr),
    .iBusWishbone_DAT_MISO (instr_rdata),
    .iBusWishbone_DAT_MOSI (unused_instr_wdata),
    .iBusWishbone_SEL      (unused_instr_sel),
    .iBusWishbone_ERR      (instr_err),
    .iBusWishbone_CTI      (unused_instr_cti),
    .iBusWishbone_BTE      (unused_instr_bte),
    .dBusWishbone_CYC      (data_cyc),
    .dBusWishbone_STB      (data_stb),
    .dBusWishbone_ACK      (data_rvalid),
    .dBusWishbone_WE       (data_we_o),
    .dBusWishbone_ADR      (data_word_addr),
    .dBusWishbone_DAT_MISO (data_rdata),
    .dBusWishbone_DAT_MOSI (data_wdata_o),
    .dBusWishbone_SEL      (unused_data_sel),  // of a read always all four: see data_be_o
    .dBusWishbone_ERR      (1'b0),
    .dBusWishbone_CTI      (unused_data_cti),
    .dBusWishbone_BTE      (unused_data_bte)
  );

  assign instr_addr_o = {instr_word_addr, 2'b00};
  assign data_addr_o  = {data_word_addr, 2'b00};
  assign data_be_o    = u_core._zz_dBusWishbone_SEL << u_core.dBus_cmd_halfPipe_payload_address[1:0];
  assign id_valid_o   = u_core.execute_arbitration_isValid && !u_core.execute_arbitration_isFlushed;
  assign id_pc_o      = u_core.execute_PC;
  assign trap_o       = 1'b0;
endmodule
