"""The command line, recipes, pipeline, gate and report: trained congestion-control policies to checked firmware."""

__version__ = "0.1.0"
