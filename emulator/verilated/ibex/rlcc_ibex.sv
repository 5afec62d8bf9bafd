// rlcc_ibex: an Ibex core with its two memory ports and, for cycle accounting, what stands in its ID/EX stage.
// The memories' bytes live in the C++ test bench (emulator/bench/). Interrupts, debug and scrambling are tied off: a decision runs with
// interrupts masked, as on an engine that runs one event handler to completion.
module rlcc_ibex #(
  parameter int unsigned RV32M           = 2,  // ibex_pkg::rv32m_e
  parameter int unsigned RV32B           = 0,  // ibex_pkg::rv32b_e
  parameter bit          BranchTargetALU = 1'b0,
  parameter bit          WritebackStage  = 1'b0,
  parameter bit          BranchPredictor = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic [15:0] instr_wait_i,  // wait states of the fetch that is granted in this cycle
  output logic        instr_gnt_o,   // a fetch is granted in this cycle: the bench gives the word
  output logic [31:0] instr_addr_o,
  input  logic [31:0] instr_word_i,
  input  logic        instr_fault_i,

  input  logic [15:0] data_wait_i,
  output logic        data_gnt_o,    // a data access is granted in this cycle: the bench does it
  output logic        data_we_o,
  output logic [3:0]  data_be_o,
  output logic [31:0] data_addr_o,
  output logic [31:0] data_wdata_o,
  input  logic [31:0] data_word_i,

  output logic        id_valid_o,  // an instruction is in ID/EX ...
  output logic [31:0] id_pc_o,     // ... and this is its address
  output logic        trap_o       // the core has stopped for good (a core without exceptions)
);
  logic [6:0]            unused_intg;
  logic                  unused_scramble_req, unused_double_fault, unused_sleep;
  logic [2:0]            unused_alerts;
  ibex_pkg::crash_dump_t unused_crash_dump;

  logic        instr_req, instr_rvalid, instr_err, data_req, data_rvalid, data_err;
  logic [31:0] instr_rdata, data_rdata;

  rlcc_memory_port u_instr_port (
    .clk_i, .rst_ni,
    .wait_i(instr_wait_i), .req_i(instr_req), .gnt_o(instr_gnt_o),
    .rvalid_o(instr_rvalid), .rdata_o(instr_rdata), .err_o(instr_err),
    .word_i(instr_word_i), .fault_i(instr_fault_i)
  );

  rlcc_memory_port u_data_port (
    .clk_i, .rst_ni,
    .wait_i(data_wait_i), .req_i(data_req), .gnt_o(data_gnt_o),
    .rvalid_o(data_rvalid), .rdata_o(data_rdata), .err_o(data_err),
    .word_i(data_word_i), .fault_i(1'b0)
  );

  ibex_top #(
    .RV32M          (ibex_pkg::rv32m_e'(RV32M)),
    .RV32B          (ibex_pkg::rv32b_e'(RV32B)),
    .BranchTargetALU(BranchTargetALU),
    .WritebackStage (WritebackStage),
    .BranchPredictor(BranchPredictor)
  ) u_top (
    .clk_i, .rst_ni,
    .test_en_i             (1'b0),
    .ram_cfg_i             ('0),
    .hart_id_i             ('0),
    .boot_addr_i           ('0),
    .instr_req_o           (instr_req),
    .instr_gnt_i           (instr_gnt_o),
    .instr_rvalid_i        (instr_rvalid),
    .instr_addr_o,
    .instr_rdata_i         (instr_rdata),
    .instr_rdata_intg_i    ('0),
    .instr_err_i           (instr_err),
    .data_req_o            (data_req),
    .data_gnt_i            (data_gnt_o),
    .data_rvalid_i         (data_rvalid),
    .data_we_o, .data_be_o, .data_addr_o, .data_wdata_o,
    .data_wdata_intg_o     (unused_intg),
    .data_rdata_i          (data_rdata),
    .data_rdata_intg_i     ('0),
    .data_err_i            (data_err),
    .irq_software_i        (1'b0),
    .irq_timer_i           (1'b0),
    .irq_external_i        (1'b0),
    .irq_fast_i            ('0),
    .irq_nm_i              (1'b0),
    .scramble_key_valid_i  (1'b0),
    .scramble_key_i        ('0),
    .scramble_nonce_i      ('0),
    .scramble_req_o        (unused_scramble_req),
    .debug_req_i           (1'b0),
    .crash_dump_o          (unused_crash_dump),
    .double_fault_seen_o   (unused_double_fault),
    .fetch_enable_i        (ibex_pkg::IbexMuBiOn),
    .alert_minor_o         (unused_alerts[0]),
    .alert_major_internal_o(unused_alerts[1]),
    .alert_major_bus_o     (unused_alerts[2]),
    .core_sleep_o          (unused_sleep),
    .scan_rst_ni           (1'b1)
  );

  assign id_valid_o = u_top.u_ibex_core.instr_valid_id;
  assign id_pc_o    = u_top.u_ibex_core.pc_id;
  assign trap_o     = 1'b0;
endmodule
