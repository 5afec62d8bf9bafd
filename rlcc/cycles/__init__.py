"""Where the cycles of a decision go: by part, function and line of the emitted C, on the worst path and on average."""
