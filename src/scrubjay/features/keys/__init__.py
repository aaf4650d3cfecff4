"""API keys: create, rotate, revoke and check them, and the scopes that they grant. Independent of protocols."""
