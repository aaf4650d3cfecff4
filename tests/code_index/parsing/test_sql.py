"""Facts of SQL files."""

from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts
from tests.code_index.parsing.facts_as_text import as_text

TABLES_VIEWS_AND_FUNCTIONS = """
-- Users.
CREATE TABLE IF NOT EXISTS app.users (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  team_id INT REFERENCES teams(id)
);
CREATE VIEW active AS SELECT * FROM users u JOIN teams t ON t.id = u.team_id WHERE u.active;
CREATE INDEX ix ON users (name);
CREATE OR REPLACE FUNCTION add(a INT, b INT) RETURNS INT AS $$ BEGIN RETURN a + b; END; $$ LANGUAGE plpgsql;
CREATE PROCEDURE p() LANGUAGE SQL AS $$ SELECT 1 $$;
CREATE TRIGGER tr AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION add();
CREATE TYPE mood AS ENUM ('sad', 'ok');
INSERT INTO users VALUES (1, lower('x'));
ALTER TABLE users ADD COLUMN x INT;
CREATE MATERIALIZED VIEW mv AS SELECT 1;
WITH q AS (SELECT * FROM users) SELECT * FROM q;
CREATE SCHEMA s;
CREATE SEQUENCE sq;
""".removeprefix("\n")

TABLES_VIEWS_AND_FUNCTIONS_FACTS = """
sql 18
0 struct users 1-6@2 0:133 in -1
    CREATE TABLE IF NOT EXISTS app.users
    says Users.
1 field id 3-3@3 51:73 in 0
    id INTEGER PRIMARY KEY
2 field name 4-4@4 77:95 in 0
    name TEXT NOT NULL
3 field team_id 5-5@5 99:131 in 0
    team_id INT REFERENCES teams(id)
4 struct active 7-7@7 135:226 in -1
    CREATE VIEW active AS
5 function add 9-9@9 261:368 in -1
    CREATE OR REPLACE FUNCTION add(a INT, b INT) RETURNS INT
6 function p 10-10@10 370:422 in -1
    CREATE PROCEDURE p() LANGUAGE SQL AS $$ SELECT 1 $$
7 function tr 11-11@11 423:498 in -1
    CREATE TRIGGER tr AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION add()
8 type mood 12-12@12 500:538 in -1
    CREATE TYPE mood AS ENUM
9 field x 14-14@14 611:616 in -1
    x INT
10 struct mv 15-15@15 618:657 in -1
    CREATE MATERIALIZED VIEW mv AS
11 module s 17-17@17 708:723 in -1
    CREATE SCHEMA s
12 variable sq 18-18@18 725:743 in -1
    CREATE SEQUENCE sq
read teams @5:122 in 0
read users @7:171 in 4
read teams @7:184 in 4
read users @8:247 in -1
read users @11:457 in 7
read add @11:493 in 7
read users @13:552 in -1
call lower @13:569 in -1
read users @14:594 in -1
read users @16:684 in -1
read q @16:705 in -1
problem 10 this cannot be read
""".strip("\n")


def test_tables_views_and_functions():
    assert as_text(read_facts(TABLES_VIEWS_AND_FUNCTIONS.encode(), Language.SQL)) == TABLES_VIEWS_AND_FUNCTIONS_FACTS
