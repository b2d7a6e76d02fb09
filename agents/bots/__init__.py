"""Programs in any language that play through their standard input and output (docs/bot-protocol.md)."""
