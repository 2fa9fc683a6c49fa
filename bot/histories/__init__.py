"""Histories that a team has already: what was said before the bot came, as turns of its log."""
