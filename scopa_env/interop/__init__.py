"""Other libraries' interfaces, one file each; none is imported unless asked for."""
