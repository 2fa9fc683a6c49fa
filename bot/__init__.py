"""The application: settings, ingestion, commands. It knows chats, but no platform and no vendor."""
