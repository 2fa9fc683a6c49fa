"""Measuring answers on labelled questions: `belay eval`."""
