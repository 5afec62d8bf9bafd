"""Terms for Bitwuzla: of words, and of the operators of a decision program."""
