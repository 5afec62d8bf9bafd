// rlcc_cv32e40p: a CV32E40P core (no PULP extension, no FPU) between two memory ports, with the ports of rlcc_ibex.
// Its instruction bus knows no error: a fetch outside the memory reads zero, which is an illegal instruction.
module rlcc_cv32e40p (
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

  output logic        id_valid_o,  // an instruction is in EX
  output logic [31:0] id_pc_o,
  output logic        trap_o
);
  logic        instr_req, instr_rvalid, data_req, data_rvalid, unused_instr_err, unused_data_err;
  logic        unused_irq_ack, unused_havereset, unused_running, unused_halted, unused_sleep;
  logic [31:0] instr_rdata, data_rdata, instr_address, data_address;
  logic [4:0]  unused_irq_id;

  rlcc_memory_port u_instr_port (
    .clk_i, .rst_ni,
    .wait_i(instr_wait_i), .req_i(instr_req), .gnt_o(instr_gnt_o),
    .rvalid_o(instr_rvalid), .rdata_o(instr_rdata), .err_o(unused_instr_err),
    .word_i(instr_word_i), .fault_i(instr_fault_i)
  );

  rlcc_memory_port u_data_port (
    .clk_i, .rst_ni,
    .wait_i(data_wait_i), .req_i(data_req), .gnt_o(data_gnt_o),
    .rvalid_o(data_rvalid), .rdata_o(data_rdata), .err_o(unused_data_err),
    .word_i(data_word_i), .fault_i(1'b0)
  );

  cv32e40p_core u_core (
    .clk_i, .rst_ni,
    .pulp_clock_en_i    (1'b1),
    .scan_cg_en_i       (1'b1),
    .boot_addr_i        (32'h80),
    .mtvec_addr_i       ('0),
    .dm_halt_addr_i     ('0),
    .hart_id_i          ('0),
    .dm_exception_addr_i('0),
    .instr_req_o        (instr_req),
    .instr_gnt_i        (instr_gnt_o),
    .instr_rvalid_i     (instr_rvalid),
    .instr_addr_o       (instr_address),
    .instr_rdata_i      (instr_rdata),
    .data_req_o         (data_req),
    .data_gnt_i         (data_gnt_o),
    .data_rvalid_i      (data_rvalid),
    .data_we_o, .data_be_o,
    .data_addr_o        (data_address),
    .data_wdata_o,
    .data_rdata_i       (data_rdata),
    .apu_busy_o         (),
    .apu_req_o          (),
    .apu_gnt_i          ('0),
    .apu_operands_o     (),
    .apu_op_o           (),
    .apu_flags_o        (),
    .apu_rvalid_i       ('0),
    .apu_result_i       ('0),
    .apu_flags_i        ('0),
    .irq_i              ('0),
    .irq_ack_o          (unused_irq_ack),
    .irq_id_o           (unused_irq_id),
    .debug_req_i        (1'b0),
    .debug_havereset_o  (unused_havereset),
    .debug_running_o    (unused_running),
    .debug_halted_o     (unused_halted),
    .fetch_enable_i     (1'b1),
    .core_sleep_o       (unused_sleep)
  );

  assign instr_addr_o = {instr_address[31:2], 2'b00};
  assign data_addr_o  = {data_address[31:2], 2'b00};
  assign trap_o       = 1'b0;

  // What stands in EX: it came from ID, where what a taken branch leaves behind is thrown away. A jump is taken from ID.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      id_valid_o <= 1'b0;
      id_pc_o    <= '0;
    end else if (u_core.id_valid && u_core.is_decoding) begin
      id_valid_o <= 1'b1;
      id_pc_o    <= u_core.pc_id;
    end else if (u_core.ex_ready) begin
      id_valid_o <= 1'b0;
    end
  end
endmodule

// cv32e40p_clock_gate: passes the clock through. Gating saves power while the core sleeps; our programs never do.
module cv32e40p_clock_gate (
  input  logic clk_i,
  input  logic en_i,
  input  logic scan_cg_en_i,
  output logic clk_o
);
  logic unused_enables;
  assign unused_enables = en_i | scan_cg_en_i;
  assign clk_o = clk_i;
endmodule
