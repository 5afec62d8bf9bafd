// prim_clock_gating: passes the clock through. Gating saves power while the core sleeps (WFI); our programs never sleep, so an
// ungated clock gives the same cycles, and the model needs no latch.
module prim_clock_gating #(
  parameter bit NoFpgaGate     = 1'b0,
  parameter bit FpgaBufGlobal  = 1'b1
) (
  input        clk_i,
  input        en_i,
  input        test_en_i,
  output logic clk_o
);
  logic unused_enables;
  assign unused_enables = en_i | test_en_i;
  assign clk_o = clk_i;
endmodule
