"""A student beside its teacher, for all states: how far its action can lie outside the teacher's around the state.

A network is read as weights and a policy.toml; nothing here trains or runs one, and no torch is imported.
"""
