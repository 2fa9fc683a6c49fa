"""The answering machine: corrective retrieval over a team's documents. It knows no platform."""
