"""Proves that a netlist is a pipeline: its stages move together, and no stage mixes two decisions.

Every register has the clock, and keeps its value but in a clock with `step`, which is 1 where the last stage is empty
or its reader ready. A net has the level of the registers before it: an input of a decision 0, a register one more than
what it takes. The proof needs one level for all nets that meet in a cell, and level N for all outputs. The outputs then
depend on the inputs of one clock, N clocks with `step` earlier, by induction over these clocks. Their function is that
of the same cells without registers. Parameters have no level: they have to be still while a decision is under way.
"""

from verify.rtl.netlist import CONSTANT, REGISTER, Bit, Netlist, NetlistCell, Refuted

HANDSHAKE = ("clk", "rst", "in_valid", "in_ready", "out_valid", "out_ready")


class Pipeline:
    """The netlist seen through its registers. ``stages``: clocks from input to output. Refuted if it is no pipeline."""

    def __init__(self, netlist: Netlist) -> None:
        self.netlist = netlist
        self._levels: dict[Bit, int | None] = {}
        self._through: dict[Bit, Bit] = {}
        ports = netlist.ports
        missing = [name for name in HANDSHAKE if len(ports.get(name, ("", ()))[1]) != 1]
        if missing:
            raise Refuted(f"the module has no port {missing[0]} of one bit")
        (self._clock,), (self._reset,) = ports["clk"][1], ports["rst"][1]
        (self._step,), (self._valid,) = ports["in_ready"][1], ports["out_valid"][1]
        self._check_step()
        self._takes: dict[Bit, Bit] = {}
        for cell in netlist.cells:
            if cell.type == REGISTER:
                self._takes.update(zip(cell.pins["Q"], self._taken(cell), strict=True))
        levels = {
            name: {level for bit in bits if (level := self.level(bit)) is not None and level >= 0}
            for name, (direction, bits) in ports.items()
            if direction == "output" and name != "in_ready"
        }
        (self.stages,) = levels["out_valid"] if len(levels["out_valid"]) == 1 else (0,)
        wrong = next((name for name, found in levels.items() if found - {self.stages}), None)
        if wrong is not None or self.stages < 1:
            raise Refuted(f"{wrong or 'out_valid'} comes after {sorted(levels[wrong or 'out_valid'])} clocks, "
                          f"out_valid after {self.stages}")  # fmt: skip
        if self.through(self._valid) != ports["in_valid"][1][0]:
            raise Refuted("out_valid is not in_valid, some clocks later")

    def through(self, bit: Bit) -> Bit:
        """Returns the net before all registers that lead to a net; the net itself if no register drives it."""
        seen = []
        while bit not in self._through:
            if bit not in self._takes:
                self._through[bit] = bit
                break
            seen.append(bit)
            if len(seen) > len(self._takes):
                raise Refuted(f"{named(self.netlist, bit)} takes its own value")
            bit = self._takes[bit]
        end = self._through[bit]
        self._through.update(dict.fromkeys(seen, end))
        return end

    def level(self, bit: Bit) -> int | None:
        """Returns the number of registers between the inputs of a decision and a net.

        A net that depends on constants and parameters alone has None, or minus the number of its registers. That number
        may not exceed the level of a decision where both meet.
        """
        todo: list[Bit] = [bit]
        while todo:
            here = todo[-1]
            if here in self._levels:
                todo.pop()
                continue
            if len(todo) > 100_000:
                raise Refuted("nets go round in a circle")
            before = self._before(here)
            left = [b for b in before if b not in self._levels]
            if left:
                todo += left
                continue
            self._levels[here] = self._met(here, [self._levels[b] for b in before])
            todo.pop()
        return self._levels[bit]

    def _before(self, bit: Bit) -> list[Bit]:
        if bit in self._takes:
            return [self._takes[bit]]
        if bit not in self.netlist.drivers:
            return []
        cell, _ = self.netlist.drivers[bit]
        return [b for pin, bits in cell.pins.items() if pin != "Y" for b in bits]

    def _met(self, bit: Bit, levels: list[int | None]) -> int | None:
        if bit in CONSTANT:
            return None
        if bit not in self.netlist.drivers:
            if bit not in self.netlist.inputs:
                raise Refuted(f"net {bit} has no driver")
            name = self.netlist.inputs[bit][0]
            if name in ("clk", "rst", "out_ready"):
                raise Refuted(f"{name} decides a value")
            return None if name.startswith("params_") else 0
        known = {level for level in levels if level is not None and level >= 0}
        oldest = min((level for level in levels if level is not None and level < 0), default=0)
        if len(known) > 1 or (known and -oldest > min(known)):
            stages = sorted(known | ({-oldest} if oldest else set()))
            raise Refuted(f"{named(self.netlist, bit)} is made of values of stages {stages}")
        moved = bit in self._takes
        if known:
            return known.pop() + moved
        return oldest - moved or None

    def _taken(self, cell: NetlistCell) -> list[Bit]:
        """Returns the nets that a register takes in a clock with `step`.

        Valid bits must be `rst ? 0 : step ? taken : kept`; other registers have no reset.
        """
        name = named(self.netlist, cell.pins["Q"][0])
        if list(cell.pins["CLK"]) != [self._clock] or not cell.number("CLK_POLARITY"):
            raise Refuted(f"{name} has another clock than clk")
        next_value, reset = list(cell.pins["D"]), False
        if (first := self._mux(next_value)) is not None and list(first.pins["S"]) == [self._reset]:
            if set(first.pins["B"]) != {"0"}:
                raise Refuted(f"{name} is not 0 after a reset")
            next_value, reset = list(first.pins["A"]), True
        if reset != (self._valid in cell.pins["Q"]):
            raise Refuted(f"{name} {'has' if reset else 'lacks'} a reset")
        move = self._mux(next_value)
        if move is None or list(move.pins["S"]) != [self._step] or list(move.pins["A"]) != list(cell.pins["Q"]):
            raise Refuted(f"{name} does not move with the others")
        return list(move.pins["B"])

    def _mux(self, bits: list[Bit]) -> NetlistCell | None:
        """The choice that all these nets are, in their order."""
        cell = self.netlist.drivers.get(bits[0], (None, 0))[0]
        return cell if cell is not None and cell.type == "$mux" and list(cell.pins["Y"]) == bits else None

    def _check_step(self) -> None:
        """step = !out_valid | out_ready, by all four values of the two."""
        (ready,) = self.netlist.ports["out_ready"][1]
        for valid in (0, 1):
            for taken in (0, 1):
                said = self._bit(self._step, {self._valid: valid, ready: taken})
                if said != (not valid or taken):
                    raise Refuted("in_ready is not: the last stage is empty or its reader ready")

    def _bit(self, bit: Bit, known: dict[Bit, int], depth: int = 0) -> int:
        if bit in CONSTANT:
            return int(bit)
        if bit in known:
            return known[bit]
        if bit not in self.netlist.drivers or depth > 8:
            raise Refuted("in_ready depends on more than out_valid and out_ready")
        cell, _ = self.netlist.drivers[bit]
        pins = {pin: [self._bit(b, known, depth + 1) for b in bits] for pin, bits in cell.pins.items() if pin != "Y"}
        match cell.type:
            case "$not" | "$logic_not":
                return int(not any(pins["A"]))
            case "$or" | "$logic_or":
                return int(any(pins["A"]) or any(pins["B"]))
            case "$and" | "$logic_and":
                return int(any(pins["A"]) and any(pins["B"]))
        raise Refuted(f"in_ready is made by a {cell.type}")


def named(netlist: Netlist, bit: Bit) -> str:
    """Returns the module's own name of a net, for a sentence."""
    return next((name for name, bits in netlist.nets.items() if bit in bits), f"net {bit}")
