"""Telegram: how answers look there, and (on import of its modules) the bot itself."""
