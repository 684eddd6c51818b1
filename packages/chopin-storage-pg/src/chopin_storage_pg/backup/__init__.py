"""One file that holds a whole database, and getting the database back from it."""
