"""The commands of the command line that need this package alone; `train.cli` says how to add one."""
