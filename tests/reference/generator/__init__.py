"""The groups of reference data that ../generate.py writes."""
