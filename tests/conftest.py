"""Plugins of all tests, which lie in tests/plugins."""

pytest_plugins = (
    "reproducible",
    "skips",
    "wording",
    "shared_answers",
    "made_once",
    "garbage",
    "slow_cases",
    "shared_emissions",
    "no_network_cache",
)
