"""From prediction files to benchmark numbers that can be trusted and audited."""

__version__ = "0.1.0"
