"""The bot's commands, whatever the platform: one module a command, and the table of them."""
