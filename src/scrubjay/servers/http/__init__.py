"""The HTTP server shared by every HTTP protocol: middleware, limits, errors, transport.

A request passes this middleware in this order; `app/http_server.py` composes the list with `middleware.compose`:

1. `metrics_middleware.MetricsMiddleware` counts the request, also when it is refused further down.
2. `edge_middleware.EdgeMiddleware` assigns the request id, checks host and origin, blocked addresses, key, rate limits
   and load, reads the body within its limits, and stops requests that take too long. Each check is a module of its own;
   `places` shares the server among keys and addresses.
3. `feature_toggles.FeatureToggleMiddleware` refuses paths that the operator switched off.
4. `rest.tool_route.ToolRouteMiddleware` sends tool calls straight to their route; everything else goes to the router.
"""
