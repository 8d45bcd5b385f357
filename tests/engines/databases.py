"""Tables that Ibis reads in databases: a PostgreSQL server of the tests' own, and ClickHouse inside the process."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engines.base import columns_of, kind_of
from engines.ibis import Ibis

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engines.base import Data

HIDDEN = map(str, Path("/usr/lib/postgresql").glob("*/bin"))
"""Where Debian has the commands."""
SERVER = shutil.which("pg_ctl", path=os.pathsep.join([*HIDDEN, os.environ["PATH"]]))
"""The command that starts a PostgreSQL server, where one is installed."""


class Database(Ibis):
    """Tables of a database."""

    def table(self, data: Data, kinds: Mapping[str, str] | None = None) -> Any:
        # Tables have no columns without a type.
        untyped = {name: "float64" for name, values in columns_of(data).items() if kind_of(values) == "null"}
        return super().table(data, untyped | (kinds or {}))


class PostgreSQL(Database):
    """Tables of a PostgreSQL server."""

    name = "ibis postgresql"

    @cached_property
    def connection(self) -> Any:
        """The connection to a server that starts here: it has no port, but a socket that only this process knows."""
        import ibis

        # PostgreSQL refuses root.
        other: dict[str, Any] = {"user": "postgres", "group": "postgres", "extra_groups": ()}
        user = other if os.geteuid() == 0 else {}
        directory = tempfile.mkdtemp()
        if user:
            shutil.chown(directory, "postgres", "postgres")

        def run(*given: str) -> None:
            command = [str(SERVER), *given, "-D", f"{directory}/data"]
            subprocess.run(command, check=True, capture_output=True, cwd=directory, **user)

        def stop() -> None:
            run("stop", "-m", "immediate")
            shutil.rmtree(directory)

        run("initdb", "-o", "--username=postgres --no-sync --encoding=UTF8 --locale=C")
        run("start", "-w", "-l", f"{directory}/log", "-o", f"-k {directory} -c listen_addresses= -c fsync=off")
        atexit.register(stop)
        return ibis.postgres.connect(host=directory, user="postgres", database="postgres")

    def frame(self, data: Data, kinds: Mapping[str, str] | None = None) -> Any:
        import ibis

        return self.connection.create_table(ibis.util.gen_name("rows"), self.table(data, kinds), temp=True)


class ClickHouse(Database):
    """Tables of ClickHouse, to which Ibis has no connection inside a process: it writes the SQL that runs there."""

    name = "ibis clickhouse"

    @cached_property
    def session(self) -> Any:
        from chdb.session import Session

        return Session()

    def frame(self, data: Data, kinds: Mapping[str, str] | None = None) -> Any:
        import ibis
        import pyarrow as pa
        from ibis.backends.sql.datatypes import ClickHouseType

        rows = self.table(data, kinds)
        # As tables there are: a column that is never without a value has a type without NULL.
        fields = [field.with_nullable(bool(rows[field.name].null_count)) for field in rows.schema]
        table = ibis.table(ibis.Schema.from_pyarrow(pa.schema(fields)), name=ibis.util.gen_name("rows"))
        columns = ", ".join(f"`{name}` {ClickHouseType.to_string(kind)}" for name, kind in table.schema().items())
        self.session.query(f"CREATE TABLE `{table.get_name()}` ({columns}) ENGINE = Memory")
        self.session.query(f"INSERT INTO `{table.get_name()}` SELECT * FROM Python(rows)")  # noqa: S608
        return table

    def fetched(self, result: Any) -> Any:
        import ibis
        from ibis.expr import operations as ops

        for table in result.op().find(ops.InMemoryTable):  # a connection sends them with the query
            rows = table.data.to_pyarrow(table.schema)  # noqa: F841 - ClickHouse finds it by its name
            self.session.query(f"CREATE TABLE `{table.name}` ENGINE = Memory AS SELECT * FROM Python(rows)")  # noqa: S608
        return self.session.query(str(ibis.to_sql(result, dialect="clickhouse")), "ArrowTable")
