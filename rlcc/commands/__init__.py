"""One file a command; `rlcc.cli` loads a file only when its command runs."""
