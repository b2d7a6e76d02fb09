"""The commands of the command line that train; `train.cli` says how to add one."""
