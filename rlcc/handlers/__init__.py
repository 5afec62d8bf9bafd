"""Actions of the commands: `handle` of the module with the command's name, imported when the command runs."""
