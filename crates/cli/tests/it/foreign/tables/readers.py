"""Reads the calls of a load with pandas, DuckDB and Polars, and prints what each finds, as JSON.

usage: readers.py CALLS.parquet TRIALS.csv
"""

import json
import sys

import duckdb
import pandas
import polars

CALLS, TRIALS = sys.argv[1:]
TIMES = ["due_ns", "written_ns", "done_ns", "response_ns"]


def with_pandas() -> dict:
    calls = pandas.read_parquet(CALLS)
    return {
        "types": [str(calls[name].dtype) for name in TIMES if name != "written_ns"],
        "calls": len(calls),
        "failed": int((calls.outcome != "ok").sum()),
        "unsent": int(calls.written_ns.isna().sum()),
        "codes": sorted(int(code) for code in calls.status.dropna().unique()),
        "ok_response_ns": int(calls[calls.outcome == "ok"].response_ns.sum()),
        "run": pandas.read_csv(TRIALS).run_id[0],
    }


def with_duckdb() -> dict:
    base = duckdb.connect()
    base.execute(f"CREATE VIEW calls AS SELECT * FROM '{CALLS}'")
    one = lambda query: base.execute(query).fetchone()[0]
    types = dict(base.execute("SELECT column_name, column_type FROM (DESCRIBE calls)").fetchall())
    codes = base.execute("SELECT DISTINCT status FROM calls WHERE status IS NOT NULL ORDER BY status").fetchall()
    return {
        "types": [types[name].replace("BIGINT", "int64") for name in TIMES if name != "written_ns"],
        "calls": one("SELECT count(*) FROM calls"),
        "failed": one("SELECT count(*) FROM calls WHERE outcome <> 'ok'"),
        "unsent": one("SELECT count(*) FROM calls WHERE written_ns IS NULL"),
        "codes": [code for (code,) in codes],
        "ok_response_ns": int(one("SELECT sum(response_ns) FROM calls WHERE outcome = 'ok'")),
        "run": str(one(f"SELECT run_id FROM '{TRIALS}'")),
    }


def with_polars() -> dict:
    calls = polars.read_parquet(CALLS)
    return {
        "types": [str(calls[name].dtype).lower() for name in TIMES if name != "written_ns"],
        "calls": calls.height,
        "failed": calls.filter(polars.col("outcome") != "ok").height,
        "unsent": calls["written_ns"].null_count(),
        "codes": calls["status"].drop_nulls().unique().sort().to_list(),
        "ok_response_ns": calls.filter(polars.col("outcome") == "ok")["response_ns"].sum(),
        "run": polars.read_csv(TRIALS)["run_id"][0],
    }


print(json.dumps({"pandas": with_pandas(), "DuckDB": with_duckdb(), "Polars": with_polars()}))
