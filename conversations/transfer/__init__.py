"""Taking conversations away as files, one at once or all that an account has as a ZIP; and bringing them in."""
