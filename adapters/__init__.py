"""Everything with a vendor's name. Modules here are named in bot/registry.py and loaded on use."""
