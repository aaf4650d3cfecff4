"""Assemble tasks and goals."""

from scrubjay.core.write_rules import WritingRules
from scrubjay.features.tasks.goal_store import GoalStore
from scrubjay.features.tasks.goals import GoalService
from scrubjay.features.tasks.service import TaskService
from scrubjay.features.tasks.store import TaskStore
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()


@WIRING.provides
async def task_service(services: Services) -> TaskService:
    rules, clock = await services.get(WritingRules), services.ready(Runtime).clock
    return TaskService(await services.get(TaskStore), rules, clock=clock)


@WIRING.provides
async def goal_service(services: Services) -> GoalService:
    rules, clock = await services.get(WritingRules), services.ready(Runtime).clock
    return GoalService(await services.get(GoalStore), rules, clock=clock)
