"""The catalog of wiring: for each package, the module that assembles its services."""

from scrubjay.tooling.wiring import WiringCatalog

# One line per wiring module: the module, then the packages, modules or types that it provides.
WIRING_CATALOG = WiringCatalog(
    "scrubjay",
    "app.cross_feature_wiring features.memory.erasure features.summaries.service",
    "features.analysis.wiring features.analysis",
    "features.answers.wiring features.answers",
    "features.chat.wiring features.chat",
    "features.code.wiring code_index features.code",
    "features.code_links.wiring features.code_links",
    "features.code_links.memory_wiring features.code_links.service features.memory.drafts.DraftLinker "
    "features.memory.link_review.LinkReviewer",
    "features.delegation.wiring features.delegation",
    "features.discussions.wiring features.discussions",
    "features.embeddings.wiring features.embeddings models.completion",
    "features.episodes.wiring features.episodes",
    "features.facts.wiring features.facts",
    "features.forgetting.wiring features.forgetting",
    "features.hooks.wiring features.hooks features.permissions",
    "features.knowledge.wiring features.knowledge",
    "features.memory.wiring features.memory core.write_rules",
    "features.projects.wiring features.projects",
    "features.sandbox.wiring features.sandbox",
    "features.sessions.wiring features.sessions features.turns",
    "features.summaries.wiring features.summaries",
    "features.tasks.wiring features.tasks",
    "features.transfer.wiring features.transfer",
    "features.upstream_mcp.wiring features.upstream_mcp",
    "features.working_memory.wiring features.working_memory",
    "features.workspace.wiring features.workspace",
)
