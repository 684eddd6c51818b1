"""What is true of PostgreSQL and the adapter alone; the promises of the ports are tested by the shared contract suite."""
