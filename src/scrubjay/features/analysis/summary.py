"""Findings and recommendations of an analysis, as sentences."""

from collections.abc import Iterator, Mapping

from scrubjay.features.analysis.service import PredictivePart, SeriesAnalysis, StatisticalPart

# With fewer points, only very strong effects are significant.
FEW_POINTS = 10
MAX_LINES = 20
_CHANGES = {
    "MeanShift": "the level changes",
    "VarianceChange": "the spread changes",
    "TrendChange": "the slope changes",
    "Unknown": "the series changes",
}


def summarize(analysis: SeriesAnalysis, points: Mapping[str, int]) -> tuple[list[str], list[str]]:
    """Return the significant findings and the recommendations, at most `MAX_LINES` of each."""
    findings: list[str] = []
    if analysis.statistical is not None:
        findings += _statistical_findings(analysis.statistical)
    if analysis.predictive is not None:
        findings += _predictive_findings(analysis.predictive)
    return findings[:MAX_LINES], list(_advice(analysis, points, findings))[:MAX_LINES]


def _statistical_findings(part: StatisticalPart) -> Iterator[str]:
    for trend in part.trends:
        if trend.significant and trend.direction == "Oscillating" and trend.period is not None:
            yield f"{trend.variable}: oscillates, about every {trend.period:.3g} points"
        elif trend.significant:
            swings = f", with a season of {trend.period:.3g} points" if trend.period is not None else ""
            yield f"{trend.variable}: {trend.direction.lower()}, by {abs(trend.slope):.3g} per point{swings}"
    for one in part.correlations:
        if one.significant and one.coefficient is not None:
            first, second = one.variables
            sign = "positively" if one.coefficient > 0 else "negatively"
            yield f"{first} and {second} are {sign} correlated (r = {one.coefficient:.2f})"
    for change in part.changepoints:
        yield f"{change.variable}: {_CHANGES[change.change_type]} at point {change.index}"


def _predictive_findings(part: PredictivePart) -> Iterator[str]:
    for one in part.anomalies:
        if one.indices:
            points = ", ".join(map(str, one.indices[:5])) + (", ..." if len(one.indices) > 5 else "")
            yield f"{one.variable}: {len(one.indices)} outlier(s), at point(s) {points}"
    for relation in part.causations or ():
        if relation.relationship_type == "Direct":
            yield f"{relation.cause} predicts {relation.effect} {relation.lag} point(s) ahead"


def _advice(analysis: SeriesAnalysis, points: Mapping[str, int], findings: list[str]) -> Iterator[str]:
    short = [name for name, count in points.items() if count < FEW_POINTS]
    if short:
        names = ", ".join(short[:5])
        yield f"collect more points of {names}: with fewer than {FEW_POINTS}, most effects go undetected"
    if analysis.statistical is not None and (changed := {one.variable for one in analysis.statistical.changepoints}):
        names = ", ".join(sorted(changed)[:5])
        yield f"find out what happened at the changes of {names}, and analyse the segments separately"
    if analysis.predictive is not None:
        far = [one.variable for one in analysis.predictive.anomalies if one.indices]
        if far:
            yield f"check the outliers of {', '.join(far[:5])} before trusting averages"
        weak = [
            one.variable
            for one in analysis.predictive.forecasts
            if one.fit_quality is not None and one.fit_quality < 0.1
        ]
        if weak:
            yield f"do not rely on the forecast of {', '.join(weak[:5])}: it hardly beats repeating the last value"
        if any(one.relationship_type == "Direct" for one in analysis.predictive.causations or ()):
            yield "precedence in time does not prove causation: change one series on purpose and observe the other"
    if not findings and not short:
        yield "nothing is significant: all differences may be due to chance"
