"""The page that shows the API, from files of this package alone."""
