"""Pages of the public web: fetched without reaching anything that is not public, made readable, searched for."""
