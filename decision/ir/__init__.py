"""The integer decision program, its interpreter, forests and networks: the specification of every decision."""
