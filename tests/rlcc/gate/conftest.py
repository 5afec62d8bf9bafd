"""What one worker's tests of the gate share."""

from shared_results import shared_results

__all__ = ["shared_results"]
