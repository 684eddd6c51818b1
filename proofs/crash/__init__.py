"""The proof that nothing acknowledged is lost: servers and databases are ended under people who write."""
