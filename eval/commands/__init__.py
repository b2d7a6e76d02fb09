"""The commands of the command line that play and rate matches; `train.cli` says how to add one."""
