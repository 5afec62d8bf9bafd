"""What MKL, within PyTorch, is told of the processor's maker."""

def say_intel(yes: bool) -> bool:
    """
    Tell MKL that Intel made the processor, or that AMD did; what it was told first, once it has asked.
    """

def asked() -> bool:
    """Whether MKL has asked."""
