"""A reader of TAU's text profiles, written from the format's description, that takes nothing on trust."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass

TIMER = re.compile(r'"([^"]*)" (\S+) (\S+) (\S+) (\S+) (\S+) GROUP="([^"]*)"')
EVENT = re.compile(r'"([^"]*)" (\S+) (\S+) (\S+) (\S+) (\S+)')


@dataclass(frozen=True)
class Timer:
    calls: float
    subroutines: float
    exclusive: float
    inclusive: float
    group: str


@dataclass(frozen=True)
class Profile:
    metric: str
    metadata: dict[str, str]
    timers: dict[str, Timer]
    root: str
    events: dict[str, tuple[float, ...]]


def read_profile(text: str) -> Profile:
    """The profile; any departure from the format fails."""
    lines = text.split("\n")
    assert lines.pop() == ""
    head = re.fullmatch(r"(\d+) templated_functions_MULTI_(\w+)", lines.pop(0))
    assert head
    columns, sign, xml = lines.pop(0).partition("<metadata>")
    assert columns == "# Name Calls Subrs Excl Incl ProfileCalls # "
    metadata = [
        (a.findtext("name") or "", a.findtext("value") or "")
        for a in ET.fromstring(sign + xml).findall("attribute")
    ]
    assert metadata[0] == ("Metric Name", head[2])
    assert len(dict(metadata)) == len(metadata)
    timers: dict[str, Timer] = {}
    root = ""
    for _ in range(int(head[1])):
        match = TIMER.fullmatch(lines.pop(0))
        assert match
        assert match[1] not in timers
        root = root or match[1]
        if match[1] == root:
            assert all(re.fullmatch(r"\d+", match[k]) for k in range(2, 6))
        timers[match[1]] = Timer(*(float(match[k]) for k in range(2, 6)), match[7])
    assert lines.pop(0) == "0 aggregates"
    count = re.fullmatch(r"(\d+) userevents", lines.pop(0))
    assert count
    assert lines.pop(0) == "# eventname numevents max min mean sumsqr"
    events: dict[str, tuple[float, ...]] = {}
    for line in lines:
        match = EVENT.fullmatch(line)
        assert match
        events[match[1]] = tuple(float(match[k]) for k in range(2, 7))
    assert len(events) == int(count[1])
    return Profile(head[2], dict(metadata), timers, root, events)
