"""Secrets in lists of processes are masked, wherever in a line the program is named."""

import time

import pytest

from scrubjay.core.command_secrets import masked_process
from scrubjay.features.workspace.terminal.process_list import masked_lines

LINES = [
    "root         12  0.0  0.1   4444  1111 ?        S    10:00   0:00 mysql -u root -p«blue42horse»",
    "root 123 1 0 10:00 ? 00:00:00 /usr/bin/curl -u admin:«blue42horse» https://example.com",
    "123 sshpass -p «blue42horse» ssh ada@host",
    "123 /usr/bin/python3 /usr/bin/http -a ada:«tulip» example.com",
    "  99 redis-cli -a «tulip» ping",
    "99 java -Dspring.datasource.password=«tulip» -jar app.jar",
    "1 sh -c sshpass -p «tulip» ssh x",
    "1 sh -c echo 'it; curl -u a:«tulip»",
    "7 sudo mysqldump --password=«tulip» app",
    "12 redis-cli -a «tulip» ping:13 bash",
    "12 bash,13 curl -u a:«tulip»",
    "1 env DB_PASS=«tulip» foo --db-password «tulip»",
    "55 openssl enc -k «tulip» -in a",
    "1 docker login -u ada -p «tulip» registry.example.com",
]
HARMLESS = [
    "root 5 1 0 10:00 ? 00:00:00 /usr/sbin/mysqld --port=3306 -p3306",
    "    PID TTY          TIME CMD",
    "root 1 0.0 0.1 168 11 ? Ss Nov18 0:05 /sbin/init splash",
    "ada 77 1 ssh -p 2222 host",
    "ada 78 1 /usr/bin/python3 -m pytest -p no:cacheprovider -x tests",
    "ada 79 1 docker run -p 8080:80 -u 1000:1000 nginx",
    "",
]


@pytest.mark.parametrize("line", LINES)
def test_29_a_secret_in_a_line_of_a_process_list_is_masked(line: str) -> None:
    shown = masked_lines(line.replace("«", "").replace("»", ""))
    before, *parts = line.split("«")
    expected = before + "".join("[secret: password]" + part.partition("»")[2] for part in parts)
    assert shown == expected


@pytest.mark.parametrize("line", HARMLESS)
def test_29_a_line_without_secrets_stays(line: str) -> None:
    assert masked_lines(line) == line


def test_29_arguments_of_a_process_are_masked_also_behind_an_interpreter() -> None:
    assert masked_process(["/usr/bin/python3", "/usr/bin/http", "-a", "ada:blue horse", "example.com"]) == [
        *("/usr/bin/python3", "/usr/bin/http", "-a", "ada:[secret: password]", "example.com")
    ]


def test_29_a_line_that_names_many_programs_does_not_take_long() -> None:
    before = time.process_time()
    masked_lines("curl -u a:b " * 5_000)
    assert time.process_time() - before < 5  # quadratic time would take minutes
