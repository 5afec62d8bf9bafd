"""Where two policies differ: in what they are made of, and in what they decide."""
