"""What a window's policy would have done with recorded sends and completions (`rlcc observe`)."""
