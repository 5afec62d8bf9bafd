"""What MKL, within PyTorch, is told of the processor's maker."""

def say_intel(yes: bool) -> bool:
    """
    Tell MKL that Intel made the processor, or that it did not; what it was told first, once it has asked.
    """
