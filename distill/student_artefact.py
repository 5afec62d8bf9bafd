"""The student artefact: its kind, and the packages whose versions its manifest records."""

KIND = "student"
TOOLS = ("catboost", "numpy", "pyarrow")
