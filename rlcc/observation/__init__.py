"""The decisions that a window's policy would have made with recorded sends and completions (`rlcc observe`)."""
