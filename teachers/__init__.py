"""Teachers: the neural policies that students are distilled from. Loading and checking, inference, training."""

from teachers.load import load
from teachers.teacher import Teacher

__all__ = ["Teacher", "load"]
