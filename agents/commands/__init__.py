"""The commands of `chicago agents`."""
