// prim_buf: a plain wire. In silicon this cell keeps synthesis from merging redundant logic; in simulation it has no meaning.
module prim_buf #(
  parameter int Width = 1
) (
  input        [Width-1:0] in_i,
  output logic [Width-1:0] out_o
);
  assign out_o = in_i;
endmodule
