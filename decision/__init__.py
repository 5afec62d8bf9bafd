"""The shared vocabulary of rlcc: signals, features, action maps, tree ensembles, decision programs, manifests.

Nothing here imports torch, CatBoost or another package of rlcc; nothing reads or writes files that are not its own.
"""
