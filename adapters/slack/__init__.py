"""Slack, through its Web API and either Socket Mode or signed requests."""
