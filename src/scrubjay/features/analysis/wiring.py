"""Assemble the analyzer of numeric series."""

from scrubjay.features.analysis.service import SeriesAnalyzer
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()


@WIRING.provides
async def series_analyzer(services: Services) -> SeriesAnalyzer:
    return SeriesAnalyzer()
