"""Names of the forms that a decision is emitted in. Apart from the compiler, because a command line offers them."""

TREE_FORMS = ("auto", "branches", "index", "joint")
NETWORK_FORMS = {"mlp-int8": "mlp", "lstm-int8": "lstm"}
"""Form -> kind of the network that it takes."""
