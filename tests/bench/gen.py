#!/usr/bin/env python3
"""Write the benchmark inputs: gen.py DIR ROWS

orders.csv      ROWS lines: order_id int, customer_id int, sku string, region string, qty int, price with two digits,
                ordered_at date, note text (every 50th is quoted and holds a comma and a doubled quote)
orders_bad.csv  the same with 2% of the qty cells not a number
orders.ndjson   the rows of orders.csv, one JSON object a line
orders.x12      an interchange of purchase orders, ROWS * 3 / 100 sets of twenty segments

The same ROWS give the same bytes. A file appears under its name only when it is complete.
"""
import json
import os
import random
import sys
from contextlib import ExitStack

FILES = ["orders.csv", "orders_bad.csv", "orders.ndjson", "orders.x12"]
REGIONS = ["north", "south", "east", "west", "emea", "apac", "latam"]
WORDS = "fast quiet amber stone river copper light north early broken paper signal harbor maple orbit".split()
COLUMNS = "order_id customer_id sku region qty price ordered_at note".split()
HEADER = ",".join(COLUMNS) + "\n"
MOST_ROWS = 50_000_000


def note(rng, row):
    """The text of a note and its cell, quoted where it has to be."""
    text = " ".join(WORDS[rng.randrange(15)] for _ in range(rng.randrange(2, 8)))
    if row % 50:
        return text, text
    text = f'{text}, "{WORDS[row % 15]}" size'
    return text, '"' + text.replace('"', '""') + '"'


def purchase_orders(out, sets):
    """Write an X12 interchange with that many sets of type 850."""
    rng = random.Random(11)
    party = "{:15}".format
    header = ["ISA", "00", " " * 10, "00", " " * 10, "ZZ", party("HARBOR"), "ZZ", party("QUAY")]
    out.write("*".join(header + ["270304", "0915", "^", "00501", "000000007", "0", "T", ">"]) + "~\n")
    out.write("GS*PO*HARBOR*QUAY*20270304*0915*7*X*005010~\n")
    for number in range(1, sets + 1):
        body = [f"BEG*00*SA*{number}**20270304", "REF*DP*07", "N1*ST*EAST STORE*92*4711", "N3*3 PIER LANE", "N4*BRISTOL*ME*04539"]
        for line in range(1, 13):
            price = rng.randrange(100, 9999) / 100
            body.append(f"PO1*{line}*{rng.randrange(1, 90)}*EA*{price:.2f}**VP*SKU{rng.randrange(99999):05d}")
        body.append("CTT*12")
        segments = [f"ST*850*{number:09d}", *body, f"SE*{len(body) + 2}*{number:09d}"]
        out.write("~\n".join(segments) + "~\n")
    out.write(f"GE*{sets}*7~\nIEA*1*000000007~\n")


def write(folder, rows):
    """Write all files into `folder`."""
    os.makedirs(folder, exist_ok=True)
    rng = random.Random(7)
    customers = int(max(1, rows // 20) * 1.1) + 1
    ids = list(range(1, rows + 1))
    rng.shuffle(ids)
    names = [os.path.join(folder, name) for name in FILES]
    with ExitStack() as stack:
        good, bad, lines, interchange = (stack.enter_context(open(name + ".part", "w", newline="")) for name in names)
        good.write(HEADER)
        bad.write(HEADER)
        for row, order in enumerate(ids):
            customer = rng.randrange(1, customers)
            sku = f"SKU-{rng.randrange(50000):05d}"
            region = REGIONS[rng.randrange(7)]
            qty = rng.randrange(1, 40)
            price = f"{rng.randrange(100, 99999) / 100:.2f}"
            day = f"20{rng.randrange(20, 26)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"
            text, cell = note(rng, row)
            good.write(f"{order},{customer},{sku},{region},{qty},{price},{day},{cell}\n")
            bad_qty = f"x{qty}" if rng.random() < 0.02 else qty
            bad.write(f"{order},{customer},{sku},{region},{bad_qty},{price},{day},{cell}\n")
            values = (order, customer, sku, region, qty, float(price), day, text)
            lines.write(json.dumps(dict(zip(COLUMNS, values))) + "\n")
        purchase_orders(interchange, max(1, rows * 3 // 100))
    for name in names:
        os.replace(name + ".part", name)


if __name__ == "__main__":
    if len(sys.argv) != 3 or not sys.argv[2].isdigit() or not 0 < int(sys.argv[2]) <= MOST_ROWS:
        sys.exit(__doc__)
    write(sys.argv[1], int(sys.argv[2]))
