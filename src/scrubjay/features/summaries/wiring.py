"""Assemble the status of automatic summaries. The summariser is assembled in `app/cross_feature_wiring.py`."""

from scrubjay.features.summaries.service import Summariser
from scrubjay.features.summaries.settings import SummarySettings
from scrubjay.features.summaries.startup import StartupSummaries
from scrubjay.models.settings import LlmSettings
from scrubjay.tooling.jobs.service import JobService
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()


@WIRING.provides
async def startup_summaries(services: Services) -> StartupSummaries:
    reason = services.ready(SummarySettings).disabled_reason(services.ready(LlmSettings))
    return StartupSummaries(await services.get(JobService), await services.get(Summariser), disabled_reason=reason)
