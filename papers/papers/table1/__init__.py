"""RL-CC's Table 1 (LSTM, MLP, trees on the engine) by one command, and the fit of connectx6dx-proxy to it."""
