#!/usr/bin/env python3
"""Do one workload with another engine, in the current folder: peers.py duckdb|polars|pyx12 WORKLOAD

Each writes the same rows as the pipeline of that name, so that whole-process times compare like with like.
"""
import sys

COLUMNS = {
    "order_id": "BIGINT",
    "customer_id": "BIGINT",
    "sku": "VARCHAR",
    "region": "VARCHAR",
    "qty": "BIGINT",
    "price": "DOUBLE",
    "ordered_at": "DATE",
    "note": "VARCHAR",
}
WORKLOADS = ["passthrough", "transform", "reject", "to_ndjson", "from_ndjson", "sort", "x12"]


def duckdb(workload):
    import duckdb as db

    connection = db.connect()
    connection.execute("SET threads=2; SET preserve_insertion_order=true")
    columns = "{" + ",".join(f"'{name}':'{kind}'" for name, kind in COLUMNS.items()) + "}"
    orders = f"read_csv('orders.csv', header=true, columns={columns})"
    documents = f"read_json('orders.ndjson', format='newline_delimited', columns={columns})"
    bad = f"read_csv('orders_bad.csv', header=true, columns={columns}, store_rejects=true)"
    priced = (
        "select order_id, sku, upper(region) region, qty*price total, ordered_at, "
        "case when qty*price > 10000 then 'large' else 'small' end size, note from {} where qty >= 5"
    )
    to = "(format csv, header)"
    statements = {
        "passthrough": [f"copy (select * from {orders}) to 'duckdb.out' {to}"],
        "transform": [f"copy ({priced.format(orders)}) to 'duckdb.out' {to}"],
        "reject": [
            f"copy ({priced.format(bad)}) to 'duckdb.out' {to}",
            f"copy (select * from reject_errors) to 'duckdb.dlq.csv' {to}",
        ],
        "to_ndjson": [f"copy (select * from {orders}) to 'duckdb.out' (format json)"],
        "from_ndjson": [f"copy (select * from {documents}) to 'duckdb.out' {to}"],
        "sort": [f"copy (select * from {orders} order by region, price desc, order_id) to 'duckdb.out' {to}"],
    }
    for statement in statements[workload]:
        connection.execute(statement)


def polars(workload):
    import polars as pl

    kinds = {"BIGINT": pl.Int64, "VARCHAR": pl.String, "DOUBLE": pl.Float64, "DATE": pl.Date}
    schema = {name: kinds[kind] for name, kind in COLUMNS.items()}
    total = pl.col("qty") * pl.col("price")
    size = pl.when(total > 10000).then(pl.lit("large")).otherwise(pl.lit("small"))

    def orders(path, **options):
        return pl.scan_csv(path, schema=schema, try_parse_dates=False, **options)

    def priced(frame):
        return frame.filter(pl.col("qty") >= 5).select(
            "order_id",
            "sku",
            pl.col("region").str.to_uppercase(),
            total.alias("total"),
            "ordered_at",
            size.alias("size"),
            "note",
        )

    frames = {
        "passthrough": lambda: orders("orders.csv"),
        "transform": lambda: priced(orders("orders.csv")),
        # It has no rejects: a bad quantity becomes null and is dropped by the filter.
        "reject": lambda: priced(orders("orders_bad.csv", ignore_errors=True)),
        "from_ndjson": lambda: pl.scan_ndjson("orders.ndjson", schema=schema),
        "sort": lambda: orders("orders.csv").sort("region", "price", "order_id", descending=[False, True, False]),
    }
    if workload == "to_ndjson":
        orders("orders.csv").sink_ndjson("polars.out")
    else:
        frames[workload]().sink_csv("polars.out")


def pyx12(workload):
    import csv

    from pyx12.x12file import X12Reader

    with open("pyx12.out", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["seg_id", *(f"e{number:02d}" for number in range(1, 33))])
        for segment in X12Reader("orders.x12"):
            if segment.get_seg_id() not in ("ISA", "GS", "SE", "GE", "IEA"):
                out.writerow([segment.get_seg_id(), *(str(element) for element in segment.elements)])


if __name__ == "__main__":
    engines = {"duckdb": duckdb, "polars": polars, "pyx12": pyx12}
    if len(sys.argv) != 3 or sys.argv[1] not in engines or sys.argv[2] not in WORKLOADS:
        sys.exit(__doc__)
    engines[sys.argv[1]](sys.argv[2])
