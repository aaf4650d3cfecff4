"""Every tool as an HTTP operation, with the OpenAPI document, jobs and their events. Validates nothing itself."""
