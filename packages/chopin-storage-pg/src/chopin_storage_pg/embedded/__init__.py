"""A PostgreSQL server of our own, from a wheel, in one directory: nothing of the machine is needed or changed."""
