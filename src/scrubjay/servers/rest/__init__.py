"""The REST API: every tool as an HTTP operation, with the OpenAPI document, jobs and their events."""
