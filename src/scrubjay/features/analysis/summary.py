"""What an analysis found, in words."""

from collections.abc import Iterator, Mapping

from scrubjay.features.analysis.service import Analysis, PredictivePart, StatisticalPart

# Fewer points than this find only what is very plain.
FEW_POINTS = 10
MOST_TOLD = 20
_CHANGES = {
    "MeanShift": "the level changes",
    "VarianceChange": "the spread changes",
    "TrendChange": "the slope changes",
    "Unknown": "something changes",
}


def summarised(analysis: Analysis, points: Mapping[str, int]) -> tuple[list[str], list[str]]:
    """The findings that are significant, and what to do with them."""
    findings: list[str] = []
    if analysis.statistical is not None:
        findings += _of_statistics(analysis.statistical)
    if analysis.predictive is not None:
        findings += _of_predictions(analysis.predictive)
    return findings[:MOST_TOLD], list(_advice(analysis, points, findings))[:MOST_TOLD]


def _of_statistics(part: StatisticalPart) -> Iterator[str]:
    for trend in part.trends:
        if trend.significant and trend.direction == "Oscillating" and trend.period is not None:
            yield f"{trend.variable}: oscillates, about every {trend.period:.3g} points"
        elif trend.significant:
            yield f"{trend.variable}: {trend.direction.lower()}, by {abs(trend.slope):.3g} a point"
    for one in part.correlations:
        if one.significant and one.coefficient is not None:
            first, second = one.variables
            how = "together" if one.coefficient > 0 else "opposite ways"
            yield f"{first} and {second} go {how} (r = {one.coefficient:.2f})"
    for change in part.changepoints:
        yield f"{change.variable}: {_CHANGES[change.change_type]} at point {change.index}"


def _of_predictions(part: PredictivePart) -> Iterator[str]:
    for one in part.anomalies:
        if one.indices:
            places = ", ".join(map(str, one.indices[:5])) + (", ..." if len(one.indices) > 5 else "")
            yield f"{one.variable}: {len(one.indices)} point(s) far from all others: {places}"
    for relation in part.causations or ():
        if relation.relationship_type == "Direct":
            yield f"{relation.cause} tells of {relation.effect} {relation.lag} point(s) ahead"


def _advice(analysis: Analysis, points: Mapping[str, int], findings: list[str]) -> Iterator[str]:
    short = [name for name, count in points.items() if count < FEW_POINTS]
    if short:
        named = ", ".join(short[:5])
        yield f"collect more points of {named}: with fewer than {FEW_POINTS}, most of what there is goes unseen"
    if analysis.statistical is not None and (changed := {one.variable for one in analysis.statistical.changepoints}):
        named = ", ".join(sorted(changed)[:5])
        yield f"look at what happened at the changes of {named}, and analyse each side by itself"
    if analysis.predictive is not None:
        far = [one.variable for one in analysis.predictive.anomalies if one.indices]
        if far:
            yield f"check the points of {', '.join(far[:5])} that are far from all others before trusting averages"
        weak = [
            one.variable
            for one in analysis.predictive.forecasts
            if one.fit_quality is not None and one.fit_quality < 0.1
        ]
        if weak:
            yield f"do not lean on the forecast of {', '.join(weak[:5])}: it is hardly better than saying what was last"
        if any(one.relationship_type == "Direct" for one in analysis.predictive.causations or ()):
            yield "to lead in time is not to cause: change the one on purpose and see whether the other follows"
    if not findings and not short:
        yield "nothing is significant: what is seen here may all be chance"
