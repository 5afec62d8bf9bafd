"""The emitted C in a real kernel: a machine of the distribution's packages, in virtual time, and TCP that flows in it.

    parts = machine_parts()                                       QEMU, a stock kernel, an initramfs; made once, cached
    seen = run(parts, Bottleneck(...), [Control("cubic")], flows, seed=1, duration_us=3_000_000)

The guest has no network device: all traffic stays between three of its own namespaces. Time is the count of
instructions, so neither the load nor the speed of the host is in a result.
"""
