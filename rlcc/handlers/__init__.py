"""What each command does: `handle` of the module with the command's name, imported when the command runs."""
