"""The options and the help of each command, one file a command, loaded without what the command works with.

`rlcc.cli` loads the file of one command; its work is in rlcc/handlers.
"""
