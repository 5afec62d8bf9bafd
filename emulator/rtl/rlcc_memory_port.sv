// One memory port with wait states; the bytes are in the C++ test bench.
//
// A request is granted in the cycle it is raised unless the port is busy; its answer comes 1 + wait cycles later; the next request
// is granted no earlier than the cycle of that answer. With wait = 0 this is a synchronous SRAM that serves one access every cycle,
// with wait = w it serves one every 1 + w. The test bench sees gnt_o and gives the word, and how long it waits,
// before the edge that ends the cycle; it feeds registers alone, so that the model settles in one evaluation a cycle.
module rlcc_memory_port #(
  parameter int unsigned Width = 32
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [15:0] wait_i,  // of the access that is granted in this cycle

  input  logic        req_i,
  output logic        gnt_o,
  output logic        rvalid_o,
  output logic [Width-1:0] rdata_o,
  output logic        err_o,

  input  logic [Width-1:0] word_i,  // from the test bench
  input  logic        fault_i
);
  logic        pending;
  logic [15:0] remaining;

  assign rvalid_o = pending && remaining == 0;
  assign gnt_o    = req_i && (!pending || remaining == 0);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending   <= 1'b0;
      remaining <= '0;
      rdata_o   <= '0;
      err_o     <= 1'b0;
    end else if (gnt_o) begin
      pending   <= 1'b1;
      remaining <= wait_i;
      rdata_o   <= word_i;
      err_o     <= fault_i;
    end else if (rvalid_o) begin
      pending   <= 1'b0;
    end else if (pending) begin
      remaining <= remaining - 1'b1;
    end
  end
endmodule
